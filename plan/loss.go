package plan

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// ending is what the end of a gateway does to its peers. Where another gateway takes
// over its address and its range, their side need not change but for what differs.
func (d *draft) ending(p *party) Verdict {
	heir := d.successor(p)
	if heir == nil {
		return everyone(p, ImpactCustomer, "all its tunnels end for good: its peers must change or stop")
	}
	v := everyone(p, ImpactRestart, "all its tunnels end, and "+heir.owner.Path()+" takes over its address and its range")
	v.add(d.inheritance(p, heir))
	return v
}

// loss is what a deletion takes away that no later run can bring back: what the
// peers have in their configuration.
func (d *draft) loss(p *party, c *Change) Verdict {
	if c.Action != Delete || c.Before == nil || second(c.ID) {
		return Verdict{}
	}
	v := Verdict{}
	switch {
	case body(c.Before, floatingIP).Address != "":
		v.Consequence = body(c.Before, floatingIP).Address + goesBack
	case c.Before.SecurityGroup != nil:
		cidr := serviceCIDR(c.Before.SecurityGroup.Ledger)
		if cidr == "" || d.pinnedRange(cidr) {
			return d.late(p)
		}
		v.Consequence = "service CIDR " + cidr + " is free for others"
	default:
		return v
	}
	if p.running() || !p.draining.IsZero() {
		v.Impact, v.Customers = ImpactCustomer, p.peers()
	}
	return v
}

// late is what the heir of a gateway changes for its peers, told once more where the
// pods have gone in an earlier run: the manifests may be others by now.
func (d *draft) late(p *party) Verdict {
	heir := d.successor(p)
	if heir == nil || p.running() || p.draining.IsZero() || p.ledger == nil {
		return Verdict{}
	}
	v := d.inheritance(p, heir)
	if v.Consequence != "" {
		v.Consequence = heir.owner.Path() + " takes over: " + v.Consequence
	}
	return v
}

// pinnedRange tells whether a manifest pins a service CIDR.
func (d *draft) pinnedRange(cidr string) bool {
	p, err := netip.ParsePrefix(cidr)
	return err == nil && slices.ContainsFunc(d.in.Estate.Gateways, func(g vpn.Gateway) bool { return wantsRange(&g, p) })
}

// wantsRange tells whether a gateway's manifest pins a service CIDR, be it by the range
// of its road warriors alone.
func wantsRange(g *vpn.Gateway, cidr netip.Prefix) bool {
	pin, ok := alloc.Pinned(g)
	return ok && pin == cidr
}

// departure is what becomes of a peer without a manifest: its tunnel ends for good, or
// it must call another gateway, which has got it.
func (d *draft) departure(p *party, peer string, rules []resource.Rule) Verdict {
	from := callsFrom(rules, peer)
	for _, o := range d.sorted {
		if o == p || o.gateway == nil {
			continue
		}
		for _, x := range o.gateway.Peers {
			named := x.Name == peer && o.owner.Namespace == p.owner.Namespace
			if (named || from[publicAddress(x)]) && !o.knows(x.Name) {
				return Verdict{ImpactCustomer, []string{peer}, []string{peer}, peer + " goes to " + o.owner.Path() + ", whose address its side must use"}
			}
		}
	}
	return Verdict{ImpactCustomer, []string{peer}, []string{peer}, peer + " has no tunnel any more"}
}

// peerRule begins the reason of a rule that is for a peer.
const peerRule = "peer "

// publicAddress is where a peer calls from, where its manifest says so.
func publicAddress(p vpn.Peer) netip.Addr {
	if p.Address.IsValid() {
		return p.Address
	}
	host, _, _ := strings.Cut(p.Endpoint, ":")
	address, _ := netip.ParseAddr(host)
	return address
}

// knows tells whether a peer is on the ledger.
func (p *party) knows(peer string) bool {
	return p.ledger != nil && slices.Contains(p.ledger.Peers, peer)
}
