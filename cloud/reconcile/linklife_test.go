package reconcile_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud/reconcile/world"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

var (
	north  = vpn.Owner{Kind: vpn.KindClusterLink, Name: "north"}
	joined = step{anywhere(linked), plan.Options{}}
)

// links are lives with a link in them.
func links() map[string]life {
	before, back := step{anywhere(unlinked), plan.Options{}}, step{anywhere(unlinked), plan.Options{Prune: true}}
	return map[string]life{
		"link beside new gateways":              {steps: []step{joined}, fatal: true},
		"link to gateways":                      {steps: []step{before, joined}},
		"link adopted":                          {steps: []step{before, {handmade, plan.Options{}}}},
		"link pruned":                           {steps: []step{joined, back}},
		"link adopted, pruned":                  {steps: []step{{handmade, plan.Options{}}, back}},
		"linked gateway pruned":                 {steps: []step{joined, {anywhere(linkedAlone), plan.Options{Prune: true, Hold: -1}}}},
		"link and gateway pruned":               {steps: []step{joined, {anywhere(globexAlone), plan.Options{Prune: true, Hold: -1}}}, fatal: true},
		"linked gateway's reverse exposures go": {steps: []step{joined, {anywhere(linkedForward), plan.Options{}}}},
	}
}

// unlinked has two gateways, one of which are called on our side; globexAlone has one.
func unlinked(t testing.TB) vpn.Estate    { return world.EstateOf(t, "acme", "globex") }
func globexAlone(t testing.TB) vpn.Estate { return world.EstateOf(t, "globex") }

// linked has a link to the service cluster of our own project.
func linked(t testing.TB) vpn.Estate {
	e := unlinked(t)
	e.Links = []vpn.Link{{Owner: north, Router: "service-cluster-router", CIDR: netip.MustParsePrefix("10.250.0.0/16")}}
	return e
}

// linkedToAll has the link beside the gateways of all examples.
func linkedToAll(t testing.TB) vpn.Estate {
	e := world.Estate(t)
	e.Links = linked(t).Links
	return e
}

// linkedAlone has the link, and one gateway alone.
func linkedAlone(t testing.TB) vpn.Estate {
	e := globexAlone(t)
	e.Links = linked(t).Links
	return e
}

// linkedForward has the link, and gateways that nobody calls on our side.
func linkedForward(t testing.TB) vpn.Estate {
	e := linked(t)
	for i := range e.Gateways {
		e.Gateways[i].ReverseExposures = nil
		dropGrants(&e.Gateways[i])
	}
	return e
}

// handmade is linked where somebody has joined the router by hand, and led the way there.
func handmade(w *world.World) vpn.Estate {
	e := linked(w.T)
	c, s := world.NewClient(w), world.Snapshot(w.T, w)
	id := func(kind, name string) string {
		for _, o := range s.Of(kind) {
			if o.Text("name") == name {
				return o.ID
			}
		}
		w.T.Fatalf("no %s %s", kind, name)
		return ""
	}
	leg := c.Post("ports", "port", map[string]any{"network_id": id("network", "vpn-transit"), "name": "by-hand", "fixed_ips": []map[string]any{{"ip_address": "10.254.0.7"}}})
	c.Put("routers/"+id("router", "service-cluster-router")+"/add_router_interface", map[string]any{"port_id": leg})
	c.Put("routers/"+id("router", "gateway-router")+"/add_extraroutes", map[string]any{"router": map[string]any{"routes": []map[string]any{{"destination": "10.250.0.0/16", "nexthop": "10.254.0.7"}}}})
	return e
}

// TestALinkJoinsAServiceCluster: leg, forward route, and a way back to every gateway that
// somebody calls; a second plan is empty, and pruned nothing is left of it.
func TestALinkJoinsAServiceCluster(t *testing.T) {
	w := world.New(t, simulator.Options{})
	w.Apply(unlinked(t), plan.Options{})
	before := w.Look()
	p := w.Plan(linked(t), plan.Options{})
	var reverse []string
	for _, c := range p.Changes {
		if strings.HasPrefix(c.ID.String(), "openstack.route/") && c.Owner.Gateway() {
			reverse = append(reverse, c.Owner.Path())
		}
		if c.Impact != plan.ImpactNone {
			t.Errorf("%s: impact %s", c.ID, c.Impact)
		}
	}
	var want []string
	for _, g := range linked(t).Gateways {
		if len(g.ReverseExposures) > 0 {
			want = append(want, g.Owner.Path())
		}
	}
	if len(want) == 0 || !slices.Equal(reverse, want) {
		t.Errorf("ways back to %v, want %v", reverse, want)
	}
	w.Apply(linked(t), plan.Options{})
	if again := w.Plan(linked(t), plan.Options{}); len(again.Changes)+len(again.Refusals) > 0 {
		t.Errorf("not empty: %+v %+v", again.Changes, again.Refusals)
	}
	w.Apply(unlinked(t), plan.Options{Prune: true})
	if after := w.Look(); after != before {
		t.Errorf("something is left or gone:\n%s", cmp.Diff(before, after))
	}
}

// TestAnOperatorsLegIsRefused as long as it carries the operator's tag: that one may be at
// work.
func TestAnOperatorsLegIsRefused(t *testing.T) {
	w := world.New(t, simulator.Options{})
	e := handmade(w)
	tag := func(tags ...string) {
		world.NewClient(w).Put("ports/"+idOf(w, "port", "by-hand")+"/tags", map[string]any{"tags": append([]string{}, tags...)})
	}
	tag("ipsec.bnerd.net/uid=0b5b4a4b-3f7c-4c0b-8a1d-7d3a5f1e0009")
	refused := ""
	for _, r := range w.Plan(e, plan.Options{}).Refusals {
		if r.Owner == north {
			refused = r.Message
		}
	}
	if !strings.Contains(refused, "which an operator's link has") {
		t.Errorf("refused: %q", refused)
	}
	tag()
	w.Apply(e, plan.Options{})
}
