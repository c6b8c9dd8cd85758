package manifest

import (
	"encoding/base64"
	"net/netip"
	"slices"
	"strings"
)

// names refuses two exposures of one name, in either list, and two tunnels.
func (g *gateway) names() {
	first := map[string]exposure{}
	for _, x := range g.exposed {
		if x.Name == "" {
			continue
		}
		if f, dup := first[x.Name]; dup {
			at := g.position(f.field + ".name")
			g.fail(x.field+".name", refuse("%s is the name of %s too (%s)", quoted(x.Name), f.field, at).
				with("exposures and reverse exposures share one set of names"), at)
			continue
		}
		first[x.Name] = x
	}
	tunnels := map[string]*party{}
	for _, p := range g.parties {
		if f := tunnels[p.model.Name]; f != nil && p.object == g.object && p.model.Name != "" {
			at := g.position(f.base + ".name")
			g.fail(p.base+".name", refuse("%s is the name of %s too (%s)", quoted(p.model.Name), f.base, at), at)
			continue
		}
		tunnels[p.model.Name] = p
	}
}

// pinned is an address of the service CIDR that a manifest asks for.
type pinned struct {
	check
	address netip.Addr
	field   string
	label   string
}

func (g *gateway) pinnedAddresses() []pinned {
	var out []pinned
	for _, x := range g.exposed {
		if x.VirtualIP.IsValid() {
			out = append(out, pinned{g.check, x.VirtualIP, x.field + ".virtualIP", "exposure " + x.Name})
		}
	}
	for _, p := range g.parties {
		if p.model.TunnelIP.IsValid() {
			out = append(out, pinned{p.check, p.model.TunnelIP, "spec.wireguard.address", "peer " + p.label})
		}
	}
	return out
}

// addresses holds pinned addresses to the gateway's /24, to the road warriors'
// range, and to one owner each.
func (g *gateway) addresses(pool netip.Prefix) {
	home, by := g.home()
	at := g.position(by)
	if w := g.model.WireGuard; w != nil && w.RoadWarriorCIDR.IsValid() && g.model.ServiceCIDR.IsValid() && !g.model.ServiceCIDR.Contains(w.RoadWarriorCIDR.Addr()) {
		g.fail("spec.wireguard.roadWarriorCIDR", refuse("%s lies outside spec.serviceCIDR %s", w.RoadWarriorCIDR, g.model.ServiceCIDR), at)
	}
	first := map[netip.Addr]pinned{}
	for _, p := range g.pinnedAddresses() {
		if !home.IsValid() {
			home, at = block(p.address), p.position(p.field)
			p.homeless(home, pool)
		}
		f, taken := first[p.address]
		switch {
		case !home.Contains(p.address):
			p.fail(p.field, refuse("%s lies outside %s, which %s fixes as the service CIDR", p.address, home, at), at)
		case taken:
			other := f.position(f.field)
			p.fail(p.field, refuse("%s is pinned by %s too (%s)", p.address, f.label, other), other)
		default:
			first[p.address] = p
		}
	}
	for _, p := range g.parties {
		g.roadWarrior(p, home)
	}
}

// homeless warns about an address that no new gateway can have: only one that was
// given its service CIDR from another pool.
func (p pinned) homeless(home, pool netip.Prefix) {
	if pool.IsValid() && !pool.Contains(p.address) {
		p.warn(p.field, refuse("%s lies outside %s, the Estate's service CIDR pool, and the gateway pins no other service CIDR", p.address, pool).
			with("pin serviceCIDR %s in the gateway, if that is meant", home))
	}
}

// roadWarrior holds a pinned road warrior to its range.
func (g *gateway) roadWarrior(p *party, home netip.Prefix) {
	a := p.model.TunnelIP
	if !a.IsValid() || g.model.WireGuard == nil || !home.Contains(a) {
		return
	}
	within := g.model.WireGuard.RoadWarriorCIDR
	if !within.IsValid() {
		top := home.Addr().As4()
		top[3] = 192
		within = netip.PrefixFrom(netip.AddrFrom4(top), 26)
	}
	const field = "spec.wireguard.address"
	switch octet := a.As4()[3]; {
	case octet <= 1 || octet == 255:
		p.fail(field, refuse("%s is reserved: .0, .1 and .255 are no road warrior's", a))
	case !within.Contains(a):
		p.fail(field, refuse("%s lies outside %s, the road warriors' range", a, within), g.position("spec.wireguard.roadWarriorCIDR"))
	}
}

// keys refuses one WireGuard key for two peers: the device has one entry a key,
// and the second would take the first one's networks away.
func (g *gateway) keys() {
	first := map[string]*party{}
	for _, p := range g.parties {
		key, err := base64.StdEncoding.DecodeString(p.model.PublicKey)
		if err != nil || len(key) == 0 {
			continue
		}
		if f := first[string(key)]; f != nil {
			at := f.position("spec.wireguard.publicKey")
			p.fail("spec.wireguard.publicKey", refuse("is the key of %s too (%s)", f.label, at), at)
			continue
		}
		first[string(key)] = p
	}
}

// identities warns about peers that charon can't tell apart.
func (g *gateway) identities() {
	first := map[string]*party{}
	for _, p := range g.parties {
		if p.model.ID == "" {
			continue
		}
		if f := first[p.model.ID]; f != nil {
			at := f.position(f.block + ".peer.id")
			p.warn(p.block+".peer.id", refuse("%s is the identity of %s too (%s)", quoted(p.model.ID), f.label, at).
				with("the connection of one replaces that of the other"), at)
			continue
		}
		first[p.model.ID] = p
	}
}

// reverseTargets refuses a reverse exposure that a peer serves, by grant or by
// being the only one, and whose target doesn't lie behind that peer. One that
// nobody serves leads nowhere.
func (r *relations) reverseTargets(g *gateway) {
	for _, x := range g.exposed {
		if !x.reverse || !x.Target.Address.IsValid() {
			continue
		}
		for _, p := range g.parties {
			if p.model.Grants != nil && slices.Contains(p.model.Grants.ReverseExposures, x.Name) {
				g.reverseGrant(p, x)
			}
		}
		served := slices.ContainsFunc(g.parties, func(p *party) bool { return p.bad || p.model.Serves(x.Exposure) })
		if len(g.parties) > 0 && !served {
			r.unserved(g, x)
		}
	}
}

func (g *gateway) reverseGrant(p *party, x exposure) {
	if p.bad || p.model.Serves(x.Exposure) {
		return
	}
	at := g.position(x.field + ".target.address")
	p.fail(p.entry("spec.authorization.reverseExposures", x.Name),
		refuse("the target %s of %s (%s) does not lie behind this peer: %s", x.Target.Address, quoted(x.Name), at, p.networks()), at)
}

// unserved reports a reverse exposure whose target lies behind no peer. The only
// peer of a gateway, without a block, has it by default, which makes it an error.
func (r *relations) unserved(g *gateway, x exposure) {
	field := x.field + ".target.address"
	only := g.parties[0]
	switch {
	case !g.model.Open && len(g.parties) == 1 && only.model.Grants == nil:
		g.fail(field, refuse("%s does not lie behind %s, the only peer: %s", x.Target.Address, only.label, only.networks()), only.position(only.block))
	case r.reading.found.Errors() == 0: // else a peer may be missing only because of them
		g.warn(field, refuse("%s lies behind no peer of the gateway, so nothing will reach it", x.Target.Address))
	}
}

// networks names the subnets behind a peer.
func (p *party) networks() string {
	if len(p.model.Subnets) == 0 {
		return "it is a road warrior"
	}
	text := make([]string, len(p.model.Subnets))
	for i, s := range p.model.Subnets {
		text[i] = s.String()
	}
	return "behind it is " + strings.Join(text, ", ")
}

// sources holds reverse exposures to known sources: without any, whoever is in
// the same service CIDR could use them. An IPsecGateway only goes without the
// ingress.
func (r *relations) sources(g *gateway) {
	i := slices.IndexFunc(g.exposed, func(x exposure) bool { return x.reverse })
	if i < 0 || !r.reading.sourceless {
		return
	}
	no := refuse("reverse exposures need spec.internalSourceCIDRs in the Estate, which names none").
		with("name the networks on our side that may use them")
	if g.model.SourcesOptional {
		g.warn("spec.reverseExposures", refuse("nothing will reach these: the Estate names no spec.internalSourceCIDRs").
			with("name the networks on our side that may use them"))
		return
	}
	g.fail("spec.reverseExposures", no)
}
