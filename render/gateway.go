package render

import (
	"slices"

	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Input is all that one gateway's resources follow from.
type Input struct {
	Estate  vpn.Estate
	Gateway vpn.Gateway
	Ledger  alloc.Ledger
	Node    resource.Node // where the pod runs; zero: not chosen yet
	Facts   resource.Facts
	Joined  []Joined // the service clusters from which its reverse exposures are called, sorted
}

// Joined is a service cluster whose router leads back to a gateway.
type Joined struct {
	Link   vpn.Owner
	Router Router
	By     string `json:"-"` // for people: by whose credential routes are written there
	Apart  bool   `json:"-"` // the router can't be reached, or must not: what is there stays
}

// Problem is why a gateway can't be rendered.
type Problem struct {
	Owner   vpn.Owner `json:"owner"`
	Message string    `json:"message"`
	Hint    string    `json:"hint,omitempty"`
	Reason  string    `json:"reason,omitempty"` // the condition reason; empty: RenderFailed
}

// Gateway returns everything that one gateway should have, in OpenStack and in
// Kubernetes. With a problem the graph is not whole and must not be planned from.
//
// What needs what, in the order in which it is built:
//
//	security group → port → floating IP → route → Kubernetes objects → applied
//	                                     objects → Deployment → kustomization
func Gateway(in Input) (resource.Graph, []Problem) {
	r := renderingOf(in)
	return r.graph, r.problems
}

// Gateways renders all gateways of one estate. Besides the problems of each, in the
// order of the inputs, come those of the estate itself: a patch that is for no object
// of any gateway. Where a gateway is missing or could not be rendered, nothing is said
// of patches: they may be for that one.
func Gateways(inputs []Input) (resource.Graph, []Problem) {
	graph := resource.Graph{}
	var problems []Problem
	var used [][]bool
	for _, in := range inputs {
		r := renderingOf(in)
		graph.Merge(r.graph)
		problems = append(problems, r.problems...)
		used = append(used, r.used)
	}
	if len(inputs) == 0 || len(problems) > 0 || len(inputs) < len(inputs[0].Estate.Gateways) {
		return graph, problems
	}
	return graph, unused(len(inputs[0].Estate.Patches), used)
}

func renderingOf(in Input) *rendering {
	r := &rendering{
		in:    in,
		owner: in.Gateway.Owner.String(),
		graph: make(resource.Graph, 24+len(in.Gateway.Peers)),
	}
	r.sources()
	r.facts()
	r.cloud()
	r.kubernetes()
	r.applied()
	return r
}

// rendering is one call of Gateway.
type rendering struct {
	in       Input
	owner    string // the owner as text
	graph    resource.Graph
	problems []Problem
	used     []bool // of the estate's patches: which were for an object

	floatingIP string // or resource.Unknown
	port       vpn.ExpectedPort
	node       string
}

func (r *rendering) refuse(err error, hint string) {
	r.problems = append(r.problems, Problem{Owner: r.in.Gateway.Owner, Message: err.Error(), Hint: hint})
}

// add puts a resource of this gateway into the graph.
func (r *rendering) add(res resource.Resource, needs ...resource.ID) {
	res.Owner = r.owner
	slices.SortFunc(needs, resource.ID.Compare)
	res.Needs = needs
	r.graph.Add(res)
}

// id names a resource of which a gateway has one.
func (r *rendering) id(k resource.Kind) resource.ID {
	return resource.ID{Kind: k, Namespace: r.in.Gateway.Owner.Namespace, Name: r.in.Gateway.Owner.Name}
}

// sources refuses reverse exposures that nobody could be held to: without internal
// source CIDRs the ruleset would have to let in whoever comes.
func (r *rendering) sources() {
	g := r.in.Gateway
	if len(g.ReverseExposures) > 0 && len(r.in.Estate.InternalSourceCIDRs) == 0 && !g.SourcesOptional {
		r.problems = append(r.problems, Problem{
			Owner: g.Owner, Message: "reverse exposures need the estate's internalSourceCIDRs", Hint: "set spec.internalSourceCIDRs to the networks that may use them",
			Reason: vpnv1alpha1.ReasonInternalSources,
		})
	}
}

// facts are the texts that stand for what the outside knows.
func (r *rendering) facts() {
	known := r.in.Facts.Gateway(r.owner)
	public := known.FloatingIP
	if r.in.Gateway.FloatingIP.IsValid() {
		public = r.in.Gateway.FloatingIP
	}
	r.floatingIP = text(public)
	r.port = vpn.ExpectedPort{
		MAC:     known.MAC,
		Address: text(known.PortAddress),
		Subnet:  text(r.in.Facts.Subnet),
		Gateway: text(r.in.Facts.SubnetGateway),
	}
	if r.port.MAC == "" {
		r.port.MAC = resource.Unknown
	}
	if r.node = r.in.Node.Name; r.node == "" {
		r.node = resource.Unknown
	}
}

func text[T interface {
	IsValid() bool
	String() string
}](v T) string {
	if !v.IsValid() {
		return resource.Unknown
	}
	return v.String()
}
