package reconcile_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud/reconcile/world"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

const (
	attested  = "ipsec.bnerd.net/tenant-isolation-attested"
	abandoned = "ipsec.bnerd.net/abandon-customer-side"
)

var crossed = step{across, plan.Options{}}

// crossings are lives with a link into a customer's project in them.
func crossings() map[string]life {
	back := step{pruned, plan.Options{Prune: true}}
	return map[string]life{
		"crossing beside new gateways":    {steps: []step{crossed}, fatal: true},
		"crossing":                        {steps: []step{{pruned, plan.Options{}}, crossed}},
		"crossing to a gateway":           {steps: []step{{pruned, plan.Options{}}, {acrossNamed, plan.Options{}}}, fatal: true},
		"crossing pruned":                 {steps: []step{crossed, back}},
		"crossing pruned under a gateway": {steps: []step{{acrossNamed, plan.Options{}}, back}, fatal: true},
		"gateway opts in":                 {steps: []step{crossed, {acrossNamed, plan.Options{}}}},
		"gateway opts out":                {steps: []step{{acrossNamed, plan.Options{}}, crossed}, fatal: true},
		"crossed gateway pruned":          {steps: []step{{acrossNamed, plan.Options{}}, {acrossAlone, plan.Options{Prune: true, Hold: -1}}}, fatal: true},
		"crossing and its gateway pruned": {steps: []step{{acrossNamed, plan.Options{}}, {prunedAlone, plan.Options{Prune: true, Hold: -1}}}, fatal: true},
		"crossing given up":               {steps: []step{{acrossNamed, plan.Options{}}, {givenUp, plan.Options{}}}, fatal: true},
		"crossing given up, pruned":       {steps: []step{{acrossNamed, plan.Options{}}, {givenUp, plan.Options{}}, back}},
	}
}

// customerRouter makes the router of the customer whom the simulator knows, once, and
// tells which project it is in.
func customerRouter(w *world.World, login string) (project string) {
	c, err := w.Sim.Credentials("http://simulator.invalid", login)
	if err != nil {
		w.T.Fatal(err)
	}
	for _, r := range world.Snapshot(w.T, w).Of("router") {
		if r.Text("name") == login+"-router" {
			return c.ProjectID
		}
	}
	world.ClientAs(w, login).Post("routers", "router", map[string]any{"name": login + "-router"})
	return c.ProjectID
}

// across has a link into the customer's project, which no gateway names.
func across(w *world.World) vpn.Estate {
	e := unlinked(w.T)
	e.Links = []vpn.Link{into(w, "customer")}
	e.OpenStack.Clouds = map[string]string{"customer": "customer"}
	return e
}

// into is a link into the project of a customer with that login.
func into(w *world.World, login string) vpn.Link {
	return vpn.Link{
		Owner: vpn.Owner{Kind: vpn.KindClusterLink, Name: login}, Router: login + "-router", CIDR: netip.MustParsePrefix("10.60.0.0/16"),
		Credentials: vpn.NamespacedRef{Namespace: "vpn", Name: "clusterlink-" + login}, Cloud: login,
		CustomerProject: customerRouter(w, login), Annotations: map[string]string{attested: "network team; 2026-02-28"},
	}
}

// acrossNamed is the same, and every gateway that somebody calls on our side names it.
func acrossNamed(w *world.World) vpn.Estate {
	e := across(w)
	for i := range e.Gateways {
		if len(e.Gateways[i].ReverseExposures) > 0 {
			e.Gateways[i].Links = []string{"customer"}
		}
	}
	return e
}

// givenUp is acrossNamed, whose customer's credential is dead, and whose customer's side may
// be left behind.
func givenUp(w *world.World) vpn.Estate {
	e := acrossNamed(w)
	e.Links[0].Annotations[abandoned] = "true"
	w.Customer = dead(w)
	return e
}

// acrossAlone has the link, and one gateway that nobody calls.
func acrossAlone(w *world.World) vpn.Estate {
	e := globexAlone(w.T)
	whole := across(w)
	e.Links, e.OpenStack.Clouds = whole.Links, whole.OpenStack.Clouds
	return e
}

// pruned is the estate without its links, which still says how customers are reached.
func pruned(w *world.World) vpn.Estate {
	e := across(w)
	e.Links = nil
	return e
}

// prunedAlone is acrossAlone without its link.
func prunedAlone(w *world.World) vpn.Estate {
	e := acrossAlone(w)
	e.Links = nil
	return e
}

// TestALinkJoinsACustomersProject: the network is shared, the leg stands in the customer's
// project, and no way leads back to a gateway that does not name the link. A second plan is
// empty, and pruned nothing is left of it.
func TestALinkJoinsACustomersProject(t *testing.T) {
	w := world.New(t, simulator.Options{})
	e := across(w)
	w.Apply(pruned(w), plan.Options{})
	before := w.Look()
	p := w.Plan(e, plan.Options{})
	for _, c := range p.Changes {
		if c.Owner.Gateway() {
			t.Errorf("%s is %sd for a link that no gateway names", c.ID, c.Action)
		}
	}
	w.Apply(e, plan.Options{})
	var target, at string
	for _, r := range world.Snapshot(t, w).Of("rbac-policy") {
		target += r.Text("target_tenant") + " " + r.Text("action")
	}
	for _, p := range world.Snapshot(t, w).Of("port") {
		if strings.Contains(p.Text("description"), "ClusterLink/customer") {
			at += p.Text("project_id") + " " + p.Text("device_owner")
		}
	}
	project := e.Links[0].CustomerProject
	if want := project + " access_as_shared"; target != want {
		t.Errorf("shared with %q, want %q", target, want)
	}
	if want := project + " network:router_interface"; at != want {
		t.Errorf("the leg is in %q, want %q", at, want)
	}
	if again := w.Plan(e, plan.Options{}); len(again.Changes)+len(again.Refusals) > 0 {
		t.Errorf("not empty: %+v %+v", again.Changes, again.Refusals)
	}
	w.Apply(pruned(w), plan.Options{Prune: true})
	if after := w.Look(); after != before {
		t.Errorf("something is left or gone:\n%s", cmp.Diff(before, after))
	}
}
