package nat

import (
	"fmt"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

// PortInterface is the gateway's Neutron port in its pod. The network attachment asks
// for this name.
const PortInterface = "net1"

// Interfaces that tunnel traffic comes and goes by, where it does so by one.
const (
	WireGuardInterface = "wg0"
	CharonInterface    = "ipsec0" // charon's own, for ESP in user space
)

// tunnel says how the kernel shows that a packet came, or goes, through the tunnel, or
// came in by the port and not through it.
type tunnel struct{ from, notFrom, into, notInto, port string }

func (in Input) tunnel() tunnel {
	port := fmt.Sprintf("iifname %q", PortInterface)
	device := WireGuardInterface
	if in.Gateway.Protocol == vpn.IPsec {
		if in.Dataplane != vpn.DataplaneUserspace {
			return tunnel{"meta secpath exists", "meta secpath missing", "rt ipsec exists", "rt ipsec missing", port + " meta secpath missing"}
		}
		device = CharonInterface
	}
	return tunnel{
		fmt.Sprintf("iifname %q", device), fmt.Sprintf("iifname != %q", device),
		fmt.Sprintf("oifname %q", device), fmt.Sprintf("oifname != %q", device), port,
	}
}

// ports are the tunnel's own, at the port's address, as a match takes them.
func (in Input) ports() string {
	if in.Gateway.Protocol == vpn.WireGuard {
		return fmt.Sprint(in.Gateway.WireGuard.ListenPort)
	}
	return "{ 500, 4500 }"
}
