package manifest

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

const (
	uidA = "7d1c3c52-9a5e-4c1f-8a57-2b1f5b1c0001"
	uidB = "7d1c3c52-9a5e-4c1f-8a57-2b1f5b1c0002"
)

func TestExported(t *testing.T) {
	gateway := func(name, meta, rest string) string {
		return "apiVersion: vpn.bnerd.net/v1alpha1\nkind: VPNGateway\nmetadata: {name: " + name + ", namespace: acme" + meta + "}\n" + rest
	}
	dc := alloc.Operated{Owner: vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: "acme", Name: "dc1"}, UID: uidA}
	withRange := dc
	withRange.ServiceCIDR = netip.MustParsePrefix("100.64.7.0/24")
	tests := map[string]struct {
		text string
		want []alloc.Operated
		said []string
	}{
		"one document":                     {text: gateway("dc1", ", uid: "+uidA, "status: {serviceCIDR: 100.64.7.0/24}\n"), want: []alloc.Operated{withRange}},
		"without a status":                 {text: gateway("dc1", ", uid: "+uidA, ""), want: []alloc.Operated{dc}},
		"a spec that is no one's business": {text: gateway("dc1", ", uid: "+uidA, "spec: {protocol: carrier-pigeon, wings: 2}\n"), want: []alloc.Operated{dc}},
		"a List of both kinds, and others": {
			text: `{apiVersion: v1, kind: List, items: [
{apiVersion: ipsec.bnerd.net/v1alpha1, kind: IPsecGateway, metadata: {name: old, namespace: zeta, uid: ` + uidB + `}},
{apiVersion: vpn.bnerd.net/v1alpha1, kind: VPNPeer, metadata: {name: p, namespace: acme, uid: ` + uidA + `}},
{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: acme}},
{apiVersion: vpn.bnerd.net/v1alpha1, kind: VPNGateway, metadata: {name: dc1, namespace: acme, uid: ` + uidA + `}}]}`,
			want: []alloc.Operated{{Owner: vpn.Owner{Kind: vpn.KindIPsecGateway, Namespace: "zeta", Name: "old"}, UID: uidB}, dc},
		},
		"a manifest of Git":     {text: gateway("dc1", "", ""), said: []string{"export.yaml:3:", "metadata.uid: required, but missing", "kubectl get -o yaml"}},
		"a UID with a comma":    {text: gateway("dc1", `, uid: "a,b"`, ""), said: []string{`metadata.uid: "a,b" is no UID`}},
		"one gateway twice":     {text: gateway("dc1", ", uid: "+uidA, "") + "---\n" + gateway("dc1", ", uid: "+uidB, ""), said: []string{"VPNGateway/acme/dc1 stands there twice", "export.yaml:5:"}},
		"one UID twice":         {text: gateway("dc1", ", uid: "+uidA, "") + "---\n" + gateway("dc2", ", uid: "+uidA, ""), said: []string{"two gateways have the UID " + uidA}},
		"a status of nonsense":  {text: gateway("dc1", ", uid: "+uidA, "status:\n  serviceCIDR: nowhere\n"), said: []string{"export.yaml:5:3: status.serviceCIDR: \"nowhere\" is no IPv4 /24"}},
		"a status of no fields": {text: gateway("dc1", ", uid: "+uidA, "status: [1]\n"), said: []string{"status: can't be read"}},
		"no gateway":            {text: "apiVersion: v1\nkind: List\nitems: []\n", said: []string{"holds no gateway", "kubectl get ipsecgateways,vpngateways -A -o yaml"}},
		"no YAML":               {text: "a: [", said: []string{"export.yaml:1:"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, found := Exported("export.yaml", []byte(test.text))
			var b strings.Builder
			if err := found.WriteText(&b); err != nil {
				t.Fatal(err)
			}
			for _, want := range test.said {
				if !strings.Contains(b.String(), want) {
					t.Errorf("%q isn't said:\n%s", want, &b)
				}
			}
			if (found.Errors() > 0) != (len(test.said) > 0) {
				t.Fatalf("%d errors:\n%s", found.Errors(), &b)
			}
			same := cmp.Options{cmp.Comparer(func(a, b netip.Addr) bool { return a == b }), cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })}
			if diff := cmp.Diff(test.want, got, same); diff != "" && len(test.said) == 0 {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
