package alloc_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

func ready(name string) resource.Node {
	return resource.Node{Name: name, ServerID: "s-" + name, Ready: true}
}

func closed(name string) resource.Node {
	n := ready(name)
	n.Closed = "cordoned"
	return n
}

func in(namespace, name string) vpn.Owner {
	o := owner(name)
	o.Namespace = namespace
	return o
}

func owners(names ...string) []vpn.Owner {
	var list []vpn.Owner
	for _, n := range names {
		list = append(list, owner(n))
	}
	return list
}

func TestPlace(t *testing.T) {
	for sentence, c := range map[string]struct {
		gateways []vpn.Owner
		nodes    []resource.Node
		attached map[vpn.Owner]string
		told     map[vpn.Owner]string
		others   map[string]int
		leaving  map[string]int
		max      int
		want     map[string]string // gateway → node
		crowded  []string
		problems []string
	}{
		"as many to each node, by name among equals": {
			gateways: owners("d", "c", "b", "a", "e"), nodes: []resource.Node{ready("n2"), ready("n1")}, max: 20,
			want: map[string]string{"a": "n1", "b": "n1", "c": "n1", "d": "n2", "e": "n2"},
		},
		"one to the node with the fewest gateways": {
			gateways: owners("a", "b", "c", "d"), nodes: []resource.Node{ready("n1"), ready("n2"), ready("n3")}, max: 20,
			attached: map[vpn.Owner]string{owner("a"): "s-n1", owner("b"): "s-n2", owner("d"): "s-n3"}, others: map[string]int{"s-n1": 1, "s-n3": 1},
			want: map[string]string{"a": "n1", "b": "n2", "c": "n2", "d": "n3"},
		},
		"the first gateways of all namespaces, then the second ones": {
			gateways: []vpn.Owner{in("ns1", "a"), in("ns1", "b"), in("ns2", "c"), in("ns2", "d")}, nodes: []resource.Node{ready("n1"), ready("n2")}, max: 20,
			want: map[string]string{"a": "n1", "c": "n1", "b": "n2", "d": "n2"},
		},
		"a gateway that leaves counts no more": {
			gateways: owners("a", "b"), nodes: []resource.Node{ready("n1"), ready("n2")}, max: 2,
			attached: map[vpn.Owner]string{owner("b"): "s-n2"}, leaving: map[string]int{"s-n1": 1},
			want: map[string]string{"a": "n1", "b": "n2"},
		},
		"but its node is crowded until then": {
			gateways: owners("a", "b", "c"), nodes: []resource.Node{ready("n1"), ready("n2")}, max: 2,
			attached: map[vpn.Owner]string{owner("b"): "s-n2"}, leaving: map[string]int{"s-n1": 2, "s-n2": 1},
			want: map[string]string{"a": "n1", "b": "n2", "c": "n1"}, crowded: []string{"s-n1"},
		},
		"gateways that are not in the list count": {
			gateways: owners("a", "b"), nodes: []resource.Node{ready("n1"), ready("n2")}, others: map[string]int{"s-n1": 1}, max: 20,
			want: map[string]string{"a": "n1", "b": "n2"},
		},
		"a gateway stays where it is attached, also above the maximum": {
			gateways: owners("a", "b", "c"), nodes: []resource.Node{ready("n1"), ready("n2")}, max: 1,
			attached: map[vpn.Owner]string{owner("b"): "s-n2", owner("c"): "s-n2"},
			want:     map[string]string{"a": "n1", "b": "n2", "c": "n2"},
		},
		"a gateway leaves a node that is not Ready, and one that is no node": {
			gateways: owners("a", "b"), nodes: []resource.Node{ready("n1"), {Name: "n2", ServerID: "s-n2"}}, max: 20,
			attached: map[vpn.Owner]string{owner("a"): "s-n2", owner("b"): "s-unknown"},
			want:     map[string]string{"a": "n1", "b": "n1"},
		},
		"a node that is closed keeps its gateways and gets no more": {
			gateways: owners("a", "b", "c"), nodes: []resource.Node{closed("n1"), ready("n2")}, max: 1,
			attached: map[vpn.Owner]string{owner("a"): "s-n1"},
			want:     map[string]string{"a": "n1", "b": "n2"},
			problems: []string{"c: no node can take the gateway: 1 of 2 nodes are usable and full: n2: 1 of 1 gateways; n1: cordoned"},
		},
		"where nobody can take it, the refusal says what was seen": {
			gateways: owners("a", "b"), max: 1,
			nodes: []resource.Node{
				{Name: "n3", Problem: `providerID "aws:///x" names no OpenStack server`}, ready("n1"),
				{Name: "n2", ServerID: "s-n2"}, {Name: "n4", Ready: true}, {Name: "n5", ServerID: "s-n1", Ready: true}, {Name: "n6"},
			},
			want: map[string]string{"a": "n1"},
			problems: []string{`b: no node can take the gateway: 1 of 6 nodes are usable and full: n1: 1 of 1 gateways; ` +
				`n2: not Ready, not schedulable or control plane; n3: providerID "aws:///x" names no OpenStack server; ` +
				`n4: its server is not known; n5: its server is s-n1, which is that of node n1, too; and 1 more`},
		},
		"of two nodes with one server it keeps its own, and who is new gets the first": {
			gateways: owners("a", "b", "c"), max: 20,
			nodes:    []resource.Node{ready("n2"), {Name: "n1", ServerID: "s-n2", Ready: true}, {Name: "n3", ServerID: "s-n2"}},
			attached: map[vpn.Owner]string{owner("a"): "s-n2", owner("c"): "s-n2"},
			told:     map[vpn.Owner]string{owner("a"): "n2", owner("c"): "n3"},
			want:     map[string]string{"a": "n2", "b": "n1", "c": "n1"},
		},
		"without a node there is no place": {
			gateways: owners("a"), max: 20, want: map[string]string{},
			problems: []string{"a: no node can take the gateway: there is no node"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			placed := alloc.Place(c.gateways, c.nodes, alloc.Tenants{Home: c.attached, Told: c.told, Others: c.others, Leaving: c.leaving, Most: c.max})
			got := map[string]string{}
			for o, n := range placed.Nodes {
				got[o.Name] = n.Name
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("nodes (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.crowded, slices.Sorted(maps.Keys(placed.Crowded))); diff != "" {
				t.Errorf("crowded servers (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.problems, messages(placed.Problems)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// crowd is a random site: nodes, gateways, and who is where.
func crowd(r *rand.Rand) (gateways []vpn.Owner, nodes []resource.Node, t alloc.Tenants) {
	for i := range 1 + r.IntN(6) {
		n := ready(fmt.Sprintf("n%d", i))
		if n.Ready = r.IntN(4) > 0; r.IntN(6) == 0 {
			n.Closed = "cordoned"
		}
		nodes = append(nodes, n)
	}
	server := func() string { return fmt.Sprintf("s-n%d", r.IntN(7)) }
	t = alloc.Tenants{Home: map[vpn.Owner]string{}, Others: map[string]int{"s-n0": r.IntN(5)}, Leaving: map[string]int{}, Most: 1 + r.IntN(8)}
	for i := range r.IntN(30) {
		o := in(fmt.Sprintf("ns%d", r.IntN(4)), fmt.Sprintf("g%02d", i))
		gateways = append(gateways, o)
		if r.IntN(3) == 0 {
			t.Home[o] = server()
		}
	}
	for range r.IntN(4) {
		t.Leaving[server()]++
	}
	return gateways, nodes, t
}

func TestPlacementIsEvenAndKnowsNoOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		gateways, nodes, tenants := crowd(r)
		placed := alloc.Place(gateways, nodes, tenants)
		again := alloc.Place(permuted(r, gateways), permuted(r, nodes), tenants)
		if diff := cmp.Diff(placed, again); diff != "" {
			t.Fatalf("the order of the input matters:\n%s", diff)
		}
		if len(placed.Nodes)+len(placed.Problems) != len(gateways) {
			t.Fatalf("%d placed, %d refused, of %d", len(placed.Nodes), len(placed.Problems), len(gateways))
		}
		count, moved := maps.Clone(tenants.Others), map[string]int{}
		for o, n := range placed.Nodes {
			if !n.Ready {
				t.Fatalf("%s on %s, which is not Ready", o, n.Name)
			}
			count[n.ServerID]++
			if tenants.Home[o] != n.ServerID {
				moved[n.ServerID]++
			}
		}
		for _, n := range nodes {
			if n.Closed != "" && moved[n.ServerID] > 0 {
				t.Fatalf("%s is %s and got some", n.Name, n.Closed)
			}
			if s := n.ServerID; moved[s] > 0 && count[s] > tenants.Most {
				t.Fatalf("%s was filled to %d of %d", n.Name, count[s], tenants.Most)
			} else if placed.Crowded[s] != (moved[s] > 0 && count[s]+tenants.Leaving[s] > tenants.Most) {
				t.Fatalf("%s with %d new, %d in all, %d leaving of %d: crowded is %v", n.Name, moved[s], count[s], tenants.Leaving[s], tenants.Most, placed.Crowded[s])
			}
			for _, o := range nodes {
				if o.Ready && o.Closed == "" && n.Ready && moved[n.ServerID] > 0 && count[o.ServerID] < min(count[n.ServerID]-1, tenants.Most) {
					t.Fatalf("%s got some and carries %d, %s carries %d", n.Name, count[n.ServerID], o.Name, count[o.ServerID])
				}
			}
			if len(placed.Problems) > 0 && n.Ready && n.Closed == "" && count[n.ServerID] < tenants.Most {
				t.Fatalf("refused, but %s carries %d of %d", n.Name, count[n.ServerID], tenants.Most)
			}
		}
	}
}

// TestPlacementGoesOnWhereItWasCutOff carries out any part of a placement, and any
// part of what leaves, and wants the rest to be placed as it was to be.
func TestPlacementGoesOnWhereItWasCutOff(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 1000 {
		gateways, nodes, tenants := crowd(r)
		whole := alloc.Place(gateways, nodes, tenants)
		for s, n := range tenants.Leaving {
			tenants.Leaving[s] = r.IntN(n + 1)
		}
		for _, o := range gateways {
			switch n, ok := whole.Nodes[o]; {
			case ok && r.IntN(2) == 0:
				tenants.Home[o] = n.ServerID
			case n.ServerID != tenants.Home[o] && r.IntN(3) == 0: // taken from there, and not yet here
				delete(tenants.Home, o)
			}
		}
		rest := alloc.Place(gateways, nodes, tenants)
		if diff := cmp.Diff(whole.Nodes, rest.Nodes); diff != "" {
			t.Fatalf("nodes (-at once +in two runs):\n%s", diff)
		}
		if diff := cmp.Diff(messages(whole.Problems), messages(rest.Problems)); diff != "" {
			t.Fatalf("problems (-at once +in two runs):\n%s", diff)
		}
	}
}
