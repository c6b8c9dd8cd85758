package nat

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

func (in Input) chains(exposures []flow) []Chain {
	t := in.tunnel()
	self, ports := in.Ledger.Self().String(), in.ports()
	return []Chain{
		{"outer", "type filter hook prerouting priority raw; policy accept;", []string{
			fmt.Sprintf("%s ip daddr %s udp dport %s notrack", t.port, in.Address, ports),
		}},
		{"outer_own", "type filter hook output priority raw; policy accept;", []string{
			fmt.Sprintf("ip saddr %s udp sport %s notrack", in.Address, ports),
		}},
		{"prerouting", "type nat hook prerouting priority dstnat; policy accept;", prerouting(t, exposures)},
		{"input", "type filter hook input priority filter; policy accept;", []string{
			t.from + " drop",
			fmt.Sprintf("%s ip daddr %s udp dport %s accept", t.port, in.Address, ports),
			t.port + " icmp type destination-unreachable accept",
			t.port + " drop",
		}},
		{"forward", "type filter hook forward priority filter; policy drop;", in.forward(t)},
		{"postrouting", "type nat hook postrouting priority srcnat; policy accept;", []string{
			"ct status dnat ct original ip daddr @exposures snat ip to " + in.Address,
			"ct status dnat ct original ip daddr @reverse_exposures snat ip to " + self,
		}},
		{"counted", "type filter hook postrouting priority srcnat + 40; policy accept;", counted()},
		{"sealed", "type filter hook postrouting priority srcnat + 50; policy accept;", in.sealed(t)},
	}
}

func prerouting(t tunnel, exposures []flow) []string {
	internal := t.port + " ip saddr @internal "
	rules := []string{
		t.from + " dnat ip to ip daddr . meta l4proto . th dport map @targets",
		t.from + " dnat ip to ip daddr map @targets_any",
		internal + "dnat ip to ip daddr . meta l4proto . th dport map @reverse_targets",
		internal + "dnat ip to ip daddr map @reverse_targets_any",
	}
	for _, f := range exposures {
		if f.Target.Host != "" {
			rules = append(rules, fmt.Sprintf("%s ip daddr %s %sdnat ip to ip daddr map @%s", t.from, f.virtual, f.portMatch(), HostMap(f.Name)))
		}
	}
	return rules
}

func (f flow) portMatch() string {
	if len(f.Target.Ports) == 0 {
		return ""
	}
	var ports []string
	for _, r := range f.Target.Ports {
		ports = append(ports, r.String())
	}
	return fmt.Sprintf("%s dport { %s } ", f.Target.Protocol, strings.Join(ports, ", "))
}

// A peer has as many connections at once as its shards hold together. The kernel looks
// through a whole shard for each new one, so they are many and small; which of them
// a connection is in follows from its source.
const (
	shards   = 512
	perShard = 64
	maxPeers = 8192 // at a time, with connections

	// MaxConnections is how many a peer has at most.
	MaxConnections = shards * perShard
)

// counted marks a connection through an exposure as the peer's that makes it, and lets
// no peer fill the kernel's list of connections, which all of them share. That is when
// it is about to enter the list: after it was granted, and with its first packet alone.
func counted() []string {
	const first = "ct status ! confirmed ct original ip daddr @exposures "
	return []string{
		first + "ct mark set ct original ip saddr map @peers",
		first + "ct mark 0 drop",
		first + fmt.Sprintf("meta mark set jhash ct original ip saddr . th sport mod %d add @%s { ct mark . meta mark ct count over %d } drop", shards, ConnectionSet, perShard),
	}
}

// sealed stands behind source translation, because only then does the kernel know
// whether an IPsec policy takes the packet.
//
//	from the service CIDR   through the tunnel, or as an answer of a reverse exposure by
//	                        the port, which goes to the internal source that asked
//	to a peer's address     through the tunnel
//
// The first holds without knowing the peer, who may have been removed just now. The
// tunnel's own packets pass, because a peer's public address may lie within its own
// subnets.
func (in Input) sealed(t tunnel) []string {
	from := "ip saddr " + in.Ledger.ServiceCIDR.String()
	rules := []string{
		fmt.Sprintf("%s %s accept", from, t.into),
		fmt.Sprintf("%s oifname %q ct direction reply ct original ip daddr @reverse_exposures accept", from, PortInterface),
		from + " drop",
	}
	if to, some := in.outside(); some {
		rules = append(rules, fmt.Sprintf("udp sport %s %saccept", in.ports(), to))
	}
	return append(rules, "ip daddr @remote "+t.notInto+" drop")
}

// outside matches where the tunnel's own packets go, and is false if they go nowhere.
func (in Input) outside() (match string, some bool) {
	if in.Gateway.Protocol == vpn.WireGuard {
		return "", true
	}
	var addresses []string
	for _, p := range in.Gateway.Peers {
		addresses = append(addresses, p.Address.String())
	}
	slices.Sort(addresses)
	addresses = slices.Compact(addresses)
	return fmt.Sprintf("ip daddr { %s } ", strings.Join(addresses, ", ")), len(addresses) > 0
}
