package vpn

import (
	"fmt"
	"net/netip"
)

// Exposure is a target made reachable under a virtual IP of the gateway: one of
// our services for the peers (exposure), or one of a peer's for us (reverse
// exposure).
type Exposure struct {
	Name      string     `json:"name"`
	VirtualIP netip.Addr `json:"virtualIP,omitzero"` // pinned; zero: allocate
	Target    Target     `json:"target"`
}

// Target is where an exposure leads: exactly one of Host and Address, and for a
// reverse exposure always an Address.
type Target struct {
	Host     string      `json:"host,omitempty"` // resolved by the agent, never by the planner
	Address  netip.Addr  `json:"address,omitzero"`
	Protocol string      `json:"protocol,omitempty"` // tcp or udp, set exactly where Ports are
	Ports    []PortRange `json:"ports,omitempty"`    // sorted, disjoint; empty: every protocol and port
}

// PortRange is an inclusive range of ports.
type PortRange struct {
	From uint16 `json:"from"`
	To   uint16 `json:"to"`
}

// String writes one port as 443 and a range as 30000-30100.
func (r PortRange) String() string {
	if r.From == r.To {
		return fmt.Sprint(r.From)
	}
	return fmt.Sprintf("%d-%d", r.From, r.To)
}
