package reconcile_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/vpnctl/vpnctl/cloud/reconcile/world"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

const manyLinks = 200

// perLink is the most calls that a new link may cost: of each of ledger, leg and route a
// look and the writes, and one route back to the gateway.
const perLink = 18

// TestManyLinksOnOneRouter makes links by the hundred in one run, while somebody else writes
// into the same router's list of routes.
func TestManyLinksOnOneRouter(t *testing.T) {
	w := world.New(t, simulator.Options{RouteLimit: manyLinks + 10})
	e := linkedMuch(w)
	c, router := world.NewClient(w), idOf(w, "router", "gateway-router")
	foreign := func(n int) {
		c.Put("routers/"+router+"/add_extraroutes", routes(fmt.Sprintf("192.0.2.%d/32", n), "10.254.0.230"))
	}
	for n := range 5 {
		foreign(n)
	}
	w.Sim.Reset()
	var sixth sync.Once
	var writer sync.WaitGroup
	w.Disturb(func(_ int, r *http.Request) simulator.Fault {
		if strings.HasSuffix(r.URL.Path, "add_extraroutes") {
			sixth.Do(func() { writer.Go(func() { foreign(5) }) })
		}
		return simulator.Fault{}
	})
	if err := w.Run(t.Context(), e, plan.Options{}, 8); err != nil {
		t.Fatal(err)
	}
	writer.Wait()
	w.Disturb(nil)
	calls := 0
	for _, call := range w.Sim.Calls() {
		if !call.Keystone() {
			calls++
		}
	}
	fmt.Printf("%d links in one run: %d calls, %.1f a link\n", manyLinks, calls, float64(calls)/manyLinks)
	if calls > manyLinks*perLink {
		t.Errorf("%d calls for %d links, want at most %d each", calls, manyLinks, perLink)
	}
	want := map[string]bool{}
	for n := range 6 {
		want[fmt.Sprintf("192.0.2.%d/32", n)] = true
	}
	for _, l := range e.Links {
		want[l.CIDR.String()] = true
	}
	got := destinations(w, router)
	for to := range want {
		if got[to] != 1 {
			t.Errorf("route to %s: %d times", to, got[to])
		}
	}
	for _, l := range e.Links {
		back := destinations(w, idOf(w, "router", l.Router))
		if len(back) != 1 {
			t.Errorf("%s leads to %v, want the one gateway", l.Router, back)
		}
	}
	if p := w.Plan(e, plan.Options{}); len(p.Changes)+len(p.Refusals) > 0 {
		t.Errorf("the second plan is not empty: %d changes, %v", len(p.Changes), p.Refusals)
	}
}

// TestTooManyRoutes: a router that holds no more of them says so in words, and what was
// made goes on from there once it may.
func TestTooManyRoutes(t *testing.T) {
	w := world.New(t, simulator.Options{})
	e := linkedMuch(w)
	e.Links = e.Links[:40]
	err := w.Run(t.Context(), e, plan.Options{}, 8)
	if err == nil || !strings.Contains(err.Error(), "the router holds as many routes as this cloud allows") {
		t.Fatalf("%.500v", err)
	}
	if got := len(destinations(w, idOf(w, "router", "gateway-router"))); got != 30 {
		t.Errorf("%d routes stand, want as many as fit", got)
	}
	e.Links = e.Links[:0]
	w.Apply(e, plan.Options{Prune: true, MaxDeletes: 100})
	if got := destinations(w, idOf(w, "router", "gateway-router")); len(got) != 1 { // the gateway's own
		t.Errorf("left over: %v", got)
	}
}

// linkedMuch has a gateway that is called on our side, and links by the hundred, each to a
// service cluster of its own.
func linkedMuch(w *world.World) vpn.Estate {
	e := world.EstateOf(w.T, "acme")
	c := world.NewClient(w)
	for n := range manyLinks {
		name := fmt.Sprintf("cluster-%03d", n)
		c.Post("routers", "router", map[string]any{"name": name})
		e.Links = append(e.Links, vpn.Link{
			Owner: vpn.Owner{Kind: vpn.KindClusterLink, Name: name}, Router: name,
			CIDR: netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 60, byte(n), 0}), 24),
		})
	}
	return e
}

func routes(to, hop string) map[string]any {
	return map[string]any{"router": map[string]any{"routes": []map[string]any{{"destination": to, "nexthop": hop}}}}
}

// idOf is the ID of the only object of a name.
func idOf(w *world.World, kind, name string) string {
	w.T.Helper()
	all := world.Snapshot(w.T, w).Of(kind)
	i := slices.IndexFunc(all, func(o simulator.Object) bool { return o.Text("name") == name })
	if i < 0 {
		w.T.Fatalf("no %s %s", kind, name)
	}
	return all[i].ID
}

// destinations are a router's, each with how often it stands there.
func destinations(w *world.World, router string) map[string]int {
	w.T.Helper()
	all := map[string]int{}
	for _, o := range world.Snapshot(w.T, w).Of("router") {
		if o.ID != router {
			continue
		}
		for _, r := range o.Attributes["routes"].([]any) {
			all[r.(map[string]any)["destination"].(string)]++
		}
	}
	return all
}
