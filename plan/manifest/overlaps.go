package manifest

import (
	"cmp"
	"net/netip"
	"slices"
)

// owned is a network behind a peer, together with the peer.
type owned struct {
	site
	*party
}

// sites are the networks behind all peers of a gateway, in the order of their
// addresses, larger ones first.
func (g *gateway) sites() []owned {
	var out []owned
	for _, p := range g.parties {
		for _, s := range p.sites {
			out = append(out, owned{s, p})
		}
	}
	slices.SortStableFunc(out, func(a, b owned) int {
		return cmp.Or(a.subnet.Addr().Compare(b.subnet.Addr()), cmp.Compare(a.subnet.Bits(), b.subnet.Bits()))
	})
	return out
}

// siteOverlaps refuses networks that lie behind two peers of one gateway. In the
// order of sites a network overlaps those before it that hold its address, and
// they form a chain, so one pass with a stack finds the nearest.
func (g *gateway) siteOverlaps() {
	var open []owned
	for _, s := range g.sites() {
		for len(open) > 0 && !open[len(open)-1].subnet.Overlaps(s.subnet) {
			open = open[:len(open)-1]
		}
		i := len(open) - 1
		for i >= 0 && open[i].party == s.party {
			i--
		}
		if i >= 0 {
			clash(open[i], s)
		}
		open = append(open, s)
	}
}

// clash reports two networks at the later place, naming the other.
func clash(a, b owned) {
	if b.position(b.site.field).compare(a.position(a.site.field)) < 0 {
		a, b = b, a
	}
	at := a.position(a.site.field)
	b.fail(b.site.field, refuse("%s overlaps %s of %s (%s)", b.subnet, a.subnet, a.party.label, at).
		with("traffic for the overlap could only reach one of them"), at)
}

// reserved refuses networks behind peers that are our own: the pool, service
// CIDRs outside it, and the sources on our side.
func (r *relations) reserved(g *gateway) {
	for _, p := range g.parties {
		for _, s := range p.sites {
			r.ours(p, s)
		}
		r.outer(p.check, p.block+".peer.address", p.model.Address)
		r.outer(p.check, p.block+".endpoint", literal(p.model.Endpoint))
	}
	r.outer(g.check, "spec.endpoint.floatingIP", g.model.FloatingIP)
	for _, x := range g.exposed {
		if !x.reverse && x.Target.Address.IsValid() {
			r.target(g, x)
		}
	}
	if cidr, field := g.home(); cidr.IsValid() {
		g.pinOverlaps(r, pin{g, cidr, field})
	}
}

// outer refuses an address outside of the tunnels that lies in a service CIDR which a
// manifest fixes: inside, it would be a gateway's own.
func (r *relations) outer(c check, field string, a netip.Addr) {
	if !a.IsValid() {
		return
	}
	if pin, ok := r.pinned[block(a)]; ok {
		at := pin.position(pin.field)
		c.fail(field, refuse("%s lies in %s, the service CIDR of %s (%s)", a, pin.cidr, pin.gateway, at).with("pin another serviceCIDR"), at)
	}
}

// literal is the address in host:port, or none where that is a name.
func literal(endpoint string) netip.Addr {
	p, _ := netip.ParseAddrPort(endpoint)
	return p.Addr()
}

// target refuses an exposure of an address that a gateway answers on: no service of
// ours has it, and what is sent there is never forwarded a second time.
func (r *relations) target(g *gateway, x exposure) {
	const hint = "these are the addresses of gateways, and no service has one: name the service's own address"
	field, a := x.field+".target.address", x.Target.Address
	if pool := r.estate.ServiceCIDRPool; pool.IsValid() && pool.Contains(a) {
		g.fail(field, refuse("%s lies in %s, the Estate's service CIDR pool", a, pool).with(hint))
		return
	}
	for _, pin := range r.outside {
		if pin.cidr.Contains(a) {
			at := pin.position(pin.field)
			g.fail(field, refuse("%s lies in %s, the service CIDR of %s (%s)", a, pin.cidr, pin.gateway, at).with(hint), at)
			return
		}
	}
}

func (r *relations) ours(p *party, s site) {
	if pool := r.estate.ServiceCIDRPool; pool.IsValid() && s.subnet.Overlaps(pool) {
		p.fail(s.field, refuse("%s overlaps %s, the Estate's service CIDR pool", s.subnet, pool).
			with("that network is ours inside the tunnel; the peer has to use another, or translate"))
		return
	}
	for _, pin := range r.outside {
		if s.subnet.Overlaps(pin.cidr) {
			at := pin.position(pin.field)
			p.fail(s.field, refuse("%s overlaps %s, the service CIDR of %s (%s)", s.subnet, pin.cidr, pin.gateway, at), at)
			return
		}
	}
	for _, source := range r.estate.InternalSourceCIDRs {
		if s.subnet.Overlaps(source) {
			p.fail(s.field, refuse("%s overlaps %s of the Estate's internalSourceCIDRs", s.subnet, source).
				with("the peer's own traffic would count as ours and reach reverse exposures"))
			return
		}
	}
}

// pinOverlaps refuses a pinned service CIDR that holds sources on our side: its
// road warriors would count as ours.
func (g *gateway) pinOverlaps(r *relations, p pin) {
	i := slices.IndexFunc(r.estate.InternalSourceCIDRs, func(s netip.Prefix) bool { return s.Overlaps(p.cidr) })
	if i >= 0 {
		g.fail(p.field, refuse("%s overlaps %s of the Estate's internalSourceCIDRs", p.cidr, r.estate.InternalSourceCIDRs[i]))
	}
}
