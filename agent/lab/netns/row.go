//go:build e2e

package netns

import "testing"

// Row is three networks in a row, with packets on their way through the gateway:
//
//	peer 192.168.10.9, .40.9 --- wg0 gateway net1 --- ours 10.20.0.5, 10.20.0.9
//	                         100.64.7.0/24: the virtual IPs
//
// The peer's link ends in an interface with the tunnel's name, which is how a
// WireGuard gateway's ruleset tells tunnel traffic.
type Row struct{ Peer, Gateway, Ours Namespace }

// NewRow makes the three. The gateway forwards, and has no ruleset yet.
func NewRow(t *testing.T) Row {
	t.Helper()
	r := Row{New(t, "peer"), New(t, "gateway"), New(t, "ours")}
	Wire(t, r.Peer, "c0", r.Gateway, "wg0")
	Wire(t, r.Gateway, "net1", r.Ours, "t0")
	r.Peer.IP(t, "addr add 192.168.255.2/30 dev c0", "addr add 192.168.10.9/32 dev lo", "addr add 192.168.40.9/32 dev lo",
		"route add default via 192.168.255.1")
	r.Gateway.IP(t, "addr add 192.168.255.1/30 dev wg0", "addr add 10.254.0.18/24 dev net1",
		"route add 192.168.0.0/17 via 192.168.255.2", "route add 10.20.0.0/24 via 10.254.0.5")
	r.Ours.IP(t, "addr add 10.254.0.5/24 dev t0", "addr add 10.20.0.5/32 dev lo", "addr add 10.20.0.9/32 dev lo",
		"route add 100.64.7.0/24 via 10.254.0.18", "route add 192.168.255.0/30 via 10.254.0.18")
	r.Gateway.Sysctl(t, "net.ipv4.ip_forward", "1")
	return r
}
