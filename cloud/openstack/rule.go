package openstack

import (
	"net/netip"
	"strings"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/state"
)

// protocols are the names of IP protocol numbers, and of names that Neutron
// accepts besides.
var protocols = map[string]string{
	"1": "icmp", "2": "igmp", "6": "tcp", "17": "udp", "33": "dccp", "46": "rsvp", "47": "gre", "50": "esp", "51": "ah",
	"58": "ipv6-icmp", "icmpv6": "ipv6-icmp", "89": "ospf", "112": "vrrp", "113": "pgm", "132": "sctp", "136": "udplite",
	"any": "", "-1": "",
}

// canonical makes rules for the same traffic equal: numbers become names, -1 and
// null no limit, prefixes lose their host bits, and everything is anywhere.
func canonical(r rule) resource.Rule {
	c := resource.Rule{Direction: r.Direction, Ether: r.Ether, Protocol: strings.ToLower(text(r.Protocol)),
		From: number(r.From), To: number(r.To), Why: state.RuleReason(text(r.Description)),
		Group: text(r.RemoteGroup) + text(r.AddressGroup)}
	if name, ok := protocols[c.Protocol]; ok {
		c.Protocol = name
	}
	for _, s := range []string{text(r.Normalized), text(r.Remote)} {
		if p, err := netip.ParsePrefix(s); err == nil {
			c.Remote = p.Masked()
			break
		}
		if a, err := netip.ParseAddr(s); err == nil {
			c.Remote = netip.PrefixFrom(a, a.BitLen())
			break
		}
	}
	if c.Remote.Bits() == 0 {
		c.Remote = netip.Prefix{}
	}
	return c
}

// isDefault tells whether a rule is one that Neutron gives every new group.
func isDefault(r resource.Rule) bool {
	return r.Key() == resource.Rule{Direction: "egress", Ether: r.Ether}
}

// sift parts the rules of a group, canonical and sorted, into ours and those of
// another hand. A rule that stands there twice is there twice.
func sift(rules []rule) (ours, foreign []resource.Rule) {
	return ledgered{group: group{Rules: rules}}.sift()
}

// sift is the same for a group that may be an operator's, whose rules are ours then.
func (g ledgered) sift() (ours, foreign []resource.Rule) {
	for _, r := range g.Rules {
		if c := canonical(r); ourRule(r) || g.operators[r.ID] {
			ours = append(ours, c)
		} else {
			foreign = append(foreign, c)
		}
	}
	resource.SortRules(ours)
	resource.SortRules(foreign)
	return ours, foreign
}

// ourRule tells whether a rule is one that we made, or one of Neutron's own.
func ourRule(r rule) bool {
	c := canonical(r)
	return isDefault(c) || c.Group == "" && state.OurRule(text(r.Description))
}

// untouched tells whether a group has no rules but Neutron's own.
func untouched(rules []rule) bool {
	for _, r := range rules {
		if !isDefault(canonical(r)) {
			return false
		}
	}
	return true
}
