package manifest

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

// relations checks what no object can know by itself.
type relations struct {
	reading  *reading
	estate   *vpn.Estate
	gateways []*gateway
	parties  []*party
	links    []*link
	pinned   map[netip.Prefix]pin // service CIDRs that manifests fix
	outside  []pin                // those of them that don't lie in the pool
}

// check runs every rule between objects. Objects come in the order of their
// places, so that of two that clash the later one is reported, naming the first.
func (r *relations) check() {
	r.join()
	r.sameName()
	r.pinnedFloatingIPs()
	r.serviceCIDRs()
	for _, g := range r.gateways {
		g.names()
		g.addresses(r.estate.ServiceCIDRPool)
		g.keys()
		g.identities()
		g.siteOverlaps()
		g.grantsExist()
		g.nobody()
		r.reverseTargets(g)
		r.sources(g)
		r.reserved(g)
	}
	r.linkNetworks()
	r.linkRouters()
	r.transitIPs()
	r.optIns()
	r.clouds()
}

// join gives every peer to its gateway, and refuses those without one.
func (r *relations) join() {
	byPath := map[string]*gateway{}
	for _, g := range r.gateways {
		if old := byPath[g.path()]; old == nil || old.model.Open {
			byPath[g.path()] = g
		}
	}
	for _, p := range r.parties {
		if p.gatewayRef == "" {
			continue
		}
		g := byPath[p.namespace+"/"+p.gatewayRef]
		switch {
		case g == nil:
			r.orphan(p)
		case g.model.Open:
			p.fail("spec.gatewayRef", refuse("%s is an IPsecGateway, which has tunnels of its own instead of peers", quoted(p.gatewayRef)),
				g.position(""))
		case p.protocol != "" && g.model.Protocol != "" && p.protocol != g.model.Protocol:
			p.fail(p.block, refuse("the peer is one of %s, but %s %s speaks %s", p.protocol, g.kind, g.path(), g.model.Protocol),
				g.position("spec.protocol"))
		default:
			g.parties = append(g.parties, p)
		}
	}
}

// orphan refuses a peer whose gateway isn't there.
func (r *relations) orphan(p *party) {
	no := refuse("there is no VPNGateway %s in namespace %s", quoted(p.gatewayRef), p.namespace)
	var names []string
	for _, g := range r.gateways {
		switch {
		case g.namespace == p.namespace && !g.model.Open:
			names = append(names, g.name)
		case g.name == p.gatewayRef && no.hint == "":
			no.with("there is one in namespace %s; a peer stands in its gateway's namespace", g.namespace)
		}
	}
	if no.hint == "" {
		no.did(p.gatewayRef, names)
	}
	if no.hint == "" && r.reading.lost {
		no.with("it may stand in a document that could not be read")
	}
	p.fail("spec.gatewayRef", no)
}

// sameName refuses two gateways that would share every Kubernetes name.
func (r *relations) sameName() {
	first := map[string]*gateway{}
	for _, g := range r.gateways {
		if f := first[g.path()]; f != nil {
			g.fail("metadata.name", refuse("%s of the same namespace and name is in %s", f.kind, f.position("")).
				with("their objects would share their names; one of them has to go"), f.position(""))
			continue
		}
		first[g.path()] = g
	}
}

// pinnedFloatingIPs refuses one floating IP for two gateways.
func (r *relations) pinnedFloatingIPs() {
	first := map[netip.Addr]*gateway{}
	const field = "spec.endpoint.floatingIP"
	for _, g := range r.gateways {
		a := g.model.FloatingIP
		if !a.IsValid() {
			continue
		}
		if f := first[a]; f != nil {
			at := f.position(field)
			g.fail(field, refuse("%s is pinned by %s too (%s)", a, f, at), at)
			continue
		}
		first[a] = g
	}
}

// pin is a /24 that a manifest asks for.
type pin struct {
	*gateway
	cidr  netip.Prefix
	field string
}

// pins are the service CIDRs that manifests fix, by themselves or through a
// range within one.
func (r *relations) pins() []pin {
	var out []pin
	for _, g := range r.gateways {
		if cidr, field := g.home(); cidr.IsValid() {
			out = append(out, pin{g, cidr, field})
		}
	}
	return out
}

// home is the /24 that a gateway's manifest fixes, and the field that does.
func (g *gateway) home() (netip.Prefix, string) {
	if g.model.ServiceCIDR.IsValid() {
		return g.model.ServiceCIDR, "spec.serviceCIDR"
	}
	if w := g.model.WireGuard; w != nil && w.RoadWarriorCIDR.IsValid() {
		return block(w.RoadWarriorCIDR.Addr()), "spec.wireguard.roadWarriorCIDR"
	}
	return netip.Prefix{}, ""
}

// block is the /24 around an address.
func block(a netip.Addr) netip.Prefix {
	return netip.PrefixFrom(a, 24).Masked()
}

// serviceCIDRs refuses one service CIDR for two gateways, and remembers those
// that the pool's own rules don't cover.
func (r *relations) serviceCIDRs() {
	r.pinned = map[netip.Prefix]pin{}
	for _, p := range r.pins() {
		if f, taken := r.pinned[p.cidr]; taken {
			at := f.position(f.field)
			p.fail(p.field, refuse("%s is pinned by %s too (%s)", p.cidr, f.gateway, at), at)
			continue
		}
		r.pinned[p.cidr] = p
		if pool := r.estate.ServiceCIDRPool; !pool.IsValid() || !pool.Overlaps(p.cidr) {
			r.outside = append(r.outside, p)
		}
	}
}

// finish puts the parts of a gateway together, each list in its order.
func (g *gateway) finish() vpn.Gateway {
	m := g.model
	for _, x := range g.exposed {
		if x.reverse {
			m.ReverseExposures = append(m.ReverseExposures, x.Exposure)
		} else {
			m.Exposures = append(m.Exposures, x.Exposure)
		}
	}
	byName := func(a, b vpn.Exposure) int { return cmp.Compare(a.Name, b.Name) }
	slices.SortFunc(m.Exposures, byName)
	slices.SortFunc(m.ReverseExposures, byName)
	slices.SortFunc(g.parties, func(a, b *party) int { return cmp.Compare(a.model.Name, b.model.Name) })
	m.Manifests = append(m.Manifests, g.write())
	for _, p := range g.parties {
		m.Peers = append(m.Peers, p.model)
		if p.object != g.object {
			m.Manifests = append(m.Manifests, p.write())
		}
	}
	return m
}

// write gives the object as it goes into a rendered tree.
func (c check) write() vpn.Manifest {
	m, err := c.manifest()
	if err != nil && !c.bad {
		c.fail("", refuse("%v", err))
	}
	return m
}
