package manifest

import (
	"cmp"
	"net/netip"
	"slices"
)

// linkNetworks refuses links whose networks overlap, and those whose network is that of
// others: packets for what two hold could go to one of them only. As in siteOverlaps,
// one pass in the order of addresses finds for each network the nearest that holds it.
func (r *relations) linkNetworks() {
	var sorted, open []*link
	for _, l := range r.links {
		if l.model.CIDR.IsValid() {
			sorted = append(sorted, l)
			r.foreignNetwork(l)
		}
	}
	slices.SortStableFunc(sorted, func(a, b *link) int {
		x, y := a.model.CIDR, b.model.CIDR
		return cmp.Or(x.Addr().Compare(y.Addr()), cmp.Compare(x.Bits(), y.Bits()))
	})
	for _, l := range sorted {
		for len(open) > 0 && !open[len(open)-1].model.CIDR.Overlaps(l.model.CIDR) {
			open = open[:len(open)-1]
		}
		if len(open) > 0 {
			r.oneNetwork(open[len(open)-1], l)
		}
		open = append(open, l)
	}
}

const networkField = "spec.serviceClusterCIDR"

// oneNetwork reports two links for one network at the one that comes later: in files by its
// place, in a cluster by its age.
func (r *relations) oneNetwork(a, b *link) {
	if slices.Index(r.links, b) < slices.Index(r.links, a) {
		a, b = b, a
	}
	at := a.position(networkField)
	if a.model.CIDR == b.model.CIDR {
		b.fail(networkField, refuse("%s is the network of %s too (%s)", b.model.CIDR, a, at), at)
		return
	}
	b.fail(networkField, refuse("%s overlaps %s of %s (%s)", b.model.CIDR, a.model.CIDR, a, at).
		with("traffic for the overlap could only reach one of them"), at)
}

// foreignNetwork refuses a link for a network that gateways answer in, or that lies
// behind one of their peers. It is held against the link: one that is too wide must not
// take gateways out. Internal sources are what links lead to, and may overlap.
func (r *relations) foreignNetwork(l *link) {
	cidr := l.model.CIDR
	if pool := r.estate.ServiceCIDRPool; pool.IsValid() && cidr.Overlaps(pool) {
		l.fail(networkField, refuse("%s overlaps the service CIDR pool %s", cidr, pool))
		return
	}
	for _, p := range r.outside {
		if cidr.Overlaps(p.cidr) {
			at := p.position(p.field)
			l.fail(networkField, refuse("%s overlaps %s, the service CIDR of %s (%s)", cidr, p.cidr, p.gateway, at), at)
			return
		}
	}
	for _, g := range r.gateways {
		for _, p := range g.parties {
			if outer := []netip.Addr{p.model.Address, literal(p.model.Endpoint)}; slices.ContainsFunc(outer, cidr.Contains) {
				l.fail(networkField, refuse("%s holds the address of %s, whose tunnel would be led into it", cidr, p.whole()))
				return
			}
			i := slices.IndexFunc(p.sites, func(s site) bool { return s.subnet.Overlaps(cidr) })
			if i < 0 {
				continue
			}
			at := p.position(p.sites[i].field)
			l.fail(networkField, refuse("%s overlaps %s behind %s (%s)", cidr, p.sites[i].subnet, p.whole(), at).
				with("traffic for the overlap could only reach one of them"), at)
			return
		}
	}
}

// whole names a peer with its kind, and a tunnel with its gateway.
func (p *party) whole() string {
	if p.base == "spec" {
		return p.String()
	}
	return p.label + " of " + p.String()
}

// linkRouters refuses two links for one router, which can have one leg on the transit
// network. Routers of different projects may have one name.
func (r *relations) linkRouters() {
	const field = "spec.serviceClusterRouter"
	type router struct{ project, name string }
	first := map[router]*link{}
	for _, l := range r.links {
		own := router{l.model.CustomerProject, l.model.Router}
		if own.name == "" || l.foreign != (own.project != "") { // the rest is refused for itself
			continue
		}
		if f := first[own]; f != nil {
			at := f.position(field)
			l.fail(field, refuse("%s is the router of %s too (%s)", quoted(own.name), f, at).
				with("a router has one leg on the transit network, and so one link"), at)
			continue
		}
		first[own] = l
	}
}

// transitIPs refuses one transit address for two links, and the lock's.
func (r *relations) transitIPs() {
	first := map[netip.Addr]*link{}
	for _, l := range r.links {
		const field = "spec.transitIP"
		a := l.model.TransitIP
		if !a.IsValid() {
			continue
		}
		if f := first[a]; f != nil {
			at := f.position(field)
			l.fail(field, refuse("%s is pinned by %s too (%s)", a, f, at), at)
			continue
		}
		first[a] = l
		if a == r.estate.OpenStack.LockAddress {
			l.fail(field, refuse("%s is the Estate's lock address", a))
		}
	}
}
