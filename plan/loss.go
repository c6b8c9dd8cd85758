package plan

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// ending is what the end of a gateway does to its peers. Where another gateway takes
// over its address and its range, their side need not change.
func (d *draft) ending(p *party) Verdict {
	address, cidr := d.holdings(p)
	for _, g := range d.in.Estate.Gateways {
		if address.IsValid() && g.FloatingIP == address && cidr.IsValid() && g.ServiceCIDR == cidr {
			return everyone(p, ImpactRestart, "all its tunnels end, and "+g.Owner.Path()+" takes over its address and its range")
		}
	}
	return everyone(p, ImpactCustomer, "all its tunnels end for good: its peers must change or stop")
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
		v.Consequence = body(c.Before, floatingIP).Address + " goes back to its pool and may never be had again"
	case c.Before.SecurityGroup != nil:
		cidr := serviceCIDR(c.Before.SecurityGroup.Ledger)
		if cidr == "" || d.pinsRange(cidr) {
			return v
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

// pinsRange tells whether a manifest pins a service CIDR.
func (d *draft) pinsRange(cidr string) bool {
	return slices.ContainsFunc(d.in.Estate.Gateways, func(g vpn.Gateway) bool {
		return g.ServiceCIDR.IsValid() && g.ServiceCIDR.String() == cidr
	})
}

// departure is what it does to a peer without a manifest that another gateway has
// got: it must call that one now.
func (d *draft) departure(p *party, peer string, rules []resource.Rule) Verdict {
	from := map[netip.Addr]bool{}
	for _, r := range rules {
		if r.Why == peerRule+peer && r.Remote.IsSingleIP() {
			from[r.Remote.Addr()] = true
		}
	}
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
	return Verdict{}
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
