package reconcile_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud/reconcile"
	"github.com/vpnctl/vpnctl/cloud/reconcile/world"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// tenants have links in random estates.
var tenants = []string{"customer", "second", "third"}

// TestACustomerSeesNobodyElse: in whatever order links and gateways come, go and name each
// other, a customer's router leads to the gateways that name its link and to no other.
func TestACustomerSeesNobodyElse(t *testing.T) {
	lives := 6 / world.Stride
	for seed := range uint64(max(2, lives)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 1))
			w := world.New(t, simulator.Options{Seed: simulator.Seed{Customers: tenants[1:]}})
			for range 4 {
				e := randomCrossings(w, r)
				w.Apply(e, plan.Options{Prune: true, Hold: -1, MaxDeletes: 100})
				if again := w.Plan(e, plan.Options{Prune: true, Hold: -1, MaxDeletes: 100}); len(again.Changes)+len(again.Refusals) > 0 {
					t.Errorf("not empty: %+v %+v", again.Changes, again.Refusals)
				}
				for _, login := range tenants {
					if diff := cmp.Diff(seenBy(w, e, login), waysOn(t, w, login+"-router")); diff != "" {
						t.Errorf("what %s reaches (-want +got):\n%s", login, diff)
					}
				}
			}
		})
	}
}

// randomCrossings has some gateways, some links, and gateways that name some of them.
func randomCrossings(w *world.World, r *rand.Rand) vpn.Estate {
	e := world.EstateOf(w.T, "acme", "globex", "initech")
	e.OpenStack.Clouds = map[string]string{}
	for i, login := range tenants {
		l := into(w, login)
		l.CIDR = netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(60 + i), 0, 0}), 16)
		e.OpenStack.Clouds[login] = login
		if r.IntN(4) > 0 {
			e.Links = append(e.Links, l)
		}
	}
	e.Gateways = slices.DeleteFunc(e.Gateways, func(vpn.Gateway) bool { return r.IntN(5) == 0 })
	for i := range e.Gateways {
		for _, l := range e.Links {
			if r.IntN(2) == 0 {
				e.Gateways[i].Links = append(e.Gateways[i].Links, l.Owner.Name)
			}
		}
	}
	return e
}

// seenBy are the service CIDRs, sorted, of the gateways that name a customer's link and are
// called from there.
func seenBy(w *world.World, e vpn.Estate, login string) []string {
	in, _, err := w.Input(w.T.Context(), e, plan.Options{})
	if err != nil {
		w.T.Fatal(err)
	}
	ledgers := ledgersOf(w.T, in)
	all := []string{}
	for _, g := range e.Gateways {
		if len(g.ReverseExposures) > 0 && slices.Contains(g.Links, login) {
			all = append(all, ledgers[g.Owner].ServiceCIDR.String())
		}
	}
	slices.Sort(all)
	return all
}

// TestTwoAppliesOfOneCrossing: whichever comes first, one leg and one policy are made, and
// both are on record.
func TestTwoAppliesOfOneCrossing(t *testing.T) {
	w := world.New(t, simulator.Options{})
	e := acrossNamed(w)
	w.Apply(pruned(w), plan.Options{})
	want := w.Copy(t)
	want.Apply(e, plan.Options{})
	var runs sync.WaitGroup
	errs := make([]error, 2)
	for i := range errs {
		runs.Go(func() { errs[i] = w.Run(t.Context(), e, plan.Options{}, 4) })
	}
	runs.Wait()
	if errs[0] != nil && errs[1] != nil {
		t.Errorf("both failed: %v, %v", errs[0], errs[1])
	}
	w.Heal()
	w.Apply(e, plan.Options{})
	if got := w.Look(); got != want.Look() {
		t.Errorf("(-one run +two):\n%s", cmp.Diff(want.Look(), got))
	}
}

// ledgersOf are the gateways' ledgers as a run finds or gives them.
func ledgersOf(t testing.TB, in reconcile.Input) map[vpn.Owner]alloc.Ledger {
	t.Helper()
	r, err := reconcile.Plan(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return r.Ledgers
}
