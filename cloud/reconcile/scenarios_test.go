package reconcile_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/cloud/reconcile/world"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// step is one run of a scenario; its estate may depend on what there is by then.
type step struct {
	estate  func(w *world.World) vpn.Estate
	options plan.Options
}

// run is a step whose estate is known.
type run struct {
	estate  vpn.Estate
	options plan.Options
}

// life is what an estate goes through; the last step is the one that is
// disturbed.
type life struct {
	steps []step
	back  bool // the run after it goes back to the step before
	fatal bool // by what ends it, or one gateway's part in it, alone
}

// day outlasts the time that a dead run's lock takes to expire.
const day = 24 * time.Hour

var (
	made     = step{anywhere(world.Estate), plan.Options{}}
	draining = step{anywhere(fewer), plan.Options{Prune: true, Hold: day}}
)

var scenarios = map[string]life{
	"create":            {steps: []step{made}},
	"update":            {steps: []step{made, {anywhere(changed), plan.Options{}}}},
	"move":              {steps: []step{made, {anywhere(moved), plan.Options{}}}},
	"renumber":          {steps: []step{made, {at("10.77.0.0/24"), plan.Options{}}}},
	"renumber and back": {steps: []step{{at("100.64.0.0/24"), plan.Options{}}, {at("10.77.0.0/24"), plan.Options{}}}, back: true},
	"pin":               {steps: []step{made, {pinned, plan.Options{}}}},
	"another pin":       {steps: []step{{customers("one"), plan.Options{}}, {customers("two"), plan.Options{}}}},
	"drain":             {steps: []step{made, draining}},
	"rejoin":            {steps: []step{made, draining, made}},
	"prune":             {steps: []step{made, draining, {anywhere(fewer), plan.Options{Prune: true, PodsGone: true}}}},
	"take over":         {steps: []step{{anywhere(firstExposure), plan.Options{}}, made, {anywhere(succeeded), plan.Options{Prune: true, Hold: day}}, {anywhere(succeeded), plan.Options{Prune: true, PodsGone: true}}}},
	"adopt":             {steps: []step{{renumbered, plan.Options{}}, {fromOperator, plan.Options{}}}},
	"peer":              {steps: []step{made, {anywhere(withoutPeer), plan.Options{Prune: true}}}},
}

// anywhere is for estates that don't depend on what there is.
func anywhere(e func(t testing.TB) vpn.Estate) func(w *world.World) vpn.Estate {
	return func(w *world.World) vpn.Estate { return e(w.T) }
}

// pinned pins the floating IP that the first gateway has.
func pinned(w *world.World) vpn.Estate {
	e := world.Estate(w.T)
	for _, f := range world.Snapshot(w.T, w).Of("floating-ip") {
		if strings.Contains(f.Text("description"), e.Gateways[0].Owner.String()) {
			e.Gateways[0].FloatingIP = netip.MustParseAddr(f.Text("floating_ip_address"))
		}
	}
	if !e.Gateways[0].FloatingIP.IsValid() {
		w.T.Fatal("the first gateway has no floating IP")
	}
	return e
}

// customers pins a floating IP that the customer has taken.
func customers(name string) func(w *world.World) vpn.Estate {
	return func(w *world.World) vpn.Estate {
		e := world.Estate(w.T)
		var pool string
		for _, n := range world.Snapshot(w.T, w).Of("network") {
			if n.Text("name") == e.OpenStack.FloatingIPPool {
				pool = n.ID
			}
		}
		id := world.NewClient(w).Post("floatingips", "floatingip", map[string]any{"floating_network_id": pool, "description": "customer's " + name})
		for _, f := range world.Snapshot(w.T, w).Of("floating-ip") {
			if f.ID == id {
				e.Gateways[0].FloatingIP = netip.MustParseAddr(f.Text("floating_ip_address"))
			}
		}
		return e
	}
}

// at pins the service CIDR of the first gateway, to which a route leads.
func at(cidr string) func(w *world.World) vpn.Estate {
	return func(w *world.World) vpn.Estate {
		e := world.Estate(w.T)
		e.Gateways[0].ServiceCIDR = netip.MustParsePrefix(cidr)
		if len(e.Gateways[0].ReverseExposures) == 0 {
			w.T.Fatal("no route leads to the first gateway's range")
		}
		return e
	}
}

// changed adds and removes exposures, moves a peer and grants another access.
func changed(t testing.TB) vpn.Estate {
	e := world.Estate(t)
	for i := range e.Gateways {
		g := &e.Gateways[i]
		if len(g.Exposures) > 1 {
			g.Exposures = g.Exposures[:len(g.Exposures)-1]
			dropGrants(g)
		}
		switch len(g.ReverseExposures) {
		case 0:
		default:
			g.ReverseExposures = nil
			dropGrants(g)
		}
		if g.Protocol == vpn.IPsec {
			g.Peers[0].Address = g.Peers[0].Address.Next()
		}
	}
	return e
}

// dropGrants takes grants away whose exposure has gone.
func dropGrants(g *vpn.Gateway) {
	names := map[string]bool{}
	for _, x := range append(append([]vpn.Exposure{}, g.Exposures...), g.ReverseExposures...) {
		names[x.Name] = true
	}
	keep := func(list []string) (kept []string) {
		for _, n := range list {
			if names[n] {
				kept = append(kept, n)
			}
		}
		return kept
	}
	for i, p := range g.Peers {
		if p.Grants != nil {
			g.Peers[i].Grants = &vpn.Grants{Exposures: keep(p.Grants.Exposures), ReverseExposures: keep(p.Grants.ReverseExposures)}
		}
	}
}

// moved takes the node away that carries the first gateway.
func moved(t testing.TB) vpn.Estate {
	e := world.Estate(t)
	e.Kubernetes.Nodes = e.Kubernetes.Nodes[1:]
	return e
}

// fewer has lost its first gateway's manifests.
func fewer(t testing.TB) vpn.Estate {
	e := world.Estate(t)
	e.Gateways = e.Gateways[1:]
	return e
}

// firstExposure has the exposure of the first gateway alone that comes last by name:
// its virtual IP is another than when all come at once.
func firstExposure(t testing.TB) vpn.Estate {
	e := world.Estate(t)
	g := &e.Gateways[0]
	if len(g.Exposures) < 2 {
		t.Fatal("the first gateway has too few exposures")
	}
	g.Exposures = g.Exposures[len(g.Exposures)-1:]
	dropGrants(g)
	return e
}

// succeeded has another gateway in the place of the first one, which pins its range.
func succeeded(t testing.TB) vpn.Estate {
	e := world.Estate(t)
	next := e.Gateways[0]
	next.Owner.Name, next.Manifests = "dc9", nil
	next.ServiceCIDR = netip.MustParsePrefix("100.64.0.0/24")
	e.Gateways = append(e.Gateways[1:], next)
	return e
}

// withoutPeer has lost a peer of the WireGuard gateway.
func withoutPeer(t testing.TB) vpn.Estate {
	e := world.Estate(t)
	for i := range e.Gateways {
		if g := &e.Gateways[i]; g.Protocol == vpn.WireGuard {
			g.Peers = g.Peers[1:]
		}
	}
	return e
}
