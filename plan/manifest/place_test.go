package manifest

import (
	"strings"
	"testing"

	estatev1alpha1 "github.com/vpnctl/vpnctl/crds/estate/v1alpha1"
	ipsecv1alpha1 "github.com/vpnctl/vpnctl/crds/ipsec/v1alpha1"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/manifest/decode"
)

// What is shown for a field that is missing is all that is missing: an object with
// nothing but its sample of spec has every required field.
func TestSamplesAreWhole(t *testing.T) {
	for kind, target := range map[string]any{
		vpnv1alpha1.KindVPNGateway:     new(vpnv1alpha1.VPNGateway),
		vpnv1alpha1.KindVPNPeer:        new(vpnv1alpha1.VPNPeer),
		ipsecv1alpha1.KindIPsecGateway: new(ipsecv1alpha1.IPsecGateway),
		ipsecv1alpha1.KindClusterLink:  new(ipsecv1alpha1.ClusterLink),
		estatev1alpha1.KindEstate:      new(estatev1alpha1.Estate),
	} {
		c := check{object: &object{kind: kind, name: "dc1"}}
		text, ok := strings.CutPrefix(c.sample("spec"), "such as ")
		if !ok {
			t.Errorf("%s: no sample of spec", kind)
			continue
		}
		docs, problems := decode.Documents([]byte(text))
		if len(problems) > 0 {
			t.Errorf("%s: %s: %v", kind, text, problems)
			continue
		}
		for _, p := range new(decode.Decoder).Into(docs[0].Root, target) {
			t.Errorf("%s: %s: %s: %s", kind, text, p.Field, p.Message)
		}
	}
}

func TestEveryRequiredBlockHasASample(t *testing.T) {
	for kind, list := range places() {
		c := check{object: &object{kind: kind, name: "dc1"}}
		for _, p := range list {
			if p.Required && c.sampleValue(p.Path) == "" && p.Path != "spec.gatewayPod.resources.claims.name" {
				t.Errorf("%s: %s has none", kind, p.Path)
			}
		}
	}
}
