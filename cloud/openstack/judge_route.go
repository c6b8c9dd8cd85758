package openstack

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// judgeRoutes sorts out the routes of the project's routers, destination by
// destination. What leads elsewhere through a gateway's port was added by another
// hand and stays, until the gateway goes: then nothing may lead to the address
// that its port leaves behind.
//
//	next hop \ destination   a ledger's CIDR   one it moves from   other
//	its gateway's port       the route         left by the move    foreign; gone gateway: left
//	another gateway's port   stale             stale               as above, of that gateway
//	nobody, in the subnet    see abandoned     see abandoned       not ours
//	anything else            foreign           foreign             not ours; to a part of
//	                                                               either: foreign
func (j *judgement) judgeRoutes() {
	byCIDR, forward := j.ranges(), j.linkRanges()
	for _, r := range j.routersConcerned() {
		hops := map[netip.Prefix][]netip.Addr{}
		for _, h := range r.Routes {
			if to, hop := h.parse(); to.IsValid() {
				hops[to] = append(hops[to], hop)
			}
		}
		for to, via := range hops {
			slices.SortFunc(via, netip.Addr.Compare)
			if o, ledger := byCIDR[to]; ledger {
				j.ledgerRoute(o, r, to, via)
			} else if o, linked := forward[to]; linked && r.ID == j.router.ID {
				j.ledgerRoute(o, r, to, via)
			} else {
				j.otherRoute(byCIDR, r, to, via)
			}
		}
	}
}

// ranges are whose the ranges in the ledgers are. One that an owner has counts
// before one that another has not moved away from.
func (j *judgement) ranges() map[netip.Prefix]vpn.Owner {
	byCIDR := map[netip.Prefix]vpn.Owner{}
	for o, l := range j.owned {
		for _, p := range l.MovingFrom {
			byCIDR[p] = o
		}
	}
	holders := map[netip.Prefix]ledgered{}
	for o, l := range j.owned {
		if known, twice := holders[l.ServiceCIDR]; l.ServiceCIDR.IsValid() && (!twice || l.Ahead(known.Ledger, l.ServiceCIDR)) {
			holders[l.ServiceCIDR], byCIDR[l.ServiceCIDR] = l, o
		}
	}
	return byCIDR
}

// routeID is the gateway's route where it leads to the service CIDR on the
// estate's router, and a further one anywhere else.
func (j *judgement) routeID(o vpn.Owner, r router, to netip.Prefix) resource.ID {
	switch {
	case link(o) && to == j.linkRange(o):
		return idOf(resource.KindRoute, o)
	case to != j.owned[o].ServiceCIDR:
		return second(resource.KindRoute, o, r.ID+":"+to.String())
	case r.ID != j.router.ID:
		return second(resource.KindRoute, o, r.ID)
	}
	return idOf(resource.KindRoute, o)
}

// ledgerRoute is a route to a service CIDR of ours.
func (j *judgement) ledgerRoute(o vpn.Owner, r router, to netip.Prefix, via []netip.Addr) {
	route := &resource.Route{Router: r.ID, RouterName: r.Name, Destination: to, By: j.by(o, r)}
	for _, hop := range via {
		switch owner, ours := j.hopOwner(hop); {
		case ours && owner == o, j.strippedLeg(o, hop):
			route.NextHop = hop.String()
		case ours || j.abandoned(o, r, to, hop):
			route.Stale = append(route.Stale, hop.String())
		default:
			route.Foreign = append(route.Foreign, hop.String())
		}
	}
	why := nextHopProof(o)
	switch {
	case route.NextHop != "":
	case len(route.Stale) > 0:
		why = "destination is in the ledger, and none of its owner's ports holds the next hop"
		route.NextHop, route.Stale, route.Adrift = route.Stale[0], route.Stale[1:], true
	default: // only others' next hops: no route of ours, and in the way of one
		why = ""
	}
	j.Graph.Add(resource.Resource{ID: j.routeID(o, r, to), Owner: o.String(), Ref: r.ID, Proof: why, Route: route})
}

// strippedLeg tells whether the port that has a next hop is a link's leg by the ledger, with
// our tags or without: as long as it stands the route is in use.
func (j *judgement) strippedLeg(o vpn.Owner, via netip.Addr) bool {
	leg := j.owned[o].link.Leg
	return link(o) && leg != "" && j.hops[via].ID == leg
}

// abandoned tells whether a route was ours, made for a port that is gone.
//
//	a link's forward route                         by the leg's address in the ledger, whoever
//	                                               has that by now
//	to an address that no port has, in the subnet
//	  a link's forward route                       by the address that the ledger gives it
//	  to a gateway's range, on a router of ours    any
//	  the same on a customer's router              as far as our own router has the same route
func (j *judgement) abandoned(o vpn.Owner, r router, to netip.Prefix, via netip.Addr) bool {
	switch l := j.owned[o].link; {
	case link(o) && via == l.LegAddress:
		return true
	case j.hops[via].ID != "" || !j.prefix.Contains(via):
		return false
	case link(o):
		return via == l.TransitIP
	}
	return r.Project == j.router.Project || slices.ContainsFunc(j.router.Routes, func(h hop) bool {
		dest, next := h.parse()
		return dest == to && next == via
	})
}

// nextHopProof is what a route to a port of an owner proves.
func nextHopProof(o vpn.Owner) string {
	if link(o) {
		return "next hop is the transit leg"
	}
	return "next hop is the gateway's port"
}

// hopOwner is the gateway or link whose port holds a next hop. One that lost its tags in
// use counts: its gateway is refused, and its route is no other hand's.
func (j *judgement) hopOwner(hop netip.Addr) (vpn.Owner, bool) {
	p := j.hops[hop]
	if o, ours := j.portOf[p.ID]; ours {
		return o, true
	}
	estate, o, described := state.ReadDescription(p.Description)
	mine := described && estate == j.manifest.Name && looseFor(estate, o, p.Name, p.Description, p.Tags)
	return o, mine && p.Project == j.router.Project && j.portUse(p) != ""
}

// otherRoute is a route to something that is in no ledger.
func (j *judgement) otherRoute(byCIDR map[netip.Prefix]vpn.Owner, r router, to netip.Prefix, via []netip.Addr) {
	for _, hop := range via {
		if j.wanted(to) && r.Project == j.router.Project { // customers don't take what we give out
			j.claim(to, "route on router %s via %s", cmp.Or(r.Name, r.ID), hop)
		}
		o, ours := j.hopOwner(hop)
		if !ours {
			j.detour(byCIDR, r, to, hop)
			continue
		}
		route := j.furtherRoute(o, r, to)
		why := ""
		switch _, alive := j.gateways[o]; {
		case alive || j.links[o]:
			route.Foreign = append(route.Foreign, hop.String())
		case route.NextHop == "":
			_, route.Others = j.owned[o] // without a ledger it may well be ours
			route.NextHop, why = hop.String(), nextHopProof(o)
		default:
			route.Stale, why = append(route.Stale, hop.String()), nextHopProof(o)
		}
		j.Graph.Add(resource.Resource{ID: j.routeID(o, r, to), Owner: o.String(), Ref: r.ID, Proof: why, Route: route})
	}
}

// furtherRoute is a route of the owner beside its own, or what is known of it.
func (j *judgement) furtherRoute(o vpn.Owner, r router, to netip.Prefix) *resource.Route {
	if known, more := j.Graph[j.routeID(o, r, to)]; more {
		return known.Route
	}
	return &resource.Route{Router: r.ID, RouterName: r.Name, Destination: to, By: j.by(o, r)}
}

// detour shows another hand's route to a part of a gateway's range: the longer
// prefix counts, so it takes what is meant for the gateway.
func (j *judgement) detour(byCIDR map[netip.Prefix]vpn.Owner, r router, to netip.Prefix, hop netip.Addr) {
	for bits := to.Bits() - 1; bits > 0; bits-- {
		whole, err := to.Addr().Prefix(bits)
		if err != nil {
			return
		}
		if o, ledger := byCIDR[whole]; ledger {
			route := j.furtherRoute(o, r, to)
			route.Foreign = append(route.Foreign, hop.String())
			j.Graph.Add(resource.Resource{ID: j.routeID(o, r, to), Owner: o.String(), Ref: r.ID, Route: route})
			return
		}
	}
}

// routersConcerned are the project's own, and of customers' projects those that a link
// names or has its leg on: what others do there is none of our business.
func (j *judgement) routersConcerned() []router {
	joined := map[string]bool{}
	for _, c := range j.sides {
		joined[j.Facts.Links[c.link.Owner.String()].Router] = true
		joined[j.port[c.link.Owner].joins()] = true
	}
	return slices.DeleteFunc(j.allRouters(), func(r router) bool { return r.Project != j.router.Project && !joined[r.ID] })
}
