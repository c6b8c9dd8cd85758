package manifest

import (
	"fmt"
	"net/netip"
	"slices"

	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// party is a peer in the making, and where its parts were written: a VPNPeer, or
// one tunnel of an IPsecGateway.
type party struct {
	check
	model      vpn.Peer
	gatewayRef string
	label      string // how a diagnostic names it
	base       string // where its parts start
	block      string // where its protocol's part starts
	protocol   vpn.Protocol
	sites      []site
}

// site is one subnet behind a peer, and where it was written.
type site struct {
	subnet netip.Prefix
	field  string
}

// vpnPeer reads a VPNPeer.
func vpnPeer(c check, w vpnv1alpha1.VPNPeer) *party {
	s := w.Spec
	p := &party{check: c, label: c.path(), base: "spec"}
	p.model.Name = c.name
	p.model.Position = c.position("").String()
	p.gatewayRef = read(c, "spec.gatewayRef", s.GatewayRef, label)
	switch {
	case s.IPsec != nil && s.WireGuard != nil:
		c.fail("spec", refuse("ipsec and wireguard are both set; exactly one must be"))
	case s.IPsec == nil && s.WireGuard == nil:
		c.fail("spec", refuse("neither ipsec nor wireguard is set; exactly one must be").with("%s", c.sample("spec.ipsec")))
	case s.IPsec != nil:
		p.protocol, p.block = vpn.IPsec, "spec.ipsec"
		p.ipsec(s.IPsec.Peer, s.IPsec.RemoteSubnets, s.IPsec.ESP, s.IPsec.Mode)
		p.model.PSK = c.secretRef("spec.ipsec.pskSecretRef", s.IPsec.PSKSecretRef)
		p.model.Selectors = vpn.PerSubnet
		if s.IPsec.Selectors == "" {
			p.empty("spec.ipsec.selectors")
		} else {
			p.model.Selectors = vpn.Selectors(read(c, "spec.ipsec.selectors", s.IPsec.Selectors, one(string(vpn.PerSubnet), string(vpn.Joined))))
		}
	default:
		p.protocol, p.block = vpn.WireGuard, "spec.wireguard"
		p.wireGuard(*s.WireGuard)
	}
	if s.Authorization != nil {
		p.model.Grants = &vpn.Grants{
			Exposures:        c.grants("spec.authorization.exposures", s.Authorization.Exposures, vpnv1alpha1.MaxExposures),
			ReverseExposures: c.grants("spec.authorization.reverseExposures", s.Authorization.ReverseExposures, vpnv1alpha1.MaxReverseExposures),
		}
	}
	return p
}

// ipsec reads what a VPNPeer and a tunnel have in common.
func (p *party) ipsec(peer vpnv1alpha1.PeerEndpoint, subnets []vpnv1alpha1.CIDR, esp vpnv1alpha1.ESP, mode vpnv1alpha1.Mode) {
	p.connection()
	p.model.Address = read(p.check, p.block+".peer.address", peer.Address, address)
	p.model.ID = read(p.check, p.block+".peer.id", peer.ID, identity)
	p.subnets(p.block+".remoteSubnets", subnets)
	p.model.ESPProposals = p.proposals(p.block+".esp.proposals", esp.Proposals)
	p.model.ESPLifetime = p.lifetime(p.block+".esp.lifetime", esp.Lifetime, defaultESPLifetime)
	if mode == "" {
		p.empty(p.block + ".mode")
	}
	switch read(p.check, p.block+".mode", mode, one(string(vpnv1alpha1.SNAT), string(vpnv1alpha1.Routed))) {
	case string(vpnv1alpha1.Routed):
		p.fail(p.block+".mode", refuse("routed is not supported").with("use snat, and reverse exposures for the way from our side"))
	}
}

// connection refuses the one DNS label that can't be a section of swanctl.conf,
// where it means another file.
func (p *party) connection() {
	if p.model.Name != "include" {
		return
	}
	field := "metadata.name"
	if p.base != "spec" {
		field = p.base + ".name"
	}
	p.fail(field, refuse("%s can't be the name of a connection", quoted(p.model.Name)).with("choose another"))
}

// wireGuard reads a site or a road warrior: without subnets it is the latter.
func (p *party) wireGuard(w vpnv1alpha1.PeerWireGuard) {
	p.model.PublicKey = read(p.check, "spec.wireguard.publicKey", w.PublicKey, publicKey)
	p.model.Endpoint = read(p.check, "spec.wireguard.endpoint", w.Endpoint, endpoint)
	p.model.RoadWarrior = len(w.Subnets) == 0
	p.subnets("spec.wireguard.subnets", w.Subnets)
	p.tunnelIP("spec.wireguard.address", string(w.Address))
	if w.PresharedKeySecretRef != nil {
		p.model.PresharedKey = p.secretRef("spec.wireguard.presharedKeySecretRef", *w.PresharedKeySecretRef)
	}
	if k := w.PersistentKeepalive; k != nil {
		p.model.Keepalive = int(*k)
		if *k < 0 || *k > 65535 {
			p.fail("spec.wireguard.persistentKeepalive", refuse("%d is not a number of seconds from 0 to 65535", *k))
		}
	}
}

// tunnelIP reads the pinned address of a road warrior. A site has none.
func (p *party) tunnelIP(field, text string) {
	switch {
	case text == "auto" && !p.model.RoadWarrior:
		p.warn(field, refuse("has no effect: a peer with subnets is a site and gets no address"))
	case text != "" && !p.model.RoadWarrior:
		p.fail(field, refuse("address and subnets are both set; a site has subnets, a road warrior an address"))
	default:
		p.model.TunnelIP = read(p.check, field, text, autoAddress)
	}
}

// subnets reads the networks behind a peer.
func (p *party) subnets(base string, list []vpnv1alpha1.CIDR) {
	p.limit(base, len(list), vpnv1alpha1.MaxSubnets)
	for i, text := range list {
		at := fmt.Sprintf("%s[%d]", base, i)
		n := read(p.check, at, text, network)
		switch {
		case text == "":
			p.fail(at, refuse("an empty network"))
			continue
		case !n.IsValid():
			continue
		case n != n.Masked():
			p.warn(at, refuse("%s has host bits set and is taken as %s", n, n.Masked()))
			n = n.Masked()
		}
		p.sites = append(p.sites, site{n, at})
	}
	p.ownOverlaps()
	for _, s := range p.sites {
		p.model.Subnets = append(p.model.Subnets, s.subnet)
	}
	slices.SortFunc(p.model.Subnets, netip.Prefix.Compare)
	p.model.Subnets = slices.Compact(p.model.Subnets)
}

// ownOverlaps warns about networks of one peer that hold one another.
func (p *party) ownOverlaps() {
	for i, s := range p.sites {
		for _, o := range p.sites[:i] {
			switch {
			case s.subnet == o.subnet:
				p.warn(s.field, refuse("%s is given twice", s.subnet))
			case s.subnet.Overlaps(o.subnet):
				p.warn(s.field, refuse("%s overlaps %s of the same peer", s.subnet, o.subnet))
			default:
				continue
			}
			break
		}
	}
}

// grants reads the names of one list; whether they exist is a later question.
func (c check) grants(field string, list []vpnv1alpha1.Label, most int) []string {
	c.limit(field, len(list), most)
	var out []string
	for i, w := range list {
		at := fmt.Sprintf("%s[%d]", field, i)
		name := read(c, at, w, label)
		switch {
		case w == "":
			c.fail(at, refuse("an empty name"))
		case name == "":
		case slices.Contains(out, name):
			c.warn(at, refuse("%s is granted twice", quoted(name)))
		default:
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
