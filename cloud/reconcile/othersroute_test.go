package reconcile_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud/reconcile/world"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// put adds a route to the router with a name, as its owner would.
func put(w *world.World, login, name, destination, nextHop string) {
	w.T.Helper()
	for _, r := range world.Snapshot(w.T, w).Of("router") {
		if r.Text("name") == name {
			world.ClientAs(w, login).Put("routers/"+r.ID+"/add_extraroutes", map[string]any{"router": map[string]any{
				"routes": []map[string]any{{"destination": destination, "nexthop": nextHop}}}})
			return
		}
	}
	w.T.Fatalf("there is no router %s", name)
}

// routesOf are the routes on the router with a name, sorted.
func routesOf(w *world.World, name string) []string {
	all := []string{}
	for _, r := range world.Snapshot(w.T, w).Of("router") {
		if r.Text("name") != name {
			continue
		}
		routes, _ := r.Attributes["routes"].([]any)
		for _, x := range routes {
			route := x.(map[string]any)
			all = append(all, route["destination"].(string)+" via "+route["nexthop"].(string))
		}
	}
	slices.Sort(all)
	return all
}

// portOf are the ID, the address and the service CIDR of a gateway's port.
func portOf(w *world.World, gateway string) (id, address, cidr string) {
	for _, p := range world.Snapshot(w.T, w).Of("port") {
		if pairs, _ := p.Attributes["allowed_address_pairs"].([]any); strings.Contains(p.Text("description"), "/"+gateway) && len(pairs) > 0 {
			fixed, _ := p.Attributes["fixed_ips"].([]any)
			return p.ID, fixed[0].(map[string]any)["ip_address"].(string), pairs[0].(map[string]any)["ip_address"].(string)
		}
	}
	w.T.Fatalf("%s has no port", gateway)
	return "", "", ""
}

// TestRoutesOfCustomersStay, on their own routers: to a gateway's range by a next hop that
// no port of ours holds, before the link is there, beside it, and when it has gone.
func TestRoutesOfCustomersStay(t *testing.T) {
	w := world.New(t, simulator.Options{})
	e := across(w)
	w.Apply(pruned(w), plan.Options{})
	_, _, dc1 := portOf(w, "acme/dc1")
	// the customer's own network has our transit subnet's range
	network := world.ClientAs(w, "customer").Post("networks", "network", map[string]any{"name": "backbone"})
	subnet := world.ClientAs(w, "customer").Post("subnets", "subnet", map[string]any{"network_id": network, "cidr": "10.253.0.0/16", "ip_version": 4})
	for _, r := range world.Snapshot(t, w).Of("router") {
		if r.Text("name") == "customer-router" {
			world.ClientAs(w, "customer").Put("routers/"+r.ID+"/add_router_interface", map[string]any{"subnet_id": subnet})
		}
	}
	put(w, "customer", "customer-router", "172.20.0.0/16", "10.253.0.77")
	w.Apply(e, plan.Options{})
	put(w, "customer", "customer-router", dc1, "10.254.0.99") // where no port is
	want := routesOf(w, "customer-router")
	for _, c := range w.Plan(e, plan.Options{}).Changes {
		t.Errorf("planned: %s %s: %s", c.Action, c.ID, c.Reason)
	}
	w.Apply(e, plan.Options{})
	if diff := cmp.Diff(want, routesOf(w, "customer-router")); diff != "" {
		t.Errorf("the link stands (-want +got):\n%s", diff)
	}
	regardless(t, w, pruned(w), plan.Options{Prune: true}) // Neutron keeps the leg for the customer's route
	if diff := cmp.Diff(want, routesOf(w, "customer-router")); diff != "" {
		t.Errorf("the link is to go (-want +got):\n%s", diff)
	}
}

// TestAWayBackInAnothersPlace is held, and says what stands there: the gateway is changed
// as its manifest asks, and nobody's route is replaced.
func TestAWayBackInAnothersPlace(t *testing.T) {
	w := world.New(t, simulator.Options{})
	w.Apply(across(w), plan.Options{})
	_, _, dc1 := portOf(w, "acme/dc1")
	put(w, "customer", "customer-router", dc1, "10.254.0.99")
	e := acrossNamed(w)
	i := slices.IndexFunc(e.Gateways, func(g vpn.Gateway) bool { return g.Owner.Path() == "acme/dc1" })
	e.Gateways = slices.Clone(e.Gateways)
	e.Gateways[i].Exposures = e.Gateways[i].Exposures[:1] // an edit that has nothing to do with it
	p := w.Plan(e, plan.Options{})
	for _, r := range p.Refusals {
		t.Errorf("refused: %s %s", r.Owner, r.Message)
	}
	held := ""
	for _, c := range p.Changes {
		if c.Barred {
			held += c.ID.Namespace + "/" + c.ID.Name + " " + c.Held
		} else if c.Held != "" {
			t.Errorf("%s is held as well: %s", c.ID, c.Held)
		}
	}
	if !strings.HasPrefix(held, "acme/dc1@") || !strings.Contains(held, "10.254.0.99, which is not ours; take it off router customer-router") {
		t.Errorf("what is held: %q", held)
	}
	w.Apply(e, plan.Options{})
	if left := w.Plan(e, plan.Options{}).Pending(); len(left) > 0 {
		t.Errorf("left to do: %s %s", left[0].Action, left[0].ID)
	}
	if got := routesOf(w, "customer-router"); !slices.Contains(got, dc1+" via 10.254.0.99") {
		t.Errorf("another hand's route went: %v", got)
	}
}

// TestAForwardRouteInAnothersPlace refuses the link by name, whether a port has the next
// hop or none, and leaves the route.
func TestAForwardRouteInAnothersPlace(t *testing.T) {
	w := world.New(t, simulator.Options{})
	w.Apply(unlinked(t), plan.Options{})
	put(w, "operator", "gateway-router", "10.250.0.0/16", "10.254.0.98")
	p := w.Plan(linked(t), plan.Options{})
	if len(p.Refusals) != 1 || p.Refusals[0].ID.Kind != resource.KindRoute || !strings.Contains(p.Refusals[0].Message, "10.254.0.98, which is not ours") || !strings.Contains(p.Refusals[0].Hint, "gateway-router") {
		t.Errorf("refusals: %+v", p.Refusals)
	}
	regardless(t, w, linked(t), plan.Options{})
	if got := routesOf(w, "gateway-router"); !slices.Contains(got, "10.250.0.0/16 via 10.254.0.98") {
		t.Errorf("it was replaced: %v", got)
	}
}

// TestRoutesFollowAPort that is made anew with another address, on every router that leads
// to it; the old address is led to by none.
func TestRoutesFollowAPort(t *testing.T) {
	for name, estate := range map[string]func(w *world.World) vpn.Estate{
		"behind our own link":     anywhere(linked),
		"behind a customer's one": acrossNamed,
	} {
		t.Run(name, func(t *testing.T) {
			w := world.New(t, simulator.Options{})
			e := estate(w)
			low := world.NewClient(w).Post("ports", "port", map[string]any{"network_id": networkOf(w, "vpn-transit")})
			w.Apply(e, plan.Options{})
			world.NewClient(w).Remove("ports/" + low)
			id, old, _ := portOf(w, "acme/dc1")
			world.NewClient(w).Remove("ports/" + id)
			w.Apply(e, plan.Options{})
			if _, now, _ := portOf(w, "acme/dc1"); now == old {
				t.Fatalf("the new port has the address of the old one, %s", old)
			}
			if left := w.Plan(e, plan.Options{}); len(left.Changes)+len(left.Refusals) > 0 {
				t.Errorf("not empty: %+v %+v", left.Changes, left.Refusals)
			}
			for _, router := range []string{"gateway-router", "service-cluster-router", "customer-router"} {
				for _, r := range routesOf(w, router) {
					if strings.HasSuffix(r, " via "+old) {
						t.Errorf("router %s still leads to %s: %s", router, old, r)
					}
				}
			}
		})
	}
}

func networkOf(w *world.World, name string) string {
	for _, n := range world.Snapshot(w.T, w).Of("network") {
		if n.Text("name") == name {
			return n.ID
		}
	}
	w.T.Fatalf("there is no network %s", name)
	return ""
}

// TestTheForwardRouteGoes although its leg went first, and another port has the leg's
// address by now.
func TestTheForwardRouteGoes(t *testing.T) {
	w := world.New(t, simulator.Options{})
	w.Apply(across(w), plan.Options{})
	fixed, _ := legOf(w).Attributes["fixed_ips"].([]any)
	leg := fixed[0].(map[string]any)["ip_address"].(string)
	w.Disturb(func(_ int, r *http.Request) simulator.Fault {
		if strings.HasSuffix(r.URL.Path, "/remove_extraroutes") {
			return simulator.Fault{Do: simulator.Fail, Status: http.StatusConflict}
		}
		return simulator.Fault{}
	})
	regardless(t, w, pruned(w), plan.Options{Prune: true})
	w.Heal()
	if got := routesOf(w, "gateway-router"); !slices.Contains(got, "10.60.0.0/16 via "+leg) {
		t.Fatalf("the forward route is not there any more: %v", got)
	}
	world.NewClient(w).Post("ports", "port", map[string]any{"network_id": networkOf(w, "vpn-transit"), "fixed_ips": []map[string]any{{"ip_address": leg}}})
	w.Apply(pruned(w), plan.Options{Prune: true})
	if got := routesOf(w, "gateway-router"); slices.Contains(got, "10.60.0.0/16 via "+leg) {
		t.Errorf("the forward route is left: %v", got)
	}
}
