package nat

import (
	"net/netip"
	"strconv"
	"strings"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Targets are where the exposures of a ruleset lead, by their names. Of an exposure
// whose target is a host only the ports are there: the agent is told its name
// elsewhere.
func (t Table) Targets() map[string]vpn.Target {
	all := map[string]vpn.Target{}
	for _, name := range []string{"targets_any", "targets", "reverse_targets_any", "reverse_targets"} {
		set, _ := t.Set(name)
		for _, e := range set.Elements {
			if target, ok := e.lead(all[e.Note]); ok {
				all[e.Note] = target
			}
		}
	}
	for _, c := range t.Chains {
		for _, rule := range c.Rules {
			if match, name, ok := strings.Cut(rule, " dnat ip to ip daddr map @"+HostMap("")); ok {
				all[name] = matched(match)
			}
		}
	}
	return all
}

// lead adds what one element leads to: "100.64.3.10 . tcp . 443 : 10.20.0.5", or
// without the ports.
func (e Element) lead(target vpn.Target) (vpn.Target, bool) {
	from, to, _ := strings.Cut(e.Text, " : ")
	address, err := netip.ParseAddr(to)
	if err != nil {
		return target, false
	}
	target.Address = address
	if parts := strings.Split(from, " . "); len(parts) == 3 {
		target.Protocol = parts[1]
		target.Ports = append(target.Ports, ports(parts[2])...)
	}
	return target, true
}

// matched reads the ports of a rule: "… ip daddr 100.64.3.13 tcp dport { 443, 8000-8010 }".
func matched(rule string) vpn.Target {
	before, list, ok := strings.Cut(rule, " dport { ")
	if !ok {
		return vpn.Target{}
	}
	words := strings.Fields(before)
	list, _, _ = strings.Cut(list, " }")
	return vpn.Target{Protocol: words[len(words)-1], Ports: ports(strings.Split(list, ", ")...)}
}

func ports(texts ...string) []vpn.PortRange {
	var all []vpn.PortRange
	for _, text := range texts {
		from, to, isRange := strings.Cut(text, "-")
		if !isRange {
			to = from
		}
		first, err := strconv.ParseUint(from, 10, 16)
		last, bad := strconv.ParseUint(to, 10, 16)
		if err == nil && bad == nil {
			all = append(all, vpn.PortRange{From: uint16(first), To: uint16(last)})
		}
	}
	return all
}
