package alloc

import (
	"net/netip"
	"slices"
	"time"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Ledger is what was allocated to one owner. It is written on the tags of the
// gateway's security group before anything is programmed with it, and it is all
// that is needed to find everything again.
type Ledger struct {
	Estate string    `json:"estate"`
	Owner  vpn.Owner `json:"owner"`

	Protocol    vpn.Protocol    `json:"protocol,omitempty"`
	ServiceCIDR netip.Prefix    `json:"serviceCIDR,omitzero"`
	VirtualIPs  map[string]byte `json:"virtualIPs,omitempty"` // exposure name → last octet, both lists
	Addresses   map[string]byte `json:"addresses,omitempty"`  // road warrior → last octet
	// PastVirtualIPs of exposures and PastAddresses of road warriors are those that are
	// nobody's any more, in the order in which they became so: the latest that there is
	// room for.
	PastVirtualIPs []Past `json:"pastVirtualIPs,omitempty"`
	PastAddresses  []Past `json:"pastAddresses,omitempty"`

	Peers      []string `json:"peers,omitempty"`      // every peer of the gateway, sorted
	Grants     bool     `json:"grants,omitempty"`     // authorization is by grants; false: open or default-allow
	FloatingIP string   `json:"floatingIP,omitempty"` // ID of a floating IP that is the customer's

	Applied string `json:"applied,omitempty"` // hash of the desired state that was reached
	// MovingFrom are service CIDRs that the owner had before and that may still be
	// programmed: a move from them has begun and has not been recorded as done. They
	// are as taken as ServiceCIDR. Sorted.
	MovingFrom []netip.Prefix `json:"movingFrom,omitempty"`
	Draining   time.Time      `json:"draining,omitzero"` // the Kubernetes side was removed at that moment
	// Adopting is the UID that an operator's objects carry, from when they begin to be
	// taken over until a desired state was reached with them.
	Adopting string `json:"adopting,omitempty"`

	Ref     string    `json:"ref,omitempty"`    // observed: ID of the security group it stands on
	Created time.Time `json:"created,omitzero"` // observed: of that group; see Ahead
}

// VirtualIP is the full address of an exposure; the zero Addr where none is
// allocated.
func (l Ledger) VirtualIP(exposure string) netip.Addr { return l.address(l.VirtualIPs[exposure]) }

// Address is the tunnel address of a road warrior; the zero Addr where none is
// allocated.
func (l Ledger) Address(peer string) netip.Addr { return l.address(l.Addresses[peer]) }

// Self is the gateway's own address, .1 of the service CIDR.
func (l Ledger) Self() netip.Addr { return l.address(1) }

func (l Ledger) address(octet byte) netip.Addr {
	if octet == 0 || !l.ServiceCIDR.IsValid() {
		return netip.Addr{}
	}
	bytes := l.ServiceCIDR.Addr().As4()
	bytes[3] = octet
	return netip.AddrFrom4(bytes)
}

// Ranges are all service CIDRs that may be programmed for the owner: its own, and
// those that it moves from.
func (l Ledger) Ranges() []netip.Prefix {
	if !l.ServiceCIDR.IsValid() {
		return l.MovingFrom
	}
	return append([]netip.Prefix{l.ServiceCIDR}, l.MovingFrom...)
}

// Move records that the owner leaves the ranges that it had before, until Applied
// is written: what is still programmed with them is known for ours by that. A
// gateway that moves has left its applied state.
func (l Ledger) Move(before Ledger) Ledger {
	l.MovingFrom = slices.DeleteFunc(slices.Clone(before.Ranges()), func(p netip.Prefix) bool { return p == l.ServiceCIDR })
	slices.SortFunc(l.MovingFrom, netip.Prefix.Compare)
	l.MovingFrom = slices.Compact(l.MovingFrom)
	if len(l.MovingFrom) == 0 {
		l.MovingFrom = nil
		return l
	}
	l.Applied = ""
	return l
}

// Built tells whether a desired state was reached at some time, also when it has
// been left for a move since, or when an operator reached it.
func (l Ledger) Built() bool {
	return l.Applied != "" || len(l.MovingFrom) > 0 || l.Adopting != ""
}

// Claim is a range that is taken by something that is no ledger of this estate:
// another estate's ledger, a route on a router, a pin.
type Claim struct {
	Prefix netip.Prefix `json:"prefix"`
	By     string       `json:"by"` // in words
	// Owner is whose manifest says so; zero where something else does. Its ledger, where
	// the estate has one, is right instead.
	Owner vpn.Owner `json:"owner,omitzero"`
}
