package reconcile_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud/reconcile/world"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// TestNothingLeadsToALegThatIsGone: a customer takes the leg away, and the router with it.
// The link is refused, or has lost its manifest, and all the same nothing leads any more to
// an address that anybody may get.
func TestNothingLeadsToALegThatIsGone(t *testing.T) {
	for name, left := range map[string]func(e *vpn.Estate){
		"its manifest is there": func(*vpn.Estate) {},
		"it has none":           func(e *vpn.Estate) { e.Links = nil },
	} {
		t.Run(name, func(t *testing.T) {
			w := world.New(t, simulator.Options{})
			e := across(w)
			w.Apply(e, plan.Options{})
			before := routesOf(w, "gateway-router")
			c := world.ClientAs(w, "customer")
			for _, p := range world.Snapshot(t, w).Of("port") {
				if strings.Contains(p.Text("description"), "ClusterLink/customer") {
					c.Put("routers/"+p.Text("device_id")+"/remove_router_interface", map[string]any{"port_id": p.ID})
					c.Remove("routers/" + p.Text("device_id"))
				}
			}
			left(&e)
			var planned []string
			for _, x := range w.Plan(e, plan.Options{}).Changes {
				planned = append(planned, string(x.Action)+" "+x.ID.String()+": "+x.Reason)
			}
			if len(planned) != 1 || !strings.HasPrefix(planned[0], "delete openstack.route/customer: ") {
				t.Errorf("planned: %q", planned)
			}
			regardless(t, w, e, plan.Options{})
			var want []string
			for _, r := range before {
				if !strings.HasPrefix(r, "10.60.0.0/16 ") {
					want = append(want, r)
				}
			}
			if diff := cmp.Diff(want, routesOf(w, "gateway-router")); diff != "" {
				t.Errorf("routes (-want +got):\n%s", diff)
			}
			if p := w.Plan(e, plan.Options{}); len(p.Changes) > 0 {
				t.Errorf("not empty: %+v", p.Changes)
			}
		})
	}
}
