package openstack

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// judgeRoutes sorts out the routes of the project's routers, destination by
// destination:
//
//	next hop \ destination   a ledger's CIDR   other, /24 or in the pool   other
//	its gateway's port       the route         left by a move              gone gateway: left; else kept
//	another gateway's port   stale             left by a move              as above
//	nobody, in the subnet    stale             not ours                    not ours
//	anything else            foreign           not ours                    not ours
func (j *judgement) judgeRoutes() {
	byCIDR := map[netip.Prefix]vpn.Owner{}
	for o, l := range j.owned {
		if l.ServiceCIDR.IsValid() {
			byCIDR[l.ServiceCIDR] = o
		}
	}
	for _, r := range j.routers {
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
			} else {
				j.otherRoute(r, to, via)
			}
		}
	}
}

// ledgerRoute is a route to a service CIDR of ours.
func (j *judgement) ledgerRoute(o vpn.Owner, r router, to netip.Prefix, via []netip.Addr) {
	route := &resource.Route{Router: r.ID, RouterName: r.Name, Destination: to}
	for _, hop := range via {
		switch owner, ours := j.hopOwner(hop); {
		case ours && owner == o:
			route.NextHop = hop.String()
		case ours || j.hops[hop].ID == "" && j.prefix.Contains(hop):
			route.Stale = append(route.Stale, hop.String())
		default:
			route.Foreign = append(route.Foreign, hop.String())
		}
	}
	why := "next hop is the gateway's port"
	if route.NextHop == "" {
		why = "destination is in the ledger, no port of the gateway holds the next hop"
		if len(route.Stale) == 0 {
			j.foreignRoute(o, route)
			return
		}
		route.NextHop, route.Stale = route.Stale[0], route.Stale[1:]
	}
	id := idOf(resource.KindRoute, o)
	if r.ID != j.router.ID {
		id = second(resource.KindRoute, o, r.ID)
	}
	j.Graph.Add(resource.Resource{ID: id, Owner: o.String(), Ref: r.ID, Proof: why, Route: route})
}

// foreignRoute is a destination of ours that only others have routes to. On the
// estate's router it stands in the way of the gateway's own route.
func (j *judgement) foreignRoute(o vpn.Owner, route *resource.Route) {
	if route.Router == j.router.ID {
		j.Graph.Add(resource.Resource{ID: idOf(resource.KindRoute, o), Owner: o.String(), Ref: route.Router, Route: route})
		return
	}
	j.notice(o, "router %s: route to %s via %s is not ours: kept", cmp.Or(route.RouterName, route.Router),
		route.Destination, strings.Join(route.Foreign, ", "))
}

// hopOwner is the gateway whose port holds a next hop.
func (j *judgement) hopOwner(hop netip.Addr) (vpn.Owner, bool) {
	o, ours := j.portOf[j.hops[hop].ID]
	return o, ours
}

// otherRoute is a route to something that is in no ledger.
func (j *judgement) otherRoute(r router, to netip.Prefix, via []netip.Addr) {
	for _, hop := range via {
		inPool := within(to, j.manifest.ServiceCIDRPool)
		if inPool {
			j.claim(to, "route on router %s via %s", cmp.Or(r.Name, r.ID), hop)
		}
		o, ours := j.hopOwner(hop)
		if !ours {
			continue
		}
		if _, alive := j.gateways[o]; alive && !inPool && (to.Bits() != 24 || !to.Addr().Is4()) {
			j.notice(o, "router %s: route to %s via the gateway's port was added by someone else: kept", cmp.Or(r.Name, r.ID), to)
			continue
		}
		id := second(resource.KindRoute, o, r.ID+":"+to.String())
		if first, twice := j.Graph[id]; twice {
			first.Route.Stale = append(first.Route.Stale, hop.String())
			continue
		}
		j.Graph.Add(resource.Resource{ID: id, Owner: o.String(), Ref: r.ID, Proof: "next hop is the gateway's port",
			Route: &resource.Route{Router: r.ID, RouterName: r.Name, Destination: to, NextHop: hop.String()}})
	}
}
