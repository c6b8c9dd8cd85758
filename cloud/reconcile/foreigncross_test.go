package reconcile_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud/reconcile/world"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// TestForeignObjectsOfCustomersAreLeftAlone fills a customer's project, and the transit
// network that it shares, with what is not ours, and wants every bit of it as it was after
// a link was changed, pruned, made anew and given up.
func TestForeignObjectsOfCustomersAreLeftAlone(t *testing.T) {
	w := world.New(t, simulator.Options{Seed: simulator.Seed{Customers: []string{"neighbour"}}})
	w.Apply(acrossNamed(w), plan.Options{})
	theirs, own := plantAtCustomers(w), plantPolicies(w)
	look := func() []string { return append(theirs.look(), own.look()...) }
	before := look()
	if len(before) != len(theirs.ids)+len(theirs.parts)+len(own.ids)+len(own.parts) {
		t.Fatalf("only %d things are there", len(before))
	}
	if p := w.Plan(acrossNamed(w), plan.Options{Prune: true}); len(p.Pending())+len(p.Refusals) > 0 {
		t.Errorf("look-alikes make changes: %+v %+v", p.Pending(), p.Refusals)
	}
	for _, step := range []struct {
		estate  func(*world.World) vpn.Estate
		options plan.Options
		legs    int
	}{
		{acrossNamed, plan.Options{}, 1},
		{across, plan.Options{}, 1},
		{acrossNamed, plan.Options{}, 1},
		{acrossAlone, plan.Options{Prune: true, Hold: -1}, 1},
		{pruned, plan.Options{Prune: true}, 0},
		{acrossNamed, plan.Options{}, 1},
		{givenUp, plan.Options{}, 1},
		{pruned, plan.Options{Prune: true}, 1},
	} {
		w.Apply(step.estate(w), step.options)
		if diff := cmp.Diff(before, look()); diff != "" {
			t.Fatalf("foreign objects changed (-before +after):\n%s", diff)
		}
		if got := legsOf(w); len(got) != step.legs {
			t.Fatalf("legs %v, want %d", got, step.legs)
		}
	}
}

// legsOf are the IDs of the estate's legs at the customer's.
func legsOf(w *world.World) []string {
	var all []string
	tags := state.Tags(across(w).Name, across(w).Links[0].Owner)
	for _, o := range world.Snapshot(w.T, w).Of("port") {
		if slices.Equal(slices.Sorted(slices.Values(o.Tags())), slices.Sorted(slices.Values(tags))) {
			all = append(all, o.ID)
		}
	}
	return all
}

// plantAtCustomers has the customer make ports on a network of its own and on ours,
// look-alikes of a leg, and routes on the router that the link joins.
func plantAtCustomers(w *world.World) *crowd {
	w.T.Helper()
	c := &crowd{world.ClientAs(w, "customer"), map[string]bool{}, map[string]bool{}, nil}
	snapshot := world.Snapshot(w.T, w)
	leg := snapshot[slices.IndexFunc(snapshot, func(o simulator.Object) bool { return o.ID == legsOf(w)[0] })]
	network := c.own(c.Post("networks", "network", map[string]any{"name": "backbone"}))
	subnet := c.own(c.Post("subnets", "subnet", map[string]any{"network_id": network, "cidr": "10.99.0.0/24", "ip_version": 4}))
	router := c.find("router", "customer-router")
	c.Put("routers/"+router+"/add_router_interface", map[string]any{"subnet_id": subnet})
	for _, on := range []string{network, c.find("network", "vpn-transit")} {
		like := map[string]any{"network_id": on, "name": leg.Text("name"), "description": "by hand", "security_groups": []string{}}
		c.own(c.Post("ports", "port", like))
		id := c.own(c.Post("ports", "port", like))
		c.retag("ports", id, "vpn.bnerd.net/managed=somebody", "team=red")
		other := maps.Clone(like)
		other["description"] = "vpnctl: ClusterLink/customer of estate other"
		id = c.own(c.Post("ports", "port", other))
		c.retag("ports", id, state.Tags("other", vpn.Owner{Kind: vpn.KindClusterLink, Name: "customer"})...)
	}
	for to, via := range map[string]string{"192.168.77.0/24": "10.99.0.77", "100.64.77.0/24": "10.99.0.78"} {
		c.Put("routers/"+router+"/add_extraroutes", map[string]any{"router": map[string]any{"routes": []any{map[string]any{"destination": to, "nexthop": via}}}})
		c.parts["route "+to+" "+via+" on "+router] = true
	}
	return c
}

// plantPolicies has other hands share our network, and the customer's own, with somebody
// else, and puts a route of theirs on our router.
func plantPolicies(w *world.World) *crowd {
	w.T.Helper()
	c := &crowd{world.NewClient(w), map[string]bool{}, map[string]bool{}, nil}
	c.own(c.Post("rbac-policies", "rbac_policy", map[string]any{"object_type": "network", "object_id": c.find("network", "vpn-transit"),
		"action": "access_as_shared", "target_tenant": customerRouter(w, "neighbour")}))
	theirs := world.ClientAs(w, "customer")
	network := ""
	for _, o := range world.Snapshot(w.T, w).Of("network") {
		if o.Text("name") == "backbone" {
			network = o.ID
		}
	}
	c.own(theirs.Post("rbac-policies", "rbac_policy", map[string]any{"object_type": "network", "object_id": network,
		"action": "access_as_shared", "target_tenant": customerRouter(w, "neighbour")}))
	c.route("192.168.88.0/24", "10.254.0.77", "")
	return c
}
