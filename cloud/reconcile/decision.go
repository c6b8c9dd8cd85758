package reconcile

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/vpnctl/vpnctl/cloud"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render"
	"github.com/vpnctl/vpnctl/render/live"
	"github.com/vpnctl/vpnctl/state"
)

// decision gathers what a plan is made from.
type decision struct {
	Input
	raw      *cloud.Observation // as it was made
	seen     *cloud.Observation // made comparable, see align
	ledgers  map[vpn.Owner]alloc.Ledger
	inputs   map[vpn.Owner]render.Input
	links    map[vpn.Owner]render.LinkInput
	doubted  map[vpn.Owner]bool                   // links into projects that nobody has attested
	lost     map[vpn.Owner]*cloud.CredentialError // links whose customer's side can't be reached, and may be left behind
	freed    []vpn.Owner                          // links whose addresses this run gives up
	crowded  map[string]bool                      // servers, see alloc.Placement
	desired  resource.Graph
	refusals []plan.Refusal
	notices  []plan.Notice
}

// prepare allocates and renders all that has a manifest.
func prepare(in Input, seen *cloud.Observation) *decision {
	d := &decision{Input: in, raw: seen, seen: seen, inputs: map[vpn.Owner]render.Input{}, links: map[vpn.Owner]render.LinkInput{}, doubted: map[vpn.Owner]bool{}, lost: map[vpn.Owner]*cloud.CredentialError{}}
	d.spareOthers()
	d.note(d.concerning(seen.Problems)...)
	d.checkNames()
	d.checkNamespaces()
	d.checkLinks()
	d.checkParting()
	d.checkPins()
	d.checkOperator()
	d.checkLock()
	d.checkTree()
	d.checkNodes()
	d.allocateLegs()
	d.allocate()
	d.checkSubnets()
	d.checkLinkRanges()
	d.checkCallers()
	d.checkTargets()
	d.render()
	d.align()
	return d
}

// result makes the plan.
func (d *decision) result() *Result {
	r := &Result{
		Plan: d.plan(d.Options), Seen: d.seen, Ledgers: d.ledgers, Inputs: d.inputs, Desired: d.desired,
		Links: d.links, drivers: d.Drivers, Gateways: d.Estate.Gateways, Linked: d.Estate.Links, tree: d.tree(),
	}
	d.lacking(r.Plan.Owners)
	if d.Options.Only == plan.OnlyKubernetes && !d.tree() {
		both := d.Options
		both.Only = ""
		r.LeftOut = slices.DeleteFunc(d.plan(both).Changes, func(c plan.Change) bool { return !c.ID.Kind.Cloud() })
	}
	return r
}

func (d *decision) plan(o plan.Options) plan.Plan {
	return plan.Make(plan.Input{
		Estate:     d.withLost(),
		Desired:    d.desired,
		Observed:   d.seen.Graph,
		Ledgers:    d.seen.Ledgers,
		Refusals:   d.refusals,
		Notices:    slices.Concat(d.seen.Notices, d.notices),
		Judge:      render.Judge,
		Succession: render.Succession,
		Renamed:    render.Renamed,
		Targets:    render.Targets,
		Before:     render.Before(d.seen.Graph),
		Crowded:    d.crowded,
		Index:      d.index,
		Options:    o,
		Now:        d.now(),
		Manifests:  d.Manifests,
		Survey:     d.Survey,
	})
}

// tree tells whether the Kubernetes side is files.
func (d *decision) tree() bool { return d.Estate.Kubernetes.Target == vpn.TargetDirectory }

// now is the moment that a hold counts from and to: the cloud's, which is the same
// for every run, whatever the clocks of their machines show.
func (d *decision) now() time.Time {
	if !d.seen.Now.IsZero() {
		return d.seen.Now
	}
	return d.Now
}

func (d *decision) note(rs ...plan.Refusal) { d.refusals = append(d.refusals, rs...) }

// checkNames refuses owners that can't carry our marks: everything that is made is
// found by them.
func (d *decision) checkNames() {
	for _, g := range d.Estate.Gateways {
		if err := state.Check(d.Estate.Name, g.Owner); err != nil {
			d.note(plan.Refusal{Owner: g.Owner, Message: err.Error(), Hint: "give it another name"})
		}
	}
}

// checkPins refuses pinned floating IPs that are in use by somebody else. One that
// leads to a gateway whose manifest is gone is given over when that gateway is
// pruned.
func (d *decision) checkPins() {
	for _, g := range d.Estate.Gateways {
		if !g.FloatingIP.IsValid() {
			continue
		}
		if m, hint := d.pinProblem(g); m != "" {
			d.note(plan.Refusal{Owner: g.Owner, ID: gatewayID(resource.KindFloatingIP, g.Owner), Message: m, Hint: hint})
		}
	}
}

func (d *decision) pinProblem(g vpn.Gateway) (message, hint string) {
	i := slices.IndexFunc(d.seen.Pins, func(p cloud.Pin) bool { return p.Address == g.FloatingIP })
	if i < 0 {
		return "", "" // allocating says so
	}
	switch p := d.seen.Pins[i]; {
	case p.Holder != "":
		return fmt.Sprintf("floating IP %s is held by %s", p.Address, p.Holder), "free it first: vpnctl never takes an address that is in use"
	case p.Owner != "" && p.Owner != g.Owner.String() && !d.leaving(p.Owner, p.Address):
		return fmt.Sprintf("floating IP %s leads to %s", p.Address, p.Owner),
			"delete that manifest and plan with --prune: the address is handed over in one run"
	case p.Marked != "" && p.Marked != g.Owner.String() && !(p.Estate == d.Estate.Name && d.leaving(p.Marked, p.Address)):
		return fmt.Sprintf("floating IP %s carries the tags of %s", p.Address, p.Marked), "pin an address of your own"
	}
	return "", ""
}

// leaving tells whether an owner of this estate gives an address up in this run.
func (d *decision) leaving(owner string, address netip.Addr) bool {
	o, _ := vpn.ParseOwner(owner)
	holder, stays := d.Estate.Gateway(o.Path())
	if !stays || holder.Owner != o {
		return d.Options.Prune && !d.Spares(o)
	}
	return holder.FloatingIP.IsValid() && holder.FloatingIP != address
}

// checkSubnets refuses site subnets that overlap what is known only now: the
// transit subnet, and service CIDRs outside the pool.
func (d *decision) checkSubnets() {
	reserved := d.reserved()
	for _, g := range d.Estate.Gateways {
		for _, p := range g.Peers {
			for _, s := range p.Subnets {
				for _, r := range reserved {
					if s.Overlaps(r.Prefix) {
						d.note(plan.Refusal{Owner: g.Owner, Message: fmt.Sprintf("peer %s: subnet %s overlaps %s, %s", p.Name, s, r.Prefix, r.By),
							Hint: "traffic for the overlap could not be told apart"})
					}
				}
			}
		}
	}
}

func (d *decision) reserved() []alloc.Claim {
	var all []alloc.Claim
	if d.seen.Facts.Subnet.IsValid() {
		all = append(all, alloc.Claim{Prefix: d.seen.Facts.Subnet, By: "the transit subnet"})
	}
	for _, g := range d.Estate.Gateways {
		c := d.ledgers[g.Owner].ServiceCIDR
		if c.IsValid() && !d.Estate.ServiceCIDRPool.Overlaps(c) {
			all = append(all, alloc.Claim{Prefix: c, By: "the service CIDR of " + g.Owner.Path()})
		}
	}
	return all
}

// allocate assigns addresses and nodes.
func (d *decision) allocate() {
	pins := map[netip.Addr]string{}
	for _, p := range d.seen.Pins {
		pins[p.Address] = p.Ref
	}
	var problems []alloc.Problem
	d.ledgers, problems = alloc.Assign(alloc.Input{Estate: d.Estate, Ledgers: d.seen.Ledgers, Claims: d.seen.Claims, Unknown: d.seen.Unknown, Pins: pins, Released: d.released()})
	problems = slices.DeleteFunc(problems, d.ledgerless)
	placed := d.place()
	d.crowded = placed.Crowded
	d.problems(problems, "")
	d.problems(placed.Problems, d.homeless())
	for _, g := range d.Estate.Gateways {
		l, ok := d.ledgers[g.Owner]
		node, somewhere := placed.Nodes[g.Owner]
		if ok && somewhere {
			d.inputs[g.Owner] = render.Input{Estate: d.Estate, Gateway: g, Ledger: l, Node: node, Facts: d.facts(g, l), Joined: d.joined(g)}
		}
	}
}

func (d *decision) problems(all []alloc.Problem, reason string) {
	for _, p := range all {
		d.note(plan.Refusal{Owner: p.Owner, Message: p.Message, Hint: p.Hint, Reason: cmp.Or(p.Reason, reason)})
	}
}

// ledgerless tells whether a problem only follows from what was observed of the
// owner's group: that its ledger can't be relied on is all there is to say.
func (d *decision) ledgerless(p alloc.Problem) bool {
	return slices.ContainsFunc(d.seen.Problems, func(r plan.Refusal) bool {
		return r.Owner == p.Owner && r.ID == gatewayID(resource.KindSecurityGroup, p.Owner)
	})
}

// released are the owners whose ranges this run gives up, if it is asked to.
func (d *decision) released() []vpn.Owner {
	if !d.Options.Prune {
		return nil
	}
	written := map[vpn.Owner]bool{}
	for _, g := range d.Estate.Gateways {
		written[g.Owner] = true
	}
	var gone []vpn.Owner
	for _, l := range d.seen.Ledgers {
		if !written[l.Owner] && !d.Spares(l.Owner) {
			gone = append(gone, l.Owner)
		}
	}
	return gone
}

// facts are what will be known of a gateway if nothing unforeseen happens: a
// pinned address is known before it is associated, and a port that has to be
// made anew is not known.
func (d *decision) facts(g vpn.Gateway, l alloc.Ledger) resource.Facts {
	o := g.Owner.String()
	planned := d.seen.Facts.Gateway(o)
	if address := d.publicAddress(g, l); address.IsValid() {
		planned.FloatingIP = address
	}
	if port, ok := d.seen.Graph[gatewayID(resource.KindPort, g.Owner)]; ok && port.Port.Network != d.seen.Facts.NetworkID {
		planned = resource.GatewayFacts{FloatingIP: planned.FloatingIP}
	}
	facts := d.seen.Facts
	facts.Gateways = map[string]resource.GatewayFacts{o: planned}
	return facts
}

// publicAddress is the address that the manifest pins or the ledger records as
// the customer's.
func (d *decision) publicAddress(g vpn.Gateway, l alloc.Ledger) netip.Addr {
	if g.FloatingIP.IsValid() {
		return g.FloatingIP
	}
	for _, p := range d.seen.Pins {
		if p.Ref != "" && p.Ref == l.FloatingIP {
			return p.Address
		}
	}
	return netip.Addr{}
}

// render renders every gateway that has its addresses and its node.
func (d *decision) render() {
	var inputs []render.Input
	for _, g := range d.Estate.Gateways {
		if in, ok := d.inputs[g.Owner]; ok {
			inputs = append(inputs, in)
		}
	}
	var problems []render.Problem
	d.desired, problems = render.Gateways(inputs)
	for _, in := range d.links {
		graph, err := render.Link(in)
		if err != nil {
			d.note(plan.Refusal{Owner: in.Link.Owner, Message: err.Error(), Reason: vpnv1alpha1.ReasonInvalidSpec})
			continue
		}
		d.desired.Merge(graph)
	}
	d.keepLost()
	for _, p := range problems {
		if p.Owner.IsZero() && d.Deleted != nil { // who it is for may come, or stand in a manifest that is not valid
			d.notices = append(d.notices, plan.Notice{Message: p.Message, Hint: p.Hint})
			continue
		}
		d.note(plan.Refusal{Owner: p.Owner, Message: p.Message, Hint: p.Hint, Reason: cmp.Or(p.Reason, vpnv1alpha1.ReasonRender)})
	}
}

func gatewayID(k resource.Kind, o vpn.Owner) resource.ID {
	return resource.ID{Kind: k, Namespace: o.Namespace, Name: o.Name}
}

// align makes what a cluster holds comparable with what it should hold.
func (d *decision) align() {
	seen := *d.seen
	seen.Graph = cmp.Or(d.Known, &live.Memory{}).Align(d.desired, d.seen.Graph)
	d.seen = &seen
}

// index renders the files of the tree that list its gateways. A cluster has none.
func (d *decision) index(standing []vpn.Owner) []resource.Resource {
	if !d.tree() {
		return nil
	}
	return render.Index(d.Estate.Name, standing)
}
