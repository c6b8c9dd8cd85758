package reconcile_test

import (
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/openstack"
	"github.com/vpnctl/vpnctl/cloud/reconcile/world"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// dead is a credential that has been taken away.
func dead(w *world.World) func(vpn.Link) (openstack.Options, error) {
	c := w.Credential("customer", nil)
	c.Revoke()
	return func(vpn.Link) (openstack.Options, error) { return c.Options, nil }
}

// existing are the names or targets of what the cloud has of a kind for links, sorted.
func existing(t *testing.T, w *world.World, kind string) []string {
	t.Helper()
	all := []string{}
	for _, o := range world.Snapshot(t, w).Of(kind) {
		text := o.Text("description") + o.Text("target_tenant")
		if kind == "rbac-policy" || strings.Contains(text, "ClusterLink/") {
			all = append(all, text)
		}
	}
	slices.Sort(all)
	return all
}

// waysOn are the destinations of the routes on the router with a name, sorted.
func waysOn(t *testing.T, w *world.World, name string) []string {
	t.Helper()
	all := []string{}
	for _, r := range world.Snapshot(t, w).Of("router") {
		if r.Text("name") != name {
			continue
		}
		routes, _ := r.Attributes["routes"].([]any)
		for _, route := range routes {
			all = append(all, route.(map[string]any)["destination"].(string))
		}
	}
	slices.Sort(all)
	return all
}

// reached is the record of what was applied, which changes with the manifests alone.
var reached = regexp.MustCompile(`"vpn.bnerd.net/applied=[0-9a-f]+",`)

// untouched applies what a plan holds, which must be nothing but that record.
func untouched(t *testing.T, w *world.World, e vpn.Estate, o plan.Options, owner vpn.Owner, reason string) {
	t.Helper()
	before := reached.ReplaceAllString(w.Look(), "")
	if diff := cmp.Diff([]string{reason}, refusedWith(w.Plan(e, o), owner)); diff != "" {
		t.Errorf("reasons of %s (-want +got):\n%s", owner.Path(), diff)
	}
	regardless(t, w, e, o)
	if after := reached.ReplaceAllString(w.Look(), ""); after != before {
		t.Errorf("something has changed:\n%s", cmp.Diff(before, after))
	}
}

// TestALinkWhoseCredentialDied: it is left as it is, with its routes, and so is a gateway
// that may have one on the customer's router, until the customer's side is given up. Then
// our own side goes, and what stays is named.
func TestALinkWhoseCredentialDied(t *testing.T) {
	w := world.New(t, simulator.Options{})
	e := acrossNamed(w)
	link := e.Links[0].Owner
	w.Apply(e, plan.Options{})
	if got := waysOn(t, w, "customer-router"); len(got) != 2 {
		t.Fatalf("ways back from the customer: %v", got)
	}
	w.Customer = dead(w)
	untouched(t, w, e, plan.Options{}, link, "AuthenticationFailed")

	gone := e
	gone.Links = nil
	untouched(t, w, gone, plan.Options{Prune: true}, link, "CustomerSideUnreachable")

	fewer := e
	fewer.Gateways = slices.Clone(e.Gateways[1:])
	untouchedGateway(t, w, fewer, e.Gateways[0].Owner)

	e.Links = slices.Clone(e.Links)
	e.Links[0].Annotations = map[string]string{attested: "network team; 2026-02-28", abandoned: "true"}
	w.Apply(e, plan.Options{})
	if p := w.Plan(e, plan.Options{}); len(p.Changes)+len(p.Refusals) > 0 {
		t.Errorf("not empty: %+v %+v", p.Changes, p.Refusals)
	}
	if got := waysOn(t, w, "gateway-router"); !slices.Contains(got, "10.60.0.0/16") {
		t.Errorf("the way to the customer went with the annotation: %v", got)
	}
	p := w.Plan(gone, plan.Options{Prune: true})
	var kept []string
	for _, k := range p.Kept {
		if k.Owner == link {
			kept = append(kept, k.ID.Kind.Short()+": "+k.Why)
		}
	}
	why := "left in project " + e.Links[0].CustomerProject + ": the customer's side was given up"
	if diff := cmp.Diff([]string{"network-share: " + why, "transit-leg: " + why}, kept); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	w.Apply(gone, plan.Options{Prune: true})
	if got := existing(t, w, "security-group"); len(got) > 0 {
		t.Errorf("ledgers are left: %v", got)
	}
	if got := waysOn(t, w, "gateway-router"); slices.Contains(got, "10.60.0.0/16") {
		t.Errorf("the way to the customer is left: %v", got)
	}
	if legs, policies := existing(t, w, "port"), existing(t, w, "rbac-policy"); len(legs) != 1 || len(policies) != 1 {
		t.Errorf("legs %v, policies %v: both stay", legs, policies)
	}
	fewer.Links = nil
	w.Apply(fewer, plan.Options{Prune: true, Hold: -1}) // no link is on record any more
}

// untouchedGateway wants the port of a gateway to stay that goes.
func untouchedGateway(t *testing.T, w *world.World, e vpn.Estate, o vpn.Owner) {
	t.Helper()
	before := len(world.Snapshot(t, w).Of("port"))
	p := w.Plan(e, plan.Options{Prune: true, Hold: -1})
	i := slices.IndexFunc(p.Refusals, func(r plan.Refusal) bool { return r.Owner == o && r.ID.Kind == resource.KindPort })
	if i < 0 || !strings.Contains(p.Refusals[i].Message, "link customer") {
		t.Errorf("nothing names the link that keeps the port: %+v", p.Refusals)
	}
	if after := len(world.Snapshot(t, w).Of("port")); after != before {
		t.Errorf("%d ports, want %d", after, before)
	}
}

// TestTheCustomersSideIsReachedAfterAll: what may be left behind is not, where its
// credential works when the link goes.
func TestTheCustomersSideIsReachedAfterAll(t *testing.T) {
	w := world.New(t, simulator.Options{})
	e := across(w)
	w.Apply(pruned(w), plan.Options{})
	before := w.Look()
	e.Links[0].Annotations[abandoned] = "true"
	w.Apply(e, plan.Options{})
	if p := w.Plan(e, plan.Options{}); len(p.Changes)+len(p.Refusals) > 0 {
		t.Errorf("not empty: %+v %+v", p.Changes, p.Refusals)
	}
	w.Apply(pruned(w), plan.Options{Prune: true})
	if after := w.Look(); after != before {
		t.Errorf("something is left or gone:\n%s", cmp.Diff(before, after))
	}
}

// TestAPolicyIsNotLeftForNobody: of a link that was given up it stays as long as it serves
// a port of the customer's.
func TestAPolicyIsNotLeftForNobody(t *testing.T) {
	w := world.New(t, simulator.Options{})
	w.Apply(pruned(w), plan.Options{})
	e := across(w)
	w.Apply(e, plan.Options{})
	theirs := world.ClientAs(w, "customer")
	for _, r := range world.Snapshot(t, w).Of("router") {
		if r.Text("name") == "customer-router" {
			for _, p := range world.Snapshot(t, w).Of("port") {
				if p.Text("device_id") == r.ID {
					theirs.Put("routers/"+r.ID+"/remove_router_interface", map[string]any{"port_id": p.ID})
				}
			}
		}
	}
	e.Links[0].Annotations[abandoned] = "true"
	w.Customer = dead(w)
	w.Apply(e, plan.Options{})
	gone := e
	gone.Links = nil
	w.Apply(gone, plan.Options{Prune: true})
	if got := append(existing(t, w, "rbac-policy"), existing(t, w, "security-group")...); len(got) > 0 {
		t.Errorf("left: %v", got)
	}
}

// TestAPolicyOfAnotherHand is used, shown as kept, and never taken back.
func TestAPolicyOfAnotherHand(t *testing.T) {
	w := world.New(t, simulator.Options{})
	e := across(w)
	w.Apply(pruned(w), plan.Options{})
	var network string
	for _, n := range world.Snapshot(t, w).Of("network") {
		if n.Text("name") == "vpn-transit" {
			network = n.ID
		}
	}
	world.NewClient(w).Post("rbac-policies", "rbac_policy", map[string]any{
		"object_type": "network", "object_id": network, "action": "access_as_shared", "target_tenant": e.Links[0].CustomerProject})
	before := w.Look()
	w.Apply(e, plan.Options{})
	p := w.Plan(e, plan.Options{})
	if len(p.Changes)+len(p.Refusals) > 0 {
		t.Errorf("not empty: %+v %+v", p.Changes, p.Refusals)
	}
	if !slices.ContainsFunc(p.Kept, func(k plan.Kept) bool {
		return k.ID.Kind == resource.KindNetworkShare && strings.Contains(k.Why, "someone else")
	}) {
		t.Errorf("the policy is not shown as kept: %+v", p.Kept)
	}
	w.Apply(pruned(w), plan.Options{Prune: true})
	if after := w.Look(); after != before {
		t.Errorf("something is left or gone:\n%s", cmp.Diff(before, after))
	}
}

// TestASharedNetworkStaysWhileTheCustomerHasAPortThere: the share and the ledger wait for
// that port, and everything else of the link goes.
func TestASharedNetworkStaysWhileTheCustomerHasAPortThere(t *testing.T) {
	w := world.New(t, simulator.Options{})
	w.Apply(pruned(w), plan.Options{})
	before := w.Look()
	w.Apply(across(w), plan.Options{})
	var network string
	for _, n := range world.Snapshot(t, w).Of("network") {
		if n.Text("name") == "vpn-transit" {
			network = n.ID
		}
	}
	theirs := world.ClientAs(w, "customer").Post("ports", "port", map[string]any{"network_id": network, "name": "theirs", "security_groups": []string{}})
	p := w.Plan(pruned(w), plan.Options{Prune: true})
	held := map[string]string{}
	for _, c := range p.Changes {
		held[c.ID.Kind.Short()] = c.Held
	}
	if !strings.Contains(held["network-share"], theirs) || held["security-group"] == "" || held["transit-leg"]+held["route"] != "" {
		t.Errorf("held: %v", held)
	}
	w.Apply(pruned(w), plan.Options{Prune: true})
	if legs, policies := existing(t, w, "port"), existing(t, w, "rbac-policy"); len(legs) != 0 || len(policies) != 1 {
		t.Errorf("legs %v, policies %v: the leg goes, the policy waits", legs, policies)
	}
	world.ClientAs(w, "customer").Remove("ports/" + theirs)
	w.Apply(pruned(w), plan.Options{Prune: true})
	if after := w.Look(); after != before {
		t.Errorf("something is left or gone:\n%s", cmp.Diff(before, after))
	}
}

// TestTwoLinksOfOneCustomer share the network by one policy, which goes with whichever goes
// last.
func TestTwoLinksOfOneCustomer(t *testing.T) {
	for sentence, leaving := range map[string][][]string{
		"both at once":      {{"customer", "second"}},
		"the maker first":   {{"customer"}, {"second"}},
		"the maker at last": {{"second"}, {"customer"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			w := world.New(t, simulator.Options{})
			e := across(w)
			w.Apply(pruned(w), plan.Options{})
			world.ClientAs(w, "customer").Post("routers", "router", map[string]any{"name": "second-router"})
			second := e.Links[0]
			second.Owner.Name, second.Router, second.CIDR = "second", "second-router", netip.MustParsePrefix("10.61.0.0/16")
			before := w.Look()
			w.Apply(e, plan.Options{})
			e.Links = []vpn.Link{e.Links[0], second}
			e.OpenStack.Clouds = map[string]string{"customer": "customer", "second": "customer"}
			w.Apply(e, plan.Options{})
			if got := existing(t, w, "rbac-policy"); len(got) != 1 {
				t.Errorf("policies: %v", got)
			}
			for _, names := range leaving {
				e.Links = slices.DeleteFunc(slices.Clone(e.Links), func(l vpn.Link) bool { return slices.Contains(names, l.Owner.Name) })
				w.Apply(e, plan.Options{Prune: true})
			}
			w.Apply(e, plan.Options{Prune: true}) // what waited for the other's leg
			if after := w.Look(); after != before {
				t.Errorf("something is left or gone:\n%s", cmp.Diff(before, after))
			}
		})
	}
}

// TestWhoseCredentialItWas: what fails for a link says by which credential it failed.
func TestWhoseCredentialItWas(t *testing.T) {
	for call, want := range map[string]string{
		"POST /rbac-policies":       "operator credential: ",
		"POST /ports":               "customer credential (cloud customer): ",
		"PUT /add_router_interface": "customer credential (cloud customer): ",
		"PUT /add_extraroutes":      "operator credential: ",
	} {
		t.Run(call, func(t *testing.T) {
			w := world.New(t, simulator.Options{})
			e := across(w)
			w.Apply(pruned(w), plan.Options{})
			w.Disturb(func(_ int, r *http.Request) simulator.Fault {
				if method, path, _ := strings.Cut(call, " "); r.Method == method && strings.HasSuffix(r.URL.Path, path) {
					return simulator.Fault{Do: simulator.Fail, Status: http.StatusForbidden, Type: "PolicyNotAuthorized"}
				}
				return simulator.Fault{}
			})
			report := regardless(t, w, e, plan.Options{})
			failed := report.With(cloud.Failed)
			if len(failed) != 1 || !strings.HasPrefix(failed[0].Err.Error(), want) {
				t.Errorf("%v, want one that begins with %q", report.Err(), want)
			}
		})
	}
}

// TestAGatewayOptsOutOfALinkThatIsRefused: its way back goes, whatever is wrong with the
// link, and the others' stay.
func TestAGatewayOptsOutOfALinkThatIsRefused(t *testing.T) {
	w := world.New(t, simulator.Options{})
	e := acrossNamed(w)
	w.Apply(e, plan.Options{})
	both := waysOn(t, w, "customer-router")
	e.Links = slices.Clone(e.Links)
	e.Links[0].Annotations = nil
	untouched(t, w, e, plan.Options{}, e.Links[0].Owner, "AttestationMissing")
	e.Gateways = slices.Clone(e.Gateways)
	e.Gateways[0].Links = nil
	regardless(t, w, e, plan.Options{})
	if got := waysOn(t, w, "customer-router"); len(both) != 2 || !slices.Equal(got, both[1:]) {
		t.Errorf("ways back %v, of %v", got, both)
	}
	if p := w.Plan(e, plan.Options{}); len(p.Changes) > 0 {
		t.Errorf("not empty: %+v", p.Changes)
	}
}

// TestALegThatACustomerMade is not taken over, and no second one is tried beside it.
func TestALegThatACustomerMade(t *testing.T) {
	w := world.New(t, simulator.Options{})
	e := across(w)
	w.Apply(pruned(w), plan.Options{})
	network := networkOf(w, "vpn-transit")
	world.NewClient(w).Post("rbac-policies", "rbac_policy", map[string]any{
		"object_type": "network", "object_id": network, "action": "access_as_shared", "target_tenant": e.Links[0].CustomerProject})
	port := world.ClientAs(w, "customer").Post("ports", "port", map[string]any{"network_id": network, "name": "by hand"})
	for _, r := range world.Snapshot(t, w).Of("router") {
		if r.Text("name") == "customer-router" {
			world.ClientAs(w, "customer").Put("routers/"+r.ID+"/add_router_interface", map[string]any{"port_id": port})
		}
	}
	before := w.Look()
	p := w.Plan(e, plan.Options{})
	if len(p.Refusals) != 1 || !strings.Contains(p.Refusals[0].Message, "router customer-router joins the transit network already, by port "+port) {
		t.Errorf("refusals: %+v", p.Refusals)
	}
	regardless(t, w, e, plan.Options{})
	if after := w.Look(); after != before {
		t.Errorf("something has changed:\n%s", cmp.Diff(before, after))
	}
}

// TestAPolicyThatIsNotSeenAtOnce stays ours, however many lists lack it, and goes with its
// link.
func TestAPolicyThatIsNotSeenAtOnce(t *testing.T) {
	for reads := range 8 {
		w := world.New(t, simulator.Options{})
		e := across(w)
		w.Apply(pruned(w), plan.Options{})
		before := w.Look()
		w.Disturb(func(_ int, r *http.Request) simulator.Fault {
			if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/rbac-policies") {
				return simulator.Fault{Do: simulator.Hide, Reads: reads}
			}
			return simulator.Fault{}
		})
		for range 4 {
			_ = w.Run(t.Context(), e, plan.Options{}, 1) // one that doesn't see it may fail
		}
		w.Heal()
		w.Apply(e, plan.Options{})
		w.Apply(pruned(w), plan.Options{Prune: true})
		if after := w.Look(); after != before {
			t.Errorf("not seen by %d reads: something is left or gone:\n%s", reads, cmp.Diff(before, after))
		}
	}
}
