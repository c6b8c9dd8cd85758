package reconcile_test

import (
	"net/netip"

	"github.com/vpnctl/vpnctl/cloud/reconcile/world"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// places are scenarios in which gateways get their nodes beside others that go,
// move or fail.
func places() map[string]life {
	return map[string]life{
		"new ones on fewer nodes": placing(crew(2, "a", "b", "c"), plan.Options{}),
		"new ones beside gateways of another estate": placing(crew(3, "a", "b"), plan.Options{},
			step{named("elsewhere", crew(1, "x", "y")), plan.Options{Only: plan.OnlyCloud}}),
		"a node goes": placing(nodesFrom(1, crew(3, "a", "b", "c", "d", "e", "new")), plan.Options{},
			step{crew(3, "a", "b", "c", "d", "e"), plan.Options{}}),
		"a new one beside one that drains": placing(heir("new", free, crew(3, "a", "c")), plan.Options{Prune: true, Hold: day},
			step{crew(3, "a", "b", "c"), plan.Options{}}),
		"a new one beside the end of another": placing(heir("new", free, crew(3, "a", "c")), plan.Options{Prune: true, PodsGone: true},
			step{crew(3, "a", "b", "c"), plan.Options{}},
			step{crew(3, "a", "c"), plan.Options{Prune: true, Hold: day}}),
		"an heir where every node is full": placing(full(1, heir("new", 1, crew(2, "a"))), plan.Options{Prune: true, PodsGone: true},
			step{full(1, crew(2, "a", "b")), plan.Options{}},
			step{full(1, crew(2, "a")), plan.Options{Prune: true, Hold: day}}),
		"a new one where every node is full": placing(full(1, heir("new", free, crew(2, "a"))), plan.Options{Prune: true, PodsGone: true},
			step{full(1, crew(2, "a", "b")), plan.Options{}},
			step{full(1, crew(2, "a")), plan.Options{Prune: true, Hold: day}}),
		"another network": placing(renetted(oneWay(crew(3, "b", "c"))), plan.Options{},
			step{oneWay(crew(3, "a", "b", "c")), plan.Options{}},
			step{oneWay(crew(3, "b", "c")), plan.Options{Prune: true, Hold: day}},
			step{oneWay(crew(3, "b", "c")), plan.Options{Prune: true, PodsGone: true}}),
		"another network, and routes":          placing(renetted(crew(3, "b", "c")), plan.Options{}, step{crew(3, "b", "c"), plan.Options{}}),
		"an heir on as many nodes as gateways": ending(crew(3, "a", "b", "c"), crew(3, "a", "c"), 1),
		"an heir on fewer nodes":               ending(crew(2, "a", "b", "c"), crew(2, "b", "c"), 0),
		"an heir of one that is alone":         ending(crew(2, "a", "b", "c"), crew(2, "a", "b"), 2),
	}
}

// free is a range that nobody had. New gateways beside one that goes pin it: once the
// range of that one is free, it may be the one that is chosen.
const free = 50

// ending is the end of the n-th gateway and the beginning of its heir.
func ending(all, rest func(w *world.World) vpn.Estate, n int) life {
	return placing(heir("new", n, rest), plan.Options{Prune: true, PodsGone: true},
		step{all, plan.Options{}}, step{rest, plan.Options{Prune: true, Hold: day}})
}

// placing is a life whose last run is disturbed by what ends it, or one gateway's
// part in it: where gateways are placed depends on nothing else.
func placing(last func(w *world.World) vpn.Estate, o plan.Options, before ...step) life {
	return life{steps: append(before, step{last, o}), fatal: true}
}

// crew is an estate of small gateways with these names, on the first few nodes.
func crew(nodes int, names ...string) func(w *world.World) vpn.Estate {
	return func(w *world.World) vpn.Estate {
		e := world.Estate(w.T)
		model := e.Gateways[0]
		model.Manifests = nil
		e.Gateways = nil
		for _, name := range names {
			g := model
			g.Owner.Name = name
			e.Gateways = append(e.Gateways, g)
		}
		e.Kubernetes.Nodes = e.Kubernetes.Nodes[:nodes]
		return e
	}
}

// heir adds a gateway that pins the n-th range of the pool.
func heir(name string, n int, base func(w *world.World) vpn.Estate) func(w *world.World) vpn.Estate {
	return func(w *world.World) vpn.Estate {
		e := base(w)
		g := e.Gateways[0]
		g.Owner.Name = name
		g.ServiceCIDR = netip.PrefixFrom(netip.AddrFrom4([4]byte{100, 64, byte(n), 0}), 24)
		e.Gateways = append(e.Gateways, g)
		return e
	}
}

// full lets a node carry so many gateways.
func full(most int, base func(w *world.World) vpn.Estate) func(w *world.World) vpn.Estate {
	return func(w *world.World) vpn.Estate {
		e := base(w)
		e.Pod.MaxGatewaysPerNode = most
		return e
	}
}

// named is the same estate under another name, and in a pool of its own.
func named(name string, base func(w *world.World) vpn.Estate) func(w *world.World) vpn.Estate {
	return func(w *world.World) vpn.Estate {
		e := base(w)
		e.Name, e.ServiceCIDRPool = name, netip.MustParsePrefix("100.80.0.0/16")
		return e
	}
}

// nodesFrom takes the first nodes away.
func nodesFrom(n int, base func(w *world.World) vpn.Estate) func(w *world.World) vpn.Estate {
	return func(w *world.World) vpn.Estate {
		e := base(w)
		e.Kubernetes.Nodes = e.Kubernetes.Nodes[n:]
		return e
	}
}

// oneWay has no reverse exposures, and so no routes.
func oneWay(base func(w *world.World) vpn.Estate) func(w *world.World) vpn.Estate {
	return func(w *world.World) vpn.Estate {
		e := base(w)
		for i := range e.Gateways {
			e.Gateways[i].ReverseExposures = nil
			dropGrants(&e.Gateways[i])
		}
		return e
	}
}

// renetted has its ports on another network, which is made for that.
func renetted(base func(w *world.World) vpn.Estate) func(w *world.World) vpn.Estate {
	return func(w *world.World) vpn.Estate {
		e, c := base(w), world.NewClient(w)
		e.OpenStack.Network = c.Post("networks", "network", map[string]any{"name": "transit-2"})
		subnet := c.Post("subnets", "subnet", map[string]any{"name": "transit-2", "network_id": e.OpenStack.Network, "ip_version": 4, "cidr": "10.99.0.0/24"})
		for _, r := range world.Snapshot(w.T, w).Of("router") {
			if r.Text("name") == e.OpenStack.Router {
				c.Put("routers/"+r.ID+"/add_router_interface", map[string]any{"subnet_id": subnet})
			}
		}
		return e
	}
}
