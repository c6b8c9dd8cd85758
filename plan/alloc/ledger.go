package alloc

import (
	"net/netip"
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
	Peers       []string        `json:"peers,omitempty"`      // every peer of the gateway, sorted
	Grants      bool            `json:"grants,omitempty"`     // authorization is by grants; false: open or default-allow
	FloatingIP  string          `json:"floatingIP,omitempty"` // ID of a floating IP that is the customer's

	Applied  string    `json:"applied,omitempty"` // hash of the desired state that was reached
	Draining time.Time `json:"draining,omitzero"` // the Kubernetes side was removed at that moment

	Ref     string    `json:"ref,omitempty"`    // observed: ID of the security group it stands on
	Created time.Time `json:"created,omitzero"` // observed: of that group; the older of two claims wins
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

// Claim is a range that is taken by something that is no ledger of this estate:
// another estate's ledger, a route on a router, a pin.
type Claim struct {
	Prefix netip.Prefix `json:"prefix"`
	By     string       `json:"by"` // in words
}
