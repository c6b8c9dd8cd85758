package reconcile_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/vpnctl/vpnctl/cloud/reconcile/world"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan"
)

// TestAPinTakesNobodysAddress pins a free floating IP that carries tags: whoever
// they name has it, though no port does.
func TestAPinTakesNobodysAddress(t *testing.T) {
	second := world.Estate(t).Gateways[1].Owner.String()
	tags := func(estate, owner string) []string {
		return []string{"vpn.bnerd.net/estate=" + estate, "vpn.bnerd.net/managed=vpnctl", "vpn.bnerd.net/owner=" + owner}
	}
	for name, c := range map[string]struct {
		tags []string
		says string // empty: it is taken
	}{
		"tagged by another tool":                {[]string{"team=red"}, ""},
		"of another estate":                     {tags("zeta", "VPNGateway/x/y"), "carries the tags of VPNGateway/x/y of estate zeta"},
		"of another estate, under our own name": {tags("zeta", world.Estate(t).Gateways[0].Owner.String()), "of estate zeta"},
		"of a gateway that stays":               {tags(world.Estate(t).Name, second), "carries the tags of " + second},
		"of an owner that the tags do not name": {[]string{"vpn.bnerd.net/managed=vpnctl"}, "carries the tags of somebody"},
	} {
		t.Run(name, func(t *testing.T) {
			w, e := world.New(t, simulator.Options{}), world.Estate(t)
			w.Apply(e, plan.Options{})
			var pool string
			for _, n := range world.Snapshot(t, w).Of("network") {
				if n.Text("name") == e.OpenStack.FloatingIPPool {
					pool = n.ID
				}
			}
			id := world.NewClient(w).Post("floatingips", "floatingip", map[string]any{"floating_network_id": pool, "description": "set aside"})
			world.NewClient(w).Put("floatingips/"+id+"/tags", map[string]any{"tags": c.tags})
			for _, f := range world.Snapshot(t, w).Of("floating-ip") {
				if f.ID == id {
					e.Gateways[0].FloatingIP = netip.MustParseAddr(f.Text("floating_ip_address"))
				}
			}
			var said []string
			for _, r := range w.Plan(e, plan.Options{Prune: true}).Refusals {
				if r.Owner == e.Gateways[0].Owner {
					said = append(said, r.Message)
				}
			}
			switch got := strings.Join(said, "\n"); {
			case c.says == "" && got != "":
				t.Errorf("refused: %s", got)
			case !strings.Contains(got, c.says):
				t.Errorf("said %q, want a refusal that says %q", got, c.says)
			}
		})
	}
}
