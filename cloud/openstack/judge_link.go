package openstack

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	ipsecv1alpha1 "github.com/vpnctl/vpnctl/crds/ipsec/v1alpha1"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// judgeLinks makes resources and ledgers of the estate's links, and of the ports on the
// transit network that could become legs. It comes before the routes.
func (j *judgement) judgeLinks() {
	j.judgeSides()
	j.resolveRouters()
	j.judgeLegs()
	j.judgeShares()
	j.judgeOccupants()
}

// resolveRouters finds the service cluster's router of each link with a manifest.
func (j *judgement) resolveRouters() {
	for _, l := range j.manifest.Links {
		what, routers := "router of this project", j.routers
		if c := j.customerOf(l.Owner); c != nil {
			if c.Driver == nil { // which is said elsewhere
				continue
			}
			what, routers = "router of the customer's project", c.all
		}
		r, err := one(what, l.Router, routers, named[router]{router.id, router.label})
		if err == nil && r.ID == j.router.ID {
			err = fmt.Errorf("%s is the gateways' own router", r.label())
		}
		if err != nil {
			j.Problems = append(j.Problems, plan.Refusal{
				Owner: l.Owner, Message: "spec.serviceClusterRouter: " + err.Error(),
				Hint: "correct the name, or name the service cluster's router by its ID", Reason: ipsecv1alpha1.ReasonRouterResolve,
			})
			continue
		}
		j.Facts.Links[l.Owner.String()] = resource.LinkFacts{Router: r.ID, RouterName: cmp.Or(r.Name, r.ID)}
	}
}

// linkGroup enters a link's group and what its tags say.
func (j *judgement) linkGroup(g ledgered) {
	id := idOf(resource.KindSecurityGroup, g.Owner)
	if g.unreadable != nil {
		j.problem(g.Owner, id, "restore the tags, or use the vpnctl that wrote them",
			"the ledger on security group %s was changed by another hand: %v", g.ID, g.unreadable)
		return
	}
	j.Links = append(j.Links, g.link)
	j.Graph.Add(g.resource(id))
	if g.link.Applied != "" || g.link.Abandoned {
		j.Graph.Add(resource.Resource{ID: idOf(resource.KindApplied, g.Owner), Owner: g.Owner.String(), Ref: g.ID,
			Proof: proof(g.Owner), Applied: &resource.Applied{Hash: g.link.Applied, Abandoned: g.link.Abandoned}})
	}
}

// judgeLegs makes resources of the links' ports. Of two with one owner the one that is an
// interface counts, then the older one.
func (j *judgement) judgeLegs() {
	sortPorts(j.theirs)
	for _, p := range slices.Concat(j.ports, j.theirs) { // sorted by judgePorts
		estate, o, ours := state.ReadOwner(p.Tags)
		if !ours || estate != j.manifest.Name || !link(o) || p.Project != j.legProject(o) {
			j.stripped(p)
			continue
		}
		j.portOf[p.ID] = o
		first, more := j.port[o]
		switch {
		case !more:
			j.port[o] = p
			j.Graph.Add(j.legResource(idOf(resource.KindTransitLeg, o), o, p))
			if j.customerOf(o) == nil || !j.misplaced(o, p) {
				j.learn(o, p.facts())
			}
		case p.Device == "":
			j.Graph.Add(j.legResource(second(resource.KindTransitLeg, o, p.ID), o, p))
		default:
			j.problem(o, second(resource.KindTransitLeg, o, p.ID), "take one of the two from its router by hand",
				"two ports belong to %s and are in use: %s and %s", o, first.ID, p.ID)
		}
	}
}

func (j *judgement) legResource(id resource.ID, o vpn.Owner, p port) resource.Resource {
	body := &resource.TransitLeg{Network: p.Network, Router: p.joins(), Adopted: j.owned[o].link.Adopted == p.ID}
	if a := p.facts().PortAddress; a.IsValid() {
		body.Address = a.String()
	}
	body.RouterName = j.routerName(body.Router)
	if c := j.customerOf(o); c != nil {
		body.Project, body.By, body.Left = c.link.CustomerProject, c.by(), j.left(c)
	}
	if p.Device != "" && body.Router == "" {
		j.problem(o, id, "take it back from there by hand", "port %s is used as %s by %s", p.ID, p.DeviceOwner, p.Device)
	}
	return resource.Resource{ID: id, Owner: o.String(), Ref: p.ID, Proof: proof(o), TransitLeg: body}
}

func (j *judgement) routerName(id string) string {
	for _, r := range j.allRouters() {
		if r.ID == id {
			return cmp.Or(r.Name, r.ID)
		}
	}
	return id
}

// judgeOccupants tells who has which address of the transit network, and which port would
// be taken over: one that carries nobody's mark and joins a link's router already, at the
// address that the link asks for or has, or the lowest where it asks for none.
func (j *judgement) judgeOccupants() {
	if !j.legless() { // nobody looked beyond what is ours: no link needs an address
		j.transit = slices.DeleteFunc(slices.Clone(j.ports), func(p port) bool { return p.Network != j.network.ID })
	}
	slices.SortFunc(j.transit, func(a, b port) int { return a.facts().PortAddress.Compare(b.facts().PortAddress) })
	for _, p := range j.transit {
		_, o, described := state.ReadDescription(p.Description)
		estate, tagged, whole := state.ReadOwner(p.Tags)
		occupant := alloc.Occupant{Port: p.ID, Router: p.joins(), Marked: claimed(p.Tags), By: fmt.Sprintf("port %q", cmp.Or(p.Name, p.ID))}
		switch {
		case whole && estate == j.manifest.Name:
			occupant.Owner, occupant.By = tagged, tagged.String()
		case len(state.OperatorUIDs(p.Tags)) > 0:
			occupant.By += ", which an operator's link has"
		case whole:
			occupant.By = tagged.String() + " of estate " + estate
		case described && looseFor(j.manifest.Name, o, p.Name, p.Description, p.Tags) && (p.Device == "" || p.joins() == j.Facts.Links[o.String()].Router):
			occupant.Owner = o
		}
		for _, occupant.Address = range p.addresses() {
			if occupant.Address.Is4() {
				j.Occupants = append(j.Occupants, occupant)
			}
		}
	}
	for _, l := range j.manifest.Links {
		j.adoptable(l)
	}
}

// adoptable enters the port that a link takes over.
func (j *judgement) adoptable(l vpn.Link) {
	router, resolved := j.Facts.Links[l.Owner.String()]
	if _, has := j.port[l.Owner]; has || !resolved {
		return
	}
	if l.Cross() {
		j.preceded(l, router)
		return
	}
	wanted := l.TransitIP
	if had := j.owned[l.Owner].link.TransitIP; !wanted.IsValid() {
		wanted = had
	}
	for _, p := range j.transit {
		if p.joins() != router.Router || claimed(p.Tags) || p.Project != j.router.Project || wanted.IsValid() && !slices.Contains(p.addresses(), wanted) {
			continue
		}
		r := j.legResource(idOf(resource.KindTransitLeg, l.Owner), l.Owner, p)
		r.Proof, r.TransitLeg.Adopted = "", true
		r.Adopt = "it joins router " + router.RouterName + " to the transit network already, and carries nobody's mark"
		if looseFor(j.manifest.Name, l.Owner, p.Name, p.Description, p.Tags) {
			r.TransitLeg.Adopted, r.Adopt = false, "it has the link's name and description, and joins its router, but lost its tags"
		}
		j.Graph.Add(r)
		j.portOf[p.ID], j.port[l.Owner] = l.Owner, p
		j.learn(l.Owner, p.facts())
		return
	}
}

// preceded refuses a link whose customer's router joins the transit network already:
// Neutron puts no router twice into one subnet, and what stands in a customer's project is
// the customer's to take away.
func (j *judgement) preceded(l vpn.Link, router resource.LinkFacts) {
	for _, p := range j.theirs {
		if _, _, described := state.ReadDescription(p.Description); described {
			continue // it was a leg, see stripped
		}
		if p.joins() == router.Router && p.Project == l.CustomerProject && p.Network == j.network.ID && !claimed(p.Tags) {
			j.Problems = append(j.Problems, plan.Refusal{
				Owner: l.Owner, ID: idOf(resource.KindTransitLeg, l.Owner),
				Message: "router " + router.RouterName + " joins the transit network already, by port " + p.ID + " of project " + p.Project + ", which is not ours",
				Hint:    "have the customer take that port off the router: in a customer's project nothing is adopted",
			})
			return
		}
	}
}

// looseLeg looks at an untagged port that is described as a link's. One that joins a
// router was a leg, and is taken over as any other; see adoptable.
func (j *judgement) looseLeg(p port) {
	if p.joins() != "" {
		return
	}
	body := &resource.TransitLeg{Network: p.Network}
	if f := p.facts(); f.PortAddress.IsValid() {
		body.Address = f.PortAddress.String()
	}
	j.cutOff(looseObject{resource.KindTransitLeg, p.ID, p.ID, p.Name, p.Description, p.Tags, j.portUse(p)}, resource.Resource{TransitLeg: body})
}

// looseTheirs are the customers' untagged ports that are described as a leg there.
func (j *judgement) looseTheirs() []port {
	var all []port
	for _, p := range j.theirs {
		estate, o, described := state.ReadDescription(p.Description)
		if described && estate == j.manifest.Name && link(o) && p.Project == j.legProject(o) && !managedBy(p.Tags) && p.Network == j.network.ID {
			all = append(all, p)
		}
	}
	return all
}

// linkRanges are whose the destinations of forward routes are, by the ledgers and, where
// there is none, by the manifests.
func (j *judgement) linkRanges() map[netip.Prefix]vpn.Owner {
	all := map[netip.Prefix]vpn.Owner{}
	for _, l := range j.manifest.Links {
		all[l.CIDR] = l.Owner
	}
	for o, g := range j.owned {
		if link(o) && g.link.CIDR.IsValid() {
			all[g.link.CIDR] = o
		}
	}
	return all
}

// linkRange is the destination of a link's forward route.
func (j *judgement) linkRange(o vpn.Owner) netip.Prefix {
	if p := j.owned[o].link.CIDR; p.IsValid() {
		return p
	}
	for _, l := range j.manifest.Links {
		if l.Owner == o {
			return l.CIDR
		}
	}
	return netip.Prefix{}
}

// claimed tells whether a port carries anybody's mark: one of ours, or an operator's, whose
// links go on as long as it works.
func claimed(tags []string) bool { return managedBy(tags) || len(state.OperatorUIDs(tags)) > 0 }

// link tells whether an owner is a link.
func link(o vpn.Owner) bool { return o.Kind == vpn.KindClusterLink }
