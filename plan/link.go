package plan

import (
	"cmp"
	"slices"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Names of a link's attributes.
const (
	attrServiceCluster = "service cluster"
	attrTransitIP      = "transit IP"
	attrProject        = "customer's project"
	attrAbandoned      = "customer's side"
)

func legAttributes(before, after resource.TransitLeg) []Attribute {
	list := value(nil, attrNetwork, before.Network, after.Network)
	list = value(list, attrTransitIP, before.Address, settled(before.Address, after.Address))
	if before.Router != after.Router {
		list = value(list, attrRouter, cmp.Or(before.RouterName, before.Router), cmp.Or(after.RouterName, after.Router))
	}
	return list
}

func appliedAttributes(before, after resource.Applied) []Attribute {
	list := value(nil, attrHash, before.Hash, after.Hash)
	given := map[bool]string{true: "may be left behind, should its credential not work when the link goes"}
	return value(list, attrAbandoned, given[before.Abandoned], given[after.Abandoned])
}

// Linked tells whether a change is a link's, or that of a gateway's route on a router that
// is not the estate's.
func (c *Change) Linked() bool {
	return c.Owner.Kind == vpn.KindClusterLink || c.ID.Kind == resource.KindRoute && second(c.ID)
}

// conceded tells whether a change records what the manifest says of a customer's side,
// which nobody else writes.
func conceded(c *Change) bool {
	_, is := c.attribute(attrAbandoned)
	return is
}

func shareAttributes(before, after resource.NetworkShare) []Attribute {
	list := value(nil, attrNetwork, before.Network, after.Network)
	return value(list, attrProject, before.Project, after.Project)
}

// immovable says why a transit leg that stands can't become the wanted one: everything
// that leads through it would have to go first.
func immovable(x pair) (string, bool) {
	have, want := x.have.TransitLeg, x.want.TransitLeg
	if have == nil || want == nil {
		return "", false
	}
	const anew = ": a transit leg doesn't move; take the link away and apply with --prune, then write it anew"
	switch {
	case have.Network != want.Network:
		return "it stands on network " + have.Network + anew, true
	case want.Address != resource.Unknown && have.Address != want.Address:
		return "it has the address " + have.Address + ", not " + want.Address + anew, true
	case have.Router != "" && have.Router != want.Router:
		return "it joins router " + cmp.Or(have.RouterName, have.Router) + ", not " + cmp.Or(want.RouterName, want.Router) + anew, true
	}
	return "", false
}

// linkOn is the link whose leg stands on a router, or is to stand there; nil: none.
func (d *draft) linkOn(router string) *party {
	if d.onRouter == nil {
		d.onRouter = map[string]*party{}
		for _, g := range []resource.Graph{d.in.Desired, d.in.Observed} {
			for _, r := range g {
				if r.TransitLeg != nil && r.TransitLeg.Router != "" && r.Adopt == "" && !second(r.ID) {
					d.onRouter[r.TransitLeg.Router] = d.party(r.Owner)
				}
			}
		}
	}
	return d.onRouter[router]
}

// stays tells whether a gateway's route on a service cluster's router is left as it is
// because that router's link is. One that opts out of a customer's link is not kept in.
func (d *draft) stays(p *party, have *resource.Resource) bool {
	if have.Route == nil || !second(have.ID) {
		return false
	}
	l := d.linkOn(have.Route.Router)
	if l == nil || l.fate != stay && !l.refused {
		return false
	}
	at := d.in.Observed[resource.ID{Kind: resource.KindTransitLeg, Name: l.owner.Name}]
	return body(&at, leg).Project == "" || slices.Contains(p.gateway.Links, l.owner.Name)
}

// barred tells whether it is a gateway's way back that another hand's route keeps from being
// made. It is held alone: a service cluster's router is not the gateway's own, and whoever
// has it must not keep the gateway from anything else.
func (d *draft) barred(x pair) bool {
	if x.have == nil || x.have.Route == nil || !second(x.want.ID) || !absent(x.have) || len(x.have.Route.Foreign) == 0 {
		return false
	}
	return d.linkOn(x.want.Route.Router) != nil
}

// strand removes the forward route of a link that is left as it is although its leg is gone:
// the leg's address is anybody's by now, and so would be what is sent into the link.
func (d *draft) strand(p *party) {
	have, there := d.in.Observed[resource.ID{Kind: resource.KindRoute, Name: p.owner.Name}]
	if p.owner.Kind != vpn.KindClusterLink || !d.in.Options.Selects(p.owner) || !there || !have.Route.Adrift || have.Owner != p.text {
		return
	}
	d.change(p, Change{
		ID: have.ID, Action: Delete, Before: shown(&have), Attributes: attributes(&have, nil), Drift: true, Proof: have.Proof,
	})
	d.explain(p)
}

// afterReverseRoutes has the end of a leg wait for the routes on its router that lead to
// gateways: Neutron takes no interface away under them. One that stays keeps the leg. In our
// own project they wait for the forward route, which is the first to go; those of a gateway
// that goes itself wait for nobody.
func (d *draft) afterReverseRoutes(p *party) {
	for _, c := range p.changes {
		leg := body(c.Before, leg)
		if c.ID.Kind != resource.KindTransitLeg || c.Action != Delete || leg.Router == "" {
			continue
		}
		for _, id := range d.reverseRoutes(leg.Router) {
			o, planned := d.changes[id]
			if planned && o.Action == Delete {
				c.Needs = append(c.Needs, id)
				if !d.crosses(p) && d.party(o.Owner.String()).fate != remove {
					o.need(p.changes, func(f *Change) bool { return f.Action == Delete && f.Before.Route != nil })
				}
				continue
			}
			d.refuse(Refusal{
				Owner: p.owner, ID: c.ID,
				Message: "router " + cmp.Or(leg.RouterName, leg.Router) + " keeps a route through it, " + id.String(),
				Hint:    d.letGoOf(d.party(d.in.Observed[id].Owner)),
			})
		}
	}
	if p.refused {
		d.drop(p)
	}
}

// afterLegs has the end of a share wait for the legs that this plan removes, whosever, and
// keeps it back while another port of that project is on the network: Neutron does, too.
func (d *draft) afterLegs(p *party) {
	for _, c := range p.changes {
		if c.ID.Kind != resource.KindNetworkShare || c.Action != Delete {
			continue
		}
		for _, port := range c.Before.NetworkShare.Users {
			if id, goes := d.legGoing(port); goes {
				c.Needs = append(c.Needs, id)
				continue
			}
			c.Held = "port " + port + " of project " + c.Before.NetworkShare.Project + " is still on the network"
		}
	}
}

// legGoing is the leg with this port, if the plan removes it.
func (d *draft) legGoing(port string) (resource.ID, bool) {
	for id, c := range d.changes {
		if id.Kind == resource.KindTransitLeg && c.Action == Delete && c.Before.Ref == port {
			return id, true
		}
	}
	return resource.ID{}, false
}

// letGoOf says how a gateway's route can go that keeps a leg.
func (d *draft) letGoOf(p *party) string {
	if d.in.Options.Selects(p.owner) {
		return "see what is said of " + p.text
	}
	return "name its gateway too: --gateway " + p.owner.Path()
}

// reverseRoutes are the routes of ours on a service cluster's router, in order.
func (d *draft) reverseRoutes(router string) []resource.ID {
	if d.reverse == nil {
		d.reverse = map[string][]resource.ID{}
		for id, r := range d.in.Observed {
			if r.Route != nil && second(id) && !absent(&r) && r.Proof != "" {
				d.reverse[r.Route.Router] = append(d.reverse[r.Route.Router], id)
			}
		}
		for _, ids := range d.reverse {
			slices.SortFunc(ids, resource.ID.Compare)
		}
	}
	return d.reverse[router]
}

// joined says why a gateway gets a route on another router than the estate's.
func (d *draft) joined(c *Change) string {
	if l := d.linkOn(c.After.Route.Router); l != nil {
		return "reverse exposures are called from behind link " + l.owner.Name
	}
	return "reverse exposures need it"
}

// parted says why a gateway's route on a service cluster's router goes.
func (d *draft) parted(p *party, c *Change) string {
	switch l := d.linkOn(c.Before.Route.Router); {
	case l.gone():
		return "link " + l.owner.Name + " goes"
	case p.gateway != nil && len(p.gateway.ReverseExposures) > 0:
		return "it does not name link " + l.owner.Name + " any more"
	}
	return "no reverse exposure any more"
}
