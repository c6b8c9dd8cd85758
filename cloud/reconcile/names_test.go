package reconcile

import (
	"strings"
	"testing"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// TestNamesThatCantBeMarked: a saved plan, and whoever calls this package, bring an
// estate that no reader of manifests has looked at.
func TestNamesThatCantBeMarked(t *testing.T) {
	long := vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: "acme", Name: strings.Repeat("a", 64)}
	short := vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: "acme", Name: "dc1"}
	for sentence, c := range map[string]struct {
		Estate string
		owner  vpn.Owner
		want   string // part of its refusal; empty: none
	}{
		"an ordinary name":                {"prod", short, ""},
		"a name that is no label's value": {"prod", long, "a label value holds 63"},
		"an estate that fits no tag":      {"a,b", short, "not a DNS label"},
	} {
		t.Run(sentence, func(t *testing.T) {
			in := Input{Estate: vpn.Estate{Name: c.Estate, Gateways: []vpn.Gateway{{Owner: c.owner}}}, Manifests: 1}
			said := ""
			for _, r := range prepare(in, &cloud.Observation{Graph: resource.Graph{}}).refusals {
				if r.Owner == c.owner && r.Hint == "give it another name" {
					said = r.Message
				}
			}
			if c.want == "" && said != "" || !strings.Contains(said, c.want) {
				t.Errorf("refused with %q, want %q", said, c.want)
			}
		})
	}
}
