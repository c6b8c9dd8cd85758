package alloc

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Tenants are who is on the nodes, by server.
type Tenants struct {
	Home    map[vpn.Owner]string // where each gateway is now; missing: nowhere
	Told    map[vpn.Owner]string // the name that its node has, where several nodes have its server
	Others  map[string]int       // gateways that are not placed here and stay
	Leaving map[string]int       // gateways that this run removes
	Most    int                  // how many gateways a node may carry
}

// Placement says where gateways go.
type Placement struct {
	Nodes map[vpn.Owner]resource.Node
	// Crowded are the servers that would carry more than they may until those that
	// leave are gone: whoever is new there has to wait for that.
	Crowded  map[string]bool
	Problems []Problem // of gateways that found no place
}

// Place chooses a node for every gateway, whatever order the list has. A gateway
// stays while its node is Ready, even on a crowded or closed one, and though another node
// says that it has the same server. The others are spread so
// that the nodes with the fewest gateways, by name among equals, get them.
//
// A run that was cut off is made up for by one that finds some of those gateways
// on their nodes, and some of those that leave gone. So that it places the rest as
// they were to be,
//
//   - who leaves counts no more, also while it is there
//   - first it is settled how many each node gets, then the gateways fill the nodes
//     in one order, which doesn't depend on who is placed already: taking away
//     those that are there leaves each of the rest its node.
//
// In that order the first gateway of every namespace comes before the second of any,
// so that the gateways of one customer don't share a node needlessly.
func Place(gateways []vpn.Owner, nodes []resource.Node, t Tenants) Placement {
	p := newSpread(nodes, t)
	placed := Placement{Nodes: make(map[vpn.Owner]resource.Node, len(gateways)), Crowded: map[string]bool{}}
	var waiting []vpn.Owner
	for _, o := range turns(gateways) {
		if i, ok := p.byServer[t.Home[o]]; ok {
			placed.Nodes[o] = p.ready[i]
			if twin, is := p.twins[t.Told[o]]; is && twin.ServerID == p.ready[i].ServerID {
				placed.Nodes[o] = twin
			}
			p.count[i]++
		} else {
			waiting = append(waiting, o)
		}
	}
	free := p.fill(len(waiting))
	for i, o := range waiting {
		if i >= len(free) {
			placed.Problems = append(placed.Problems, Problem{Owner: o, Message: p.refusal(), Hint: p.hint()})
			continue
		}
		node, n := p.ready[free[i]], p.count[free[i]]
		placed.Nodes[o] = node
		if n+t.Leaving[node.ServerID] > p.most {
			placed.Crowded[node.ServerID] = true
		}
	}
	slices.SortFunc(placed.Problems, func(a, b Problem) int { return a.Owner.Compare(b.Owner) })
	return placed
}

// turns is the order in which gateways fill the nodes.
func turns(gateways []vpn.Owner) []vpn.Owner {
	sorted := slices.SortedFunc(slices.Values(gateways), vpn.Owner.Compare)
	turn := make(map[vpn.Owner]int, len(sorted))
	before := map[string]int{} // gateways by namespace
	for _, o := range sorted {
		turn[o] = before[o.Namespace]
		before[o.Namespace]++
	}
	slices.SortStableFunc(sorted, func(a, b vpn.Owner) int { return turn[a] - turn[b] })
	return sorted
}

// spread is how many gateways each node carries.
type spread struct {
	most     int
	ready    []resource.Node // sorted by name
	count    []int           // gateways on each of them
	byServer map[string]int
	twins    map[string]resource.Node // Ready ones whose server is that of an earlier one, by name
	unfit    []string                 // why each other node can't be used
}

func newSpread(nodes []resource.Node, t Tenants) *spread {
	p := &spread{most: t.Most, byServer: map[string]int{}, twins: map[string]resource.Node{}}
	sorted := slices.SortedFunc(slices.Values(nodes), func(a, b resource.Node) int { return strings.Compare(a.Name, b.Name) })
	for _, n := range sorted {
		twin, known := p.byServer[n.ServerID]
		switch {
		case n.Problem != "":
			p.unfit = append(p.unfit, fmt.Sprintf("%s: %s", n.Name, n.Problem))
		case n.ServerID == "":
			p.unfit = append(p.unfit, fmt.Sprintf("%s: its server is not known", n.Name))
		case !n.Ready:
			p.unfit = append(p.unfit, fmt.Sprintf("%s: not Ready, not schedulable or control plane", n.Name))
		case known:
			p.twins[n.Name] = n
			p.unfit = append(p.unfit, fmt.Sprintf("%s: its server is %s, which is that of node %s, too", n.Name, n.ServerID, p.ready[twin].Name))
		default:
			p.byServer[n.ServerID] = len(p.ready)
			p.ready = append(p.ready, n)
			p.count = append(p.count, t.Others[n.ServerID])
		}
	}
	return p
}

// fill gives n places to the nodes, or as many as there are, each to the one with
// the fewest gateways. It returns the places' nodes in the order of their names.
func (p *spread) fill(n int) []int {
	var places []int
	for range n {
		i, ok := p.emptiest()
		if !ok {
			break
		}
		p.count[i]++
		places = append(places, i)
	}
	slices.Sort(places)
	return places
}

func (p *spread) emptiest() (int, bool) {
	best := -1
	for i, n := range p.count {
		if n < p.most && p.ready[i].Closed == "" && (best < 0 || n < p.count[best]) {
			best = i
		}
	}
	return best, best >= 0
}

// seen is how many nodes a refusal names.
const seen = 5

// refusal says what was seen of every node, or of the first few.
func (p *spread) refusal() string {
	if len(p.ready)+len(p.unfit) == 0 {
		return "no node can take the gateway: there is no node"
	}
	var words, closed []string
	for i, n := range p.ready {
		if n.Closed != "" {
			closed = append(closed, n.Name+": "+n.Closed)
			continue
		}
		words = append(words, fmt.Sprintf("%s: %d of %d gateways", n.Name, p.count[i], p.most))
	}
	usable := len(words)
	words = slices.Concat(words, closed, p.unfit)
	if more := len(words) - seen; more > 0 {
		words = append(words[:seen], fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("no node can take the gateway: %d of %d nodes are usable and full: %s",
		usable, len(p.ready)+len(p.unfit), strings.Join(words, "; "))
}

// hint says what helps against a refusal.
func (p *spread) hint() string {
	if len(p.ready) > 0 {
		return "add a node, or raise spec.gatewayPod.maxGatewaysPerNode"
	}
	return "add a node that can carry gateways"
}
