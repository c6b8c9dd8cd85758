package vpn

import (
	"fmt"
	"net/netip"
	"slices"
)

// specials are this host's, loopback, link-local (where clouds keep what servers must not be asked for),
// multicast, reserved and broadcast.
var specials = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("169.254.0.0/16"),
	netip.MustParsePrefix("224.0.0.0/4"), netip.MustParsePrefix("240.0.0.0/4"),
}

// Specials are the ranges of which no host that can be reached has an address.
func Specials() []netip.Prefix { return slices.Clone(specials) }

// Special is the range of addresses of no reachable host that a network lies in, or the
// zero Prefix.
func Special(p netip.Prefix) netip.Prefix {
	for _, s := range specials {
		if s.Contains(p.Addr()) && p.Bits() >= s.Bits() {
			return s
		}
	}
	return netip.Prefix{}
}

// Reserved are the networks that gateways answer in, as far as a gateway with this
// service CIDR knows: the pool, and its own where that was pinned outside of the pool.
// No service has an address there, and no peer's endpoint does.
func (e Estate) Reserved(serviceCIDR netip.Prefix) []netip.Prefix {
	var all []netip.Prefix
	for _, p := range []netip.Prefix{e.ServiceCIDRPool, serviceCIDR} {
		if p.IsValid() && !slices.ContainsFunc(all, p.Overlaps) {
			all = append(all, p.Masked())
		}
	}
	return all
}

// Forbids says why nothing of the gateway may be sent to an address that a host name
// stands for: an exposure would lead its peers to another client, to each other or into
// the pod, and a WireGuard endpoint into a tunnel. own are addresses that the pod has
// besides those of agent.json. It is empty for an address that is as good as any.
//
// What a manifest names by its address was held against the same ranges when it was
// read; a name may change what it stands for at any time.
func (e Expectation) Forbids(a netip.Addr, own ...netip.Addr) string {
	if s := Special(netip.PrefixFrom(a, a.BitLen())); s.IsValid() {
		return fmt.Sprintf("it lies in %s, where no host can be reached", s)
	}
	if slices.Contains(own, a) || a.String() == e.Port.Address || a.String() == e.PublicAddress {
		return "it is the gateway's own"
	}
	if e.ServiceCIDR.Contains(a) {
		return fmt.Sprintf("it lies in %s, the gateway's service CIDR", e.ServiceCIDR)
	}
	for _, p := range e.Reserved {
		if p.Contains(a) {
			return fmt.Sprintf("it lies in %s, where gateways answer", p)
		}
	}
	for _, p := range e.Peers {
		for _, s := range p.Sources {
			if s.Contains(a) {
				return fmt.Sprintf("it lies in %s, a network of peer %s", s, p.Name)
			}
		}
	}
	return ""
}
