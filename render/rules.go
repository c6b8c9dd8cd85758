package render

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Ports of IKE, the second one with ESP in UDP. Bare ESP needs no rule: behind a
// floating IP it is always in UDP.
const (
	portIKE  = 500
	portNATT = 4500
)

// rules are the security group's: what its peers and internal callers send, and
// Neutron's two default rules for what leaves. Canonical, with one rule for the same
// traffic wherever several reasons want it.
func rules(g vpn.Gateway, internal []netip.Prefix) []resource.Rule {
	all := []resource.Rule{
		{Direction: "egress", Ether: "IPv4", Why: "default"},
		{Direction: "egress", Ether: "IPv6", Why: "default"},
	}
	for _, p := range g.Peers {
		all = append(all, peerRules(g, p)...)
	}
	for _, x := range g.ReverseExposures {
		for _, from := range internal {
			all = append(all, reverseRules(x, from)...)
		}
	}
	return merge(all)
}

func peerRules(g vpn.Gateway, p vpn.Peer) []resource.Rule {
	why := "peer " + p.Name
	if g.Protocol == vpn.WireGuard {
		return []resource.Rule{ingress("udp", g.WireGuard.ListenPort, g.WireGuard.ListenPort, p.Sender(), why)}
	}
	from := netip.PrefixFrom(p.Address, p.Address.BitLen())
	return []resource.Rule{ingress("udp", portIKE, portIKE, from, why), ingress("udp", portNATT, portNATT, from, why)}
}

func reverseRules(x vpn.Exposure, from netip.Prefix) []resource.Rule {
	why := "reverse exposure " + x.Name
	if len(x.Target.Ports) == 0 {
		return []resource.Rule{ingress("", 0, 0, from, why)}
	}
	var all []resource.Rule
	for _, r := range x.Target.Ports {
		all = append(all, ingress(x.Target.Protocol, int(r.From), int(r.To), from, why))
	}
	return all
}

func ingress(protocol string, from, to int, remote netip.Prefix, why string) resource.Rule {
	return resource.Rule{Direction: "ingress", Ether: "IPv4", Protocol: protocol, From: from, To: to, Remote: remote, Why: why}
}

// merge sorts the rules and joins the reasons of equal ones.
func merge(all []resource.Rule) []resource.Rule {
	slices.SortStableFunc(all, func(a, b resource.Rule) int {
		if c := a.Compare(b); c != 0 {
			return c
		}
		return strings.Compare(a.Why, b.Why)
	})
	merged := all[:0]
	for _, r := range all {
		if n := len(merged); n > 0 && merged[n-1].Key() == r.Key() {
			if merged[n-1].Why != r.Why {
				merged[n-1].Why += ", " + r.Why
			}
			continue
		}
		merged = append(merged, r)
	}
	return merged
}
