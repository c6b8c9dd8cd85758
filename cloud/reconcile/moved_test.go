package reconcile_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud/openstack"
	"github.com/vpnctl/vpnctl/cloud/reconcile"
	"github.com/vpnctl/vpnctl/cloud/reconcile/standing"
	"github.com/vpnctl/vpnctl/cloud/reconcile/world"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// customerTold is the customer's project in the status of the estate's first link.
func customerTold(t *testing.T, w *world.World, e vpn.Estate) string {
	t.Helper()
	in, _, err := w.Input(t.Context(), e, plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := reconcile.Plan(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range standing.Of(r, nil, nil, nil) {
		if s.Owner == e.Links[0].Owner {
			return s.Link.Customer
		}
	}
	return ""
}

// TestALinkDoesNotMoveToAnotherProject: one that is to lead elsewhere is refused and left
// as it is. Where it leads says its ledger: what can't be seen there holds the gateways
// that it may lead to, and what can be goes with them.
func TestALinkDoesNotMoveToAnotherProject(t *testing.T) {
	for sentence, c := range map[string]struct {
		login string // whose project the manifest says; empty: our own
		with  string // whose credential there is; empty: a dead one
		want  []string
		held  bool // gateways
	}{
		"with a credential of the other project": {"neighbour", "neighbour", []string{"CredentialsProjectMismatch", "InvalidSpec"}, true},
		"with that of its own":                   {"neighbour", "customer", []string{"InvalidSpec"}, false},
		"with a dead one":                        {"neighbour", "", []string{"AuthenticationFailed", "InvalidSpec"}, true},
		"to our own":                             {"", "customer", []string{"InvalidSpec"}, false},
		"to our own, with a dead one":            {"", "", []string{"InvalidSpec"}, true},
	} {
		t.Run(sentence, func(t *testing.T) {
			w := world.New(t, simulator.Options{Seed: simulator.Seed{Customers: []string{"neighbour"}}})
			e := acrossNamed(w)
			w.Apply(e, plan.Options{})
			both := waysOn(t, w, "customer-router")
			e.Links = slices.Clone(e.Links)
			if e.Links[0].CustomerProject = ""; c.login != "" {
				e.Links[0].CustomerProject = customerRouter(w, c.login)
			}
			w.Customer = func(vpn.Link) (openstack.Options, error) { return w.Options(c.with) }
			if c.with == "" {
				w.Customer = dead(w)
			}
			if diff := cmp.Diff(c.want, slices.Sorted(slices.Values(refusedWith(w.Plan(e, plan.Options{}), e.Links[0].Owner)))); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
			if got := customerTold(t, w, e); got != "" && got != customerRouter(w, "customer") {
				t.Errorf("its status says that it leads into project %s", got)
			}
			before := reached.ReplaceAllString(w.Look(), "")
			regardless(t, w, e, plan.Options{})
			if after := reached.ReplaceAllString(w.Look(), ""); after != before {
				t.Errorf("something has changed:\n%s", cmp.Diff(before, after))
			}
			first := e.Gateways[0].Owner
			e.Gateways = slices.Clone(e.Gateways[1:])
			if c.held {
				untouchedGateway(t, w, e, first)
			}
			regardless(t, w, e, plan.Options{Prune: true, Hold: -1})
			want := both
			if !c.held {
				want = both[1:]
			}
			if got := waysOn(t, w, "customer-router"); !slices.Equal(got, want) {
				t.Errorf("ways back %v, want %v", got, want)
			}
		})
	}
}
