package reconcile_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud/openstack"
	"github.com/vpnctl/vpnctl/cloud/reconcile/world"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// legOf is the leg of the link into the customer's project.
func legOf(w *world.World) simulator.Object {
	for _, p := range world.Snapshot(w.T, w).Of("port") {
		if strings.Contains(p.Text("description"), "ClusterLink/customer") {
			return p
		}
	}
	w.T.Fatal("the link has no leg")
	return simulator.Object{}
}

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
			leg := legOf(w)
			c.Put("routers/"+leg.Text("device_id")+"/remove_router_interface", map[string]any{"port_id": leg.ID})
			c.Remove("routers/" + leg.Text("device_id"))
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

// TestALegInUseIsLedTo, although its customer took our tags off it: its link is refused, and
// what is sent there arrives.
func TestALegInUseIsLedTo(t *testing.T) {
	w := world.New(t, simulator.Options{})
	e := across(w)
	w.Apply(e, plan.Options{})
	before := routesOf(w, "gateway-router")
	world.ClientAs(w, "customer").Put("ports/"+legOf(w).ID+"/tags", map[string]any{"tags": []string{}})
	p := w.Plan(e, plan.Options{})
	if len(p.Refusals) != 1 || len(p.Changes) > 0 {
		t.Errorf("refusals %+v, changes %+v", p.Refusals, p.Changes)
	}
	regardless(t, w, e, plan.Options{})
	if diff := cmp.Diff(before, routesOf(w, "gateway-router")); diff != "" {
		t.Errorf("routes (-want +got):\n%s", diff)
	}
}

// TestALinkGivenUpLeadsNowhere once its leg is gone, although everything else of it stays.
func TestALinkGivenUpLeadsNowhere(t *testing.T) {
	w := world.New(t, simulator.Options{})
	w.Apply(across(w), plan.Options{})
	e := givenUp(w)
	w.Apply(e, plan.Options{})
	c, leg := world.ClientAs(w, "customer"), legOf(w)
	for _, r := range routesOf(w, "customer-router") {
		destination, hop, _ := strings.Cut(r, " via ")
		c.Put("routers/"+leg.Text("device_id")+"/remove_extraroutes", map[string]any{"router": map[string]any{
			"routes": []map[string]any{{"destination": destination, "nexthop": hop}}}})
	}
	c.Put("routers/"+leg.Text("device_id")+"/remove_router_interface", map[string]any{"port_id": leg.ID})
	w.Apply(e, plan.Options{})
	for _, r := range routesOf(w, "gateway-router") {
		if strings.HasPrefix(r, "10.60.0.0/16 ") {
			t.Errorf("it is left: %s", r)
		}
	}
	if p := w.Plan(e, plan.Options{}); len(p.Changes) > 0 {
		t.Errorf("not empty: %+v", p.Changes)
	}
}

// TestOurOwnKeystoneIsAway: nothing of a link is left behind for that, though its customer's
// side may be.
func TestOurOwnKeystoneIsAway(t *testing.T) {
	w := world.New(t, simulator.Options{})
	e := across(w)
	w.Apply(pruned(w), plan.Options{})
	before := w.Look()
	e.Links[0].Annotations[abandoned] = "true"
	w.Apply(e, plan.Options{})
	standing := w.Look()
	w.Customer = func(vpn.Link) (openstack.Options, error) {
		return answering(w, &http.Response{StatusCode: http.StatusServiceUnavailable})
	}
	regardless(t, w, pruned(w), plan.Options{Prune: true})
	if after := w.Look(); after != standing {
		t.Errorf("something has changed:\n%s", cmp.Diff(standing, after))
	}
	w.Customer = nil
	w.Apply(pruned(w), plan.Options{Prune: true})
	if after := w.Look(); after != before {
		t.Errorf("something is left or gone:\n%s", cmp.Diff(before, after))
	}
}
