package nat

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Interfaces that tunnel traffic comes and goes by, where it does so by one.
const (
	WireGuardInterface = "wg0"
	CharonInterface    = "ipsec0" // charon's own, for ESP in user space
)

// maxSegment bounds what TCP is told to send through an ESP tunnel, where the
// route's MTU doesn't show the overhead: 1300 fits ESP in UDP on transit networks
// down to an MTU of 1440.
const maxSegment = 1300

// tunnel says how the kernel shows that a packet came, or goes, through the tunnel.
type tunnel struct{ from, notFrom, notInto string }

func (in Input) tunnel() tunnel {
	device := WireGuardInterface
	if in.Gateway.Protocol == vpn.IPsec {
		if in.Dataplane != vpn.DataplaneUserspace {
			return tunnel{"meta secpath exists", "meta secpath missing", "rt ipsec missing"}
		}
		device = CharonInterface
	}
	return tunnel{fmt.Sprintf("iifname %q", device), fmt.Sprintf("iifname != %q", device), fmt.Sprintf("oifname != %q", device)}
}

func (in Input) chains(exposures []flow) []Chain {
	t := in.tunnel()
	return []Chain{
		{"prerouting", "type nat hook prerouting priority dstnat; policy accept;", prerouting(t, exposures)},
		{"input", "type filter hook input priority filter; policy accept;", []string{t.from + " drop"}},
		{"forward", "type filter hook forward priority filter; policy drop;", in.forward(t)},
		{"postrouting", "type nat hook postrouting priority srcnat; policy accept;", []string{
			"ct status dnat ct original ip daddr @exposures snat ip to " + in.Address,
			"ct status dnat ct original ip daddr @reverse_exposures snat ip to " + in.Ledger.Self().String(),
		}},
		{"sealed", "type filter hook postrouting priority srcnat + 50; policy accept;", in.sealed(t)},
	}
}

func prerouting(t tunnel, exposures []flow) []string {
	internal := t.notFrom + " ip saddr @internal "
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

// forward lets through what is established and what is granted. Every flow that was
// granted has been translated, so one that hasn't been slipped in while there was no
// ruleset, and ends. An error about a flow (related) counts as of that flow. A packet
// that bears a peer's address and didn't come by the tunnel is nobody's, whatever flow
// it claims to belong to.
func (in Input) forward(t tunnel) []string {
	rules := []string{"tcp flags syn tcp option maxseg size set rt mtu"}
	if in.Gateway.Protocol == vpn.IPsec {
		rules = append(rules, fmt.Sprintf("tcp flags syn tcp option maxseg size set %d", maxSegment))
	}
	from, internal := t.from+" ct status dnat", t.notFrom+" ct status dnat"
	const key, keyAny = " ip saddr . ct original ip daddr . meta l4proto . th dport vmap @", " ip saddr . ct original ip daddr vmap @"
	return append(rules,
		"ip saddr @remote "+t.notFrom+" drop",
		"ct status dnat ct state established,related accept",
		from+key+"grants",
		from+keyAny+"grants_any",
		internal+key+"reverse_grants",
		internal+keyAny+"reverse_grants_any",
	)
}

// sealed stands behind source translation, because only then does the kernel know
// whether an IPsec policy takes the packet. The tunnel's own packets pass first: a
// peer's public address may lie within its own subnets.
func (in Input) sealed(t tunnel) []string {
	drop := "ip daddr @remote " + t.notInto + " drop"
	own := "ip saddr != " + in.Ledger.ServiceCIDR.String()
	if in.Gateway.Protocol == vpn.WireGuard {
		return []string{fmt.Sprintf("udp sport %d %s accept", in.Gateway.WireGuard.ListenPort, own), drop}
	}
	var addresses []string
	for _, p := range in.Gateway.Peers {
		addresses = append(addresses, p.Address.String())
	}
	slices.Sort(addresses)
	addresses = slices.Compact(addresses)
	if len(addresses) == 0 {
		return []string{drop}
	}
	return []string{fmt.Sprintf("udp sport { 500, 4500 } %s ip daddr { %s } accept", own, strings.Join(addresses, ", ")), drop}
}
