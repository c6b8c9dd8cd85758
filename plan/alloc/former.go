package alloc

import (
	"maps"
	"net/netip"
	"slices"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

// predecessor is the ledger of an owner that gives its service CIDR to a gateway in
// the same plan; zero where there is none, or where the gateway has the range by now.
func (a *assignment) predecessor(g *vpn.Gateway, was Ledger, cidr netip.Prefix) Ledger {
	holder, ok := a.holders[cidr]
	if !ok || holder.Owner == g.Owner || holder.ServiceCIDR != cidr || was.ServiceCIDR == cidr || !a.released[holder.Owner] {
		return Ledger{}
	}
	return holder
}

// remember notes the addresses that somebody outside may have written down: a name
// that has gone frees its address, but whoever still calls there must not reach
// another exposure, or another road warrior, as long as there is any other place.
func (t *table) remember(ledgers ...Ledger) {
	for _, l := range ledgers {
		for _, octets := range []map[string]byte{l.VirtualIPs, l.Addresses} {
			for octet := range maps.Values(octets) {
				t.known[octet] = true
			}
		}
		for _, p := range slices.Concat(l.PastVirtualIPs, l.PastAddresses) {
			t.known[p.Octet] = true
		}
	}
}

// follow gives a name the address that it has with the predecessor, or had before it
// went, so that nobody who knows it has to change.
func (t *table) follow(seats []*seat) {
	wishes := slices.DeleteFunc(slices.Clone(seats), func(s *seat) bool { return s.octet != 0 || s.pin.IsValid() })
	for _, s := range wishes {
		if s.within.contains(s.wish) && t.taken[s.wish] == nil {
			t.take(s, s.wish)
		}
	}
}
