package reconcile_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud/reconcile/world"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

func TestWhatWasAppliedPlansEmpty(t *testing.T) {
	w := world.New(t, simulator.Options{})
	p := w.Plan(linkedToAll(t), plan.Options{})
	if len(p.Refusals) > 0 || len(p.Pending()) == 0 {
		t.Fatalf("plan of a new estate: %d changes, refusals %v", len(p.Pending()), p.Refusals)
	}
	w.Apply(linkedToAll(t), plan.Options{})
	again := w.Plan(linkedToAll(t), plan.Options{})
	for _, c := range again.Pending() {
		t.Errorf("%s %s: %s %v", c.Action, c.ID, c.Reason, c.Attributes)
	}
}

func TestOrderOfTheInputChangesNothing(t *testing.T) {
	want := planText(t, world.New(t, simulator.Options{}), linkedToAll(t))
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 7))
		e := linkedToAll(t)
		r.Shuffle(len(e.Gateways), func(i, j int) { e.Gateways[i], e.Gateways[j] = e.Gateways[j], e.Gateways[i] })
		if diff := cmp.Diff(want, planText(t, world.New(t, simulator.Options{}), e)); diff != "" {
			t.Fatalf("shuffled with seed %d (-want +got):\n%s", seed, diff)
		}
	}
}

func planText(t *testing.T, w *world.World, e vpn.Estate) string {
	t.Helper()
	p := w.Plan(e, plan.Options{})
	p.Input = nil
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	// what the server chose differs from world to world
	for _, o := range world.Snapshot(t, w) {
		text = []byte(strings.ReplaceAll(string(text), o.ID, o.Kind+" "+o.Text("name")))
	}
	return string(text)
}

// many is an estate of n IPsec gateways with four peers each.
func many(t testing.TB, n int) vpn.Estate {
	e := world.Estate(t)
	var model vpn.Gateway
	for _, g := range e.Gateways {
		if g.Owner.Kind == vpn.KindVPNGateway && g.Protocol == vpn.IPsec {
			model = g
		}
	}
	e.Gateways = nil
	e.ServiceCIDRPool = netip.MustParsePrefix("100.64.0.0/10")
	e.Pod.MaxGatewaysPerNode = n
	for i := range n {
		g := model
		g.Owner.Name = fmt.Sprintf("gw%05d", i)
		g.Peers = nil
		for p := range 4 {
			peer := model.Peers[0]
			peer.Name = fmt.Sprintf("peer%d", p)
			peer.ID = fmt.Sprintf("peer%d.example.org", p)
			peer.Address = netip.AddrFrom4([4]byte{198, 51, 100, byte(1 + p)})
			base := peer.Subnets[0]
			peer.Subnets = nil
			for range p {
				base = netip.PrefixFrom(last(base).Next(), base.Bits())
			}
			peer.Subnets = append(peer.Subnets, base)
			peer.Grants = &vpn.Grants{}
			for _, x := range g.Exposures {
				peer.Grants.Exposures = append(peer.Grants.Exposures, x.Name)
			}
			g.Peers = append(g.Peers, peer)
		}
		g.ReverseExposures = nil
		e.Gateways = append(e.Gateways, g)
	}
	return e
}

// last is the highest address of an IPv4 prefix.
func last(p netip.Prefix) netip.Addr {
	b := p.Addr().As4()
	host := uint32(1)<<(32-p.Bits()) - 1
	n := uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3]) | host
	return netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})
}

// large is a world with room for many gateways.
func large(t *testing.T) *world.World {
	return world.New(t, simulator.Options{
		RouteLimit: 1 << 20,
		Quota:      map[string]int{"port": -1, "security_group": -1, "security_group_rule": -1, "floatingip": -1},
		Seed:       simulator.Seed{SubnetCIDR: "10.128.0.0/16", FloatingIPCIDR: "11.0.0.0/16", Nodes: world.Nodes(t)},
	})
}

func TestPlanningCostsTheSameCallsAtAnySize(t *testing.T) {
	count := func(n int) int {
		w := large(t)
		e := many(t, n)
		if err := w.Run(t.Context(), e, plan.Options{}, 8); err != nil {
			t.Fatal(err)
		}
		w.Sim.Reset()
		if p := w.Plan(e, plan.Options{}); len(p.Pending()) > 0 {
			t.Fatalf("%d gateways: %d changes after an apply, the first %s: %s", n, len(p.Pending()), p.Pending()[0].ID, p.Pending()[0].Reason)
		}
		calls := 0
		for _, c := range w.Sim.Calls() {
			if !c.Keystone() {
				calls++
			}
			if c.Write() {
				t.Errorf("a plan wrote: %s %s", c.Method, c.Path)
			}
		}
		return calls
	}
	two, twoHundred := count(2), count(200)
	if twoHundred > two || two > 15 {
		t.Errorf("2 gateways: %d calls, 200 gateways: %d calls; want no more, and at most 15", two, twoHundred)
	}
	t.Logf("calls to plan an unchanged estate: %d for 2 gateways, %d for 200", two, twoHundred)
}

func TestTwoAppliesAtTheSameMoment(t *testing.T) {
	for round := range 20 {
		w := world.New(t, simulator.Options{})
		errs := make([]error, 2)
		var both sync.WaitGroup
		for i := range errs {
			both.Go(func() { errs[i] = w.Run(t.Context(), linkedToAll(t), plan.Options{}, 4) })
		}
		both.Wait()
		if errs[0] != nil && errs[1] != nil {
			t.Fatalf("round %d: neither got through: %v; %v", round, errs[0], errs[1])
		}
		w.Heal()
		w.Apply(linkedToAll(t), plan.Options{})
		want := world.New(t, simulator.Options{})
		want.Apply(linkedToAll(t), plan.Options{})
		want.Heal()
		if diff := cmp.Diff(want.Look(), w.Look()); diff != "" {
			t.Fatalf("round %d (-one run +two at once; errors %v):\n%s", round, errs, diff)
		}
	}
}

// TestASuccessorTakesOverAPinnedAddress hands the first gateway's address and
// range to another name: the tree is whole after each run, and nobody else's
// address moves.
func TestASuccessorTakesOverAPinnedAddress(t *testing.T) {
	w := world.New(t, simulator.Options{})
	w.Apply(world.Estate(t), plan.Options{})
	first := world.Estate(t).Gateways[0]
	var address netip.Addr
	for _, f := range world.Snapshot(t, w).Of("floating-ip") {
		if strings.Contains(f.Text("description"), first.Owner.String()) {
			address = netip.MustParseAddr(f.Text("floating_ip_address"))
			world.NewClient(w).Put("floatingips/"+f.ID+"/tags", map[string]any{"tags": []string{}}) // it becomes the customer's
			world.NewClient(w).Put("floatingips/"+f.ID, map[string]any{"floatingip": map[string]any{"description": "customer's"}})
		}
	}
	e := world.Estate(t)
	e.Gateways[0].FloatingIP = address
	w.Apply(e, plan.Options{})
	next := e.Gateways[0]
	next.Owner.Name, next.Manifests = "dc9", nil
	next.ServiceCIDR = netip.MustParsePrefix("100.64.0.0/24")
	e.Gateways = append(e.Gateways[1:], next)
	for range 3 {
		w.Apply(e, plan.Options{Prune: true})
		w.Whole()
		w.Pass(time.Hour)
	}
	if p := w.Plan(e, plan.Options{Prune: true}); len(p.Changes) > 0 {
		t.Errorf("three runs later %s: %s %s", p.Changes[0].ID, p.Changes[0].Reason, p.Changes[0].Held)
	}
	for _, f := range world.Snapshot(t, w).Of("floating-ip") {
		if f.Text("floating_ip_address") == address.String() && f.Text("port_id") == "" {
			t.Error("the address was handed over to nobody")
		}
	}
}

// TestTheTreeIsWholeWhenAGatewayFails removes one gateway while another can't be
// made: the index lists what stands.
func TestTheTreeIsWholeWhenAGatewayFails(t *testing.T) {
	w := world.New(t, simulator.Options{})
	w.Apply(world.Estate(t), plan.Options{})
	e := world.Estate(t)
	next := e.Gateways[0]
	next.Owner.Name, next.Manifests = "dc9", nil
	e.Gateways = append(e.Gateways[1:], next)
	w.Disturb(func(_ int, r *http.Request) simulator.Fault {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/floatingips") {
			return simulator.Fault{Do: simulator.Fail, Status: 409, Type: "OverQuota", Message: "Quota exceeded for resources: ['floatingip']."}
		}
		return simulator.Fault{}
	})
	if err := w.Run(t.Context(), e, plan.Options{Prune: true}, 2); err == nil {
		t.Fatal("the quota was not met")
	}
	w.Whole()
	w.Heal()
	w.Apply(e, plan.Options{Prune: true})
	w.Whole()
}
