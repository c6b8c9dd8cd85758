package live

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/resource"
)

// TestSetsOfAManifest: where a list of a manifest is a set, its order in the cluster is
// nobody's change; what is in it is.
func TestSetsOfAManifest(t *testing.T) {
	peer := resource.ID{Kind: resource.KubernetesKind("VPNPeer"), Namespace: "acme", Name: "plant1"}
	const wanted = marker + `apiVersion: vpn.bnerd.net/v1alpha1
kind: VPNPeer
metadata:
  name: plant1
spec:
  authorization:
    exposures:
    - erp
    - web
  ipsec:
    esp:
      proposals:
      - b
      - a
    remoteSubnets:
    - "10.1.0.0/16"
    - "10.2.0.0/16"
`
	for sentence, tt := range map[string]struct {
		spec string
		want []string
	}{
		"as it was written":     {`{"authorization":{"exposures":["erp","web"]},"ipsec":{"esp":{"proposals":["b","a"]},"remoteSubnets":["10.1.0.0/16","10.2.0.0/16"]}}`, nil},
		"sets in another order": {`{"authorization":{"exposures":["web","erp"]},"ipsec":{"esp":{"proposals":["b","a"]},"remoteSubnets":["10.2.0.0/16","10.1.0.0/16"]}}`, nil},
		"proposals in another order": {`{"authorization":{"exposures":["web","erp"]},"ipsec":{"esp":{"proposals":["a","b"]},"remoteSubnets":["10.2.0.0/16","10.1.0.0/16"]}}`,
			[]string{"-      - b", "+      - b"}},
		"a set with one more": {`{"authorization":{"exposures":["web","erp","mail"]},"ipsec":{"esp":{"proposals":["b","a"]},"remoteSubnets":["10.1.0.0/16","10.2.0.0/16"]}}`,
			[]string{"+    - mail"}},
	} {
		seen, desired := resource.Graph{}, resource.Graph{}
		live := parsed(t, `{"metadata":{"name":"plant1"},"spec":`+tt.spec+`}`)
		before := parsed(t, `{"metadata":{"name":"plant1"},"spec":`+tt.spec+`}`)
		seen.Add(resource.Resource{ID: peer, Object: &resource.Object{APIVersion: "vpn.bnerd.net/v1alpha1", Kind: "VPNPeer", Live: &resource.Live{JSON: text(t, live)}}})
		desired.Add(resource.Resource{ID: peer, Object: &resource.Object{APIVersion: "vpn.bnerd.net/v1alpha1", Kind: "VPNPeer", Content: wanted}})
		if diff := cmp.Diff(tt.want, lines(wanted, Align(desired, seen)[peer].Object.Content)); diff != "" {
			t.Errorf("%s: lines (-want +got)\n%s", sentence, diff)
		}
		if diff := cmp.Diff(before, live); diff != "" {
			t.Errorf("%s: what was seen became another (-before +after)\n%s", sentence, diff)
		}
	}
}
