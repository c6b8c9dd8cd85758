package reconcile_test

import (
	"testing"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/reconcile"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

func TestALinkIsRefusedByNameAndNeverPassedOver(t *testing.T) {
	link := vpn.Owner{Kind: vpn.KindClusterLink, Name: "north"}
	in := reconcile.Input{Estate: vpn.Estate{Name: "prod", Links: []vpn.Link{{Owner: link}}}, Manifests: 1}
	for name, c := range map[string]struct {
		gateways []string
		refused  bool
	}{
		"a plan of everything":      {nil, true},
		"a plan of chosen gateways": {[]string{"acme/dc1"}, false},
	} {
		in.Options = plan.Options{Gateways: c.gateways}
		p := reconcile.Decide(in, &cloud.Observation{Graph: resource.Graph{}}).Plan
		refused := false
		for _, r := range p.Refusals {
			refused = refused || r.Owner == link
		}
		if refused != c.refused {
			t.Errorf("%s: link refused %t, want %t: %v", name, refused, c.refused, p.Refusals)
		}
	}
}
