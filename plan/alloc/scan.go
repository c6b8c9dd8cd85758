package alloc

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	ipsecv1alpha1 "github.com/vpnctl/vpnctl/crds/ipsec/v1alpha1"
)

// firstHost is where the search for a leg's address begins: the hosts before are
// usually the subnet's gateway and its DHCP port.
const firstHost = 3

// scan is the search for the lowest free address of the transit subnet. It only moves
// forward, because nothing is freed while addresses are assigned.
type scan struct {
	subnet   netip.Prefix
	passed   map[netip.Addr]bool
	reserved map[netip.Addr]bool // those among the passed that no leg may ever have
	next     uint32
	last     uint32 // the last host; below next: the subnet has no host left
}

func newScan(subnet netip.Prefix) scan {
	s := scan{subnet: subnet.Masked(), passed: map[netip.Addr]bool{}, reserved: map[netip.Addr]bool{}, next: 1}
	if subnet.IsValid() && subnet.Addr().Is4() && subnet.Bits() < 30 { // of a smaller one, number 3 is no host
		s.next = asNumber(s.subnet.Addr()) + firstHost
		s.last = asNumber(broadcast(s.subnet)) - 1
	}
	return s
}

func asNumber(a netip.Addr) uint32 {
	b := a.As4()
	return binary.BigEndian.Uint32(b[:])
}

func asAddress(n uint32) netip.Addr {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], n)
	return netip.AddrFrom4(b)
}

// broadcast is the last address of an IPv4 network.
func broadcast(p netip.Prefix) netip.Addr {
	return asAddress(asNumber(p.Masked().Addr()) | uint32(1<<(32-p.Bits())-1))
}

// pass leaves an address out.
func (s scan) pass(at netip.Addr) { s.passed[at] = true }

// reserve leaves an address out that doesn't count for one of the subnet.
func (s scan) reserve(at netip.Addr) {
	s.passed[at] = true
	s.reserved[at] = true
}

// lowest takes the lowest free address.
func (s *scan) lowest() (netip.Addr, bool) {
	for ; s.next <= s.last; s.next++ {
		if at := asAddress(s.next); !s.passed[at] {
			s.next++
			return at, true
		}
	}
	return netip.Addr{}, false
}

// exhausted says how the subnet was used up.
func (s scan) exhausted() *Problem {
	all := newScan(s.subnet)
	hosts := int64(all.last) - int64(all.next) + 1
	for at := range s.reserved {
		if at.Is4() && all.next <= asNumber(at) && asNumber(at) <= all.last {
			hosts--
		}
	}
	figures := fmt.Sprintf("%d hosts, all taken", hosts)
	if hosts == 0 {
		figures = "it has none from its third host on"
	}
	return &Problem{
		Message: fmt.Sprintf("no address is free in %s for a transit leg: %s", s.subnet, figures),
		Hint:    "remove a port or a link from the transit network, or give it a larger subnet",
		Reason:  ipsecv1alpha1.ReasonAllocation,
	}
}

// outside says why an address is none of a host of the subnet; empty: it is.
func outside(subnet netip.Prefix, at netip.Addr) string {
	switch {
	case !at.Is4():
		return "it is not an IPv4 address"
	case !subnet.Contains(at):
		return fmt.Sprintf("it lies outside of %s, the transit subnet", subnet)
	case subnet.Bits() < 31 && at == subnet.Masked().Addr():
		return fmt.Sprintf("it is the network address of %s, the transit subnet", subnet)
	case subnet.Bits() < 31 && at == broadcast(subnet):
		return fmt.Sprintf("it is the broadcast address of %s, the transit subnet", subnet)
	}
	return ""
}
