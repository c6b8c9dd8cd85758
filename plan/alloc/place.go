package alloc

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Place chooses a node for every gateway. Attached says which server holds a
// gateway's port now; others counts the ports, per server, of gateways that are
// not in the list. A gateway stays while its node is Ready, even on a crowded
// one. Every other gets the node with the fewest gateways, by name among equals;
// most is how many one may carry. Gateways are placed in the order of their owners,
// whatever order the list has.
func Place(gateways []vpn.Owner, nodes []resource.Node, attached map[vpn.Owner]string, others map[string]int, most int) (map[vpn.Owner]resource.Node, []Problem) {
	p := newPlacement(nodes, others, most)
	placed := make(map[vpn.Owner]resource.Node, len(gateways))
	var waiting []vpn.Owner
	for _, o := range gateways {
		if i, ok := p.byServer[attached[o]]; ok {
			placed[o] = p.ready[i]
			p.count[i]++
		} else {
			waiting = append(waiting, o)
		}
	}
	slices.SortFunc(waiting, vpn.Owner.Compare)
	var problems []Problem
	for _, o := range waiting {
		i, ok := p.emptiest()
		if !ok {
			problems = append(problems, Problem{Owner: o, Message: p.refusal(), Hint: p.hint()})
			continue
		}
		placed[o] = p.ready[i]
		p.count[i]++
	}
	return placed, problems
}

type placement struct {
	most     int
	ready    []resource.Node // sorted by name
	count    []int           // gateways on each of them
	byServer map[string]int
	unfit    []string // why each other node can't be used
}

func newPlacement(nodes []resource.Node, others map[string]int, most int) *placement {
	p := &placement{most: most, byServer: map[string]int{}}
	sorted := slices.SortedFunc(slices.Values(nodes), func(a, b resource.Node) int { return strings.Compare(a.Name, b.Name) })
	for _, n := range sorted {
		_, known := p.byServer[n.ServerID]
		switch {
		case n.Problem != "":
			p.unfit = append(p.unfit, fmt.Sprintf("%s: %s", n.Name, n.Problem))
		case n.ServerID == "":
			p.unfit = append(p.unfit, fmt.Sprintf("%s: its server is not known", n.Name))
		case !n.Ready:
			p.unfit = append(p.unfit, fmt.Sprintf("%s: not Ready, not schedulable or control plane", n.Name))
		case known:
			p.unfit = append(p.unfit, fmt.Sprintf("%s: the same server as another node", n.Name))
		default:
			p.byServer[n.ServerID] = len(p.ready)
			p.ready = append(p.ready, n)
			p.count = append(p.count, others[n.ServerID])
		}
	}
	return p
}

func (p *placement) emptiest() (int, bool) {
	best := -1
	for i, n := range p.count {
		if n < p.most && (best < 0 || n < p.count[best]) {
			best = i
		}
	}
	return best, best >= 0
}

// seen is how many nodes a refusal names.
const seen = 5

// refusal says what was seen of every node, or of the first few.
func (p *placement) refusal() string {
	if len(p.ready)+len(p.unfit) == 0 {
		return "no node can take the gateway: there is no node"
	}
	var words []string
	for i, n := range p.ready {
		words = append(words, fmt.Sprintf("%s: %d of %d gateways", n.Name, p.count[i], p.most))
	}
	words = append(words, p.unfit...)
	if more := len(words) - seen; more > 0 {
		words = append(words[:seen], fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("no node can take the gateway: %d of %d nodes are usable and full: %s",
		len(p.ready), len(p.ready)+len(p.unfit), strings.Join(words, "; "))
}

// hint says what helps against a refusal.
func (p *placement) hint() string {
	if len(p.ready) > 0 {
		return "add a node, or raise spec.gatewayPod.maxGatewaysPerNode"
	}
	return "add a node that can carry gateways"
}
