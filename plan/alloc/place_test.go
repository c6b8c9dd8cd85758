package alloc_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

func ready(name string) resource.Node {
	return resource.Node{Name: name, ServerID: "s-" + name, Ready: true}
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
		others   map[string]int
		max      int
		want     map[string]string // gateway → node
		problems []string
	}{
		"one by one to the node with the fewest gateways, by name among equals": {
			gateways: owners("d", "c", "b", "a", "e"), nodes: []resource.Node{ready("n2"), ready("n1")}, max: 20,
			want: map[string]string{"a": "n1", "b": "n2", "c": "n1", "d": "n2", "e": "n1"},
		},
		"gateways that are not in the list count": {
			gateways: owners("a", "b"), nodes: []resource.Node{ready("n1"), ready("n2")}, others: map[string]int{"s-n1": 1}, max: 20,
			want: map[string]string{"a": "n2", "b": "n1"},
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
		"where nobody can take it, the refusal says what was seen": {
			gateways: owners("a", "b"), max: 1,
			nodes: []resource.Node{
				{Name: "n3", Problem: `providerID "aws:///x" names no OpenStack server`}, ready("n1"),
				{Name: "n2", ServerID: "s-n2"}, {Name: "n4", Ready: true}, {Name: "n5", ServerID: "s-n1", Ready: true}, {Name: "n6"},
			},
			want: map[string]string{"a": "n1"},
			problems: []string{`b: no node can take the gateway: 1 of 6 nodes are usable and full: n1: 1 of 1 gateways; ` +
				`n2: not Ready, not schedulable or control plane; n3: providerID "aws:///x" names no OpenStack server; ` +
				`n4: its server is not known; n5: the same server as another node; and 1 more`},
		},
		"without a node there is no place": {
			gateways: owners("a"), max: 20, want: map[string]string{},
			problems: []string{"a: no node can take the gateway: there is no node"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			placed, problems := alloc.Place(c.gateways, c.nodes, c.attached, c.others, c.max)
			got := map[string]string{}
			for o, n := range placed {
				got[o.Name] = n.Name
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("nodes (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.problems, messages(problems)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPlacementIsEvenStickyAndKnowsNoOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		var nodes []resource.Node
		for i := range 1 + r.IntN(6) {
			n := ready(fmt.Sprintf("n%d", i))
			n.Ready = r.IntN(4) > 0
			nodes = append(nodes, n)
		}
		var gateways []vpn.Owner
		attached, others := map[vpn.Owner]string{}, map[string]int{"s-n0": r.IntN(5)}
		for i := range r.IntN(30) {
			gateways = append(gateways, owner(fmt.Sprintf("g%02d", i)))
			if r.IntN(3) == 0 {
				attached[gateways[i]] = fmt.Sprintf("s-n%d", r.IntN(7))
			}
		}
		limit := 1 + r.IntN(8)
		placed, problems := alloc.Place(gateways, nodes, attached, others, limit)
		again, problemsAgain := alloc.Place(permuted(r, gateways), permuted(r, nodes), attached, others, limit)
		if diff := cmp.Diff(placed, again) + cmp.Diff(problems, problemsAgain); diff != "" {
			t.Fatalf("the order of the input matters:\n%s", diff)
		}
		if len(placed)+len(problems) != len(gateways) {
			t.Fatalf("%d placed, %d refused, of %d", len(placed), len(problems), len(gateways))
		}
		count := maps.Clone(others)
		moved := map[string]bool{}
		for o, n := range placed {
			if !n.Ready {
				t.Fatalf("%s on %s, which is not Ready", o, n.Name)
			}
			count[n.ServerID]++
			moved[n.ServerID] = moved[n.ServerID] || attached[o] != n.ServerID
		}
		for _, n := range nodes {
			if moved[n.ServerID] && count[n.ServerID] > limit {
				t.Fatalf("%s was filled to %d of %d", n.Name, count[n.ServerID], limit)
			}
			if len(problems) > 0 && n.Ready && count[n.ServerID] < limit {
				t.Fatalf("refused, but %s carries %d of %d", n.Name, count[n.ServerID], limit)
			}
		}
		for o, n := range again {
			attached[o] = n.ServerID
		}
		settled, _ := alloc.Place(gateways, nodes, attached, others, limit)
		for o, n := range placed {
			if settled[o] != n {
				t.Fatalf("%s moved from %s to %s without a reason", o, n.Name, settled[o].Name)
			}
		}
	}
}
