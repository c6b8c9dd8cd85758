package reconcile_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

func TestWhatWasAppliedPlansEmpty(t *testing.T) {
	w := newWorld(t, simulator.Options{})
	p := w.plan(estate(t), plan.Options{})
	if len(p.Refusals) > 0 || len(p.Pending()) == 0 {
		t.Fatalf("plan of a new estate: %d changes, refusals %v", len(p.Pending()), p.Refusals)
	}
	w.apply(estate(t), plan.Options{})
	again := w.plan(estate(t), plan.Options{})
	for _, c := range again.Pending() {
		t.Errorf("%s %s: %s %v", c.Action, c.ID, c.Reason, c.Attributes)
	}
}

func TestOrderOfTheInputChangesNothing(t *testing.T) {
	want := planText(t, newWorld(t, simulator.Options{}), estate(t))
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 7))
		e := estate(t)
		r.Shuffle(len(e.Gateways), func(i, j int) { e.Gateways[i], e.Gateways[j] = e.Gateways[j], e.Gateways[i] })
		if diff := cmp.Diff(want, planText(t, newWorld(t, simulator.Options{}), e)); diff != "" {
			t.Fatalf("shuffled with seed %d (-want +got):\n%s", seed, diff)
		}
	}
}

func planText(t *testing.T, w *world, e vpn.Estate) string {
	t.Helper()
	p := w.plan(e, plan.Options{})
	p.Input = nil
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	// what the server chose differs from world to world
	for _, o := range snapshot(t, w) {
		text = []byte(strings.ReplaceAll(string(text), o.ID, o.Kind+" "+o.Text("name")))
	}
	return string(text)
}

func snapshot(t testing.TB, w *world) simulator.Snapshot {
	t.Helper()
	s, err := w.sim.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// many is an estate of n IPsec gateways with four peers each.
func many(t testing.TB, n int) vpn.Estate {
	e := estate(t)
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
func large(t *testing.T) *world {
	return newWorld(t, simulator.Options{
		RouteLimit: 1 << 20,
		Quota:      map[string]int{"port": -1, "security_group": -1, "security_group_rule": -1, "floatingip": -1},
		Seed:       simulator.Seed{SubnetCIDR: "10.128.0.0/16", FloatingIPCIDR: "11.0.0.0/16", Nodes: nodes(t)},
	})
}

func nodes(t testing.TB) []simulator.Node {
	var all []simulator.Node
	for _, n := range estate(t).Kubernetes.Nodes {
		all = append(all, simulator.Node{Name: n.Name, ServerID: n.ServerID})
	}
	return all
}

func TestPlanningCostsTheSameCallsAtAnySize(t *testing.T) {
	count := func(n int) int {
		w := large(t)
		e := many(t, n)
		if err := w.run(t.Context(), e, plan.Options{}, 8); err != nil {
			t.Fatal(err)
		}
		w.sim.Reset()
		if p := w.plan(e, plan.Options{}); len(p.Pending()) > 0 {
			t.Fatalf("%d gateways: %d changes after an apply, the first %s: %s", n, len(p.Pending()), p.Pending()[0].ID, p.Pending()[0].Reason)
		}
		calls := 0
		for _, c := range w.sim.Calls() {
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
		w := newWorld(t, simulator.Options{})
		errs := make([]error, 2)
		var both sync.WaitGroup
		for i := range errs {
			both.Go(func() { errs[i] = w.run(t.Context(), estate(t), plan.Options{}, 4) })
		}
		both.Wait()
		if errs[0] != nil && errs[1] != nil {
			t.Fatalf("round %d: neither got through: %v; %v", round, errs[0], errs[1])
		}
		w.heal()
		w.apply(estate(t), plan.Options{})
		want := newWorld(t, simulator.Options{})
		want.apply(estate(t), plan.Options{})
		want.heal()
		if diff := cmp.Diff(want.look(), w.look()); diff != "" {
			t.Fatalf("round %d (-one run +two at once; errors %v):\n%s", round, errs, diff)
		}
	}
}

// TestForeignObjectsAreLeftAlone fills the project with look-alikes and wants
// every one of them byte for byte as it was after apply, update and prune.
func TestForeignObjectsAreLeftAlone(t *testing.T) {
	w := newWorld(t, simulator.Options{})
	w.apply(estate(t), plan.Options{})
	foreign := w.plant()
	before := w.only(foreign)
	readme := filepath.Join(w.tree, "acme", "README.md")
	if err := os.WriteFile(readme, []byte("ours\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if p := w.plan(estate(t), plan.Options{}); len(p.Pending()) > 0 {
		t.Errorf("look-alikes make changes: %s: %s", p.Pending()[0].ID, p.Pending()[0].Reason)
	}
	w.apply(estate(t), plan.Options{})
	w.apply(changed(t), plan.Options{})
	w.apply(fewer(t), plan.Options{Prune: true})
	w.apply(fewer(t), plan.Options{Prune: true, PodsGone: true})
	if diff := cmp.Diff(before, w.only(foreign)); diff != "" {
		t.Errorf("foreign objects changed (-before +after):\n%s", diff)
	}
	if content, err := os.ReadFile(readme); err != nil || string(content) != "ours\n" {
		t.Errorf("a file of another hand in the tree: %q, %v", content, err)
	}
}

// TestASuccessorTakesOverAPinnedAddress hands the first gateway's address and
// range to another name: the tree is whole after each run, and nobody else's
// address moves.
func TestASuccessorTakesOverAPinnedAddress(t *testing.T) {
	w := newWorld(t, simulator.Options{})
	w.apply(estate(t), plan.Options{})
	first := estate(t).Gateways[0]
	var address netip.Addr
	for _, f := range snapshot(t, w).Of("floating-ip") {
		if strings.Contains(f.Text("description"), first.Owner.String()) {
			address = netip.MustParseAddr(f.Text("floating_ip_address"))
			newClient(w).put("floatingips/"+f.ID+"/tags", map[string]any{"tags": []string{}}) // it becomes the customer's
			newClient(w).put("floatingips/"+f.ID, map[string]any{"floatingip": map[string]any{"description": "customer's"}})
		}
	}
	e := estate(t)
	e.Gateways[0].FloatingIP = address
	w.apply(e, plan.Options{})
	next := e.Gateways[0]
	next.Owner.Name, next.Manifests = "dc9", nil
	next.ServiceCIDR = netip.MustParsePrefix("100.64.0.0/24")
	e.Gateways = append(e.Gateways[1:], next)
	for range 3 {
		w.apply(e, plan.Options{Prune: true})
		w.whole()
		w.pass(time.Hour)
	}
	if p := w.plan(e, plan.Options{Prune: true}); len(p.Changes) > 0 {
		t.Errorf("three runs later %s: %s %s", p.Changes[0].ID, p.Changes[0].Reason, p.Changes[0].Held)
	}
	for _, f := range snapshot(t, w).Of("floating-ip") {
		if f.Text("floating_ip_address") == address.String() && f.Text("port_id") == "" {
			t.Error("the address was handed over to nobody")
		}
	}
}

// TestTheTreeIsWholeWhenAGatewayFails removes one gateway while another can't be
// made: the index lists what stands.
func TestTheTreeIsWholeWhenAGatewayFails(t *testing.T) {
	w := newWorld(t, simulator.Options{})
	w.apply(estate(t), plan.Options{})
	e := estate(t)
	next := e.Gateways[0]
	next.Owner.Name, next.Manifests = "dc9", nil
	e.Gateways = append(e.Gateways[1:], next)
	w.fault = func(_ int, r *http.Request) simulator.Fault {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/floatingips") {
			return simulator.Fault{Do: simulator.Fail, Status: 409, Type: "OverQuota", Message: "Quota exceeded for resources: ['floatingip']."}
		}
		return simulator.Fault{}
	}
	if err := w.run(t.Context(), e, plan.Options{Prune: true}, 2); err == nil {
		t.Fatal("the quota was not met")
	}
	w.whole()
	w.heal()
	w.apply(e, plan.Options{Prune: true})
	w.whole()
}

// plant makes objects that look like ours and returns their IDs.
func (w *world) plant() map[string]bool {
	w.t.Helper()
	planted := map[string]bool{}
	c := newClient(w)
	var network, router string
	for _, o := range snapshot(w.t, w) {
		switch {
		case o.Kind == "network" && o.Text("name") == "vpn-transit":
			network = o.ID
		case o.Kind == "router" && o.Text("name") == "gateway-router":
			router = o.ID
		}
	}
	ours := snapshot(w.t, w)
	for _, o := range ours {
		if !strings.HasPrefix(o.Text("name"), "vpnctl-") {
			continue
		}
		switch o.Kind {
		case "security-group": // the same name without tags, and with another estate's
			planted[c.post("security-groups", "security_group", map[string]any{"name": o.Text("name")})] = true
			id := c.post("security-groups", "security_group", map[string]any{"name": o.Text("name")})
			var tags []string
			for _, tag := range o.Tags() {
				tag = strings.ReplaceAll(tag, "estate=acme", "estate=other")
				if strings.Contains(tag, "service-cidr=") {
					tag = "vpn.bnerd.net/service-cidr=100.64.240.0/24"
				}
				tags = append(tags, tag)
			}
			c.put("security-groups/"+id+"/tags", map[string]any{"tags": tags})
			planted[id] = true
		case "port":
			planted[c.post("ports", "port", map[string]any{"network_id": network, "name": o.Text("name")})] = true
			id := c.post("ports", "port", map[string]any{"network_id": network, "name": o.Text("name")})
			c.put("ports/"+id+"/tags", map[string]any{"tags": []string{"vpn.bnerd.net/managed=somebody", "team=red"}})
			planted[id] = true
		}
	}
	c.put("routers/"+router+"/add_extraroutes", map[string]any{"router": map[string]any{"routes": []any{
		map[string]any{"destination": "192.168.77.0/24", "nexthop": "10.254.0.77"},
	}}})
	planted["route 192.168.77.0/24 10.254.0.77 on "+router] = true
	for _, o := range ours {
		if o.Kind == "security-group" && strings.HasPrefix(o.Text("name"), "vpnctl-") && !strings.Contains(o.Text("name"), "acme") {
			planted[c.post("security-group-rules", "security_group_rule", map[string]any{"security_group_id": o.ID, "direction": "ingress",
				"protocol": "tcp", "port_range_min": 22, "port_range_max": 22, "remote_ip_prefix": "192.0.2.0/24"})] = true
		}
	}
	return planted
}

// only is what exists of some objects, exactly as it is.
func (w *world) only(ids map[string]bool) []string {
	w.t.Helper()
	var all []string
	for _, o := range snapshot(w.t, w) {
		if ids[o.ID] {
			text, err := json.Marshal(o)
			if err != nil {
				w.t.Fatal(err)
			}
			all = append(all, string(text))
		}
		if o.Kind == "router" {
			for _, r := range o.Attributes["routes"].([]any) {
				route := r.(map[string]any)
				if name := fmt.Sprintf("route %s %s on %s", route["destination"], route["nexthop"], o.ID); ids[name] {
					all = append(all, name)
				}
			}
		}
	}
	return all
}
