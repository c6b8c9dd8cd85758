package nat

import (
	"fmt"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

// maxSegment bounds what TCP is told to send through an ESP tunnel, where the
// route's MTU doesn't show the overhead: 1300 fits ESP in UDP on transit networks
// down to an MTU of 1440.
const maxSegment = 1300

// forward judges every packet by the grants, be it the first of its flow, a later one
// or an answer: what is revoked ends with the packet at hand, whatever the kernel still
// remembers.
//
//	                    asks                answers
//	exposure            from the tunnel     by the port
//	reverse exposure    by the port         from the tunnel
//
// Every flow that was granted has been translated, so one that hasn't been slipped in
// while there was no ruleset, and ends. A packet that bears a peer's address and didn't
// come by the tunnel is nobody's, whatever flow it claims to belong to.
func (in Input) forward(t tunnel) []string {
	rules := []string{"tcp flags syn tcp option maxseg size set rt mtu"}
	if in.Gateway.Protocol == vpn.IPsec {
		rules = append(rules, fmt.Sprintf("tcp flags syn tcp option maxseg size set %d", maxSegment))
	}
	rules = append(rules, "ip saddr @remote "+t.notFrom+" drop")
	rules = append(rules, granted(t.from, t.port, "grants")...)
	rules = append(rules, granted(t.port, t.from, "reverse_grants")...)
	return append(rules, messages(t)...)
}

// granted are the rules for one kind of exposures, by where a flow's packets come from.
// Its port is the same before and after translation.
func granted(asks, answers, grants string) []string {
	const asked, answered = " ct status dnat ct direction original ct state new,established ", " ct status dnat ct direction reply ct state established "
	const flow = "ct original ip saddr . ct original ip daddr "
	return []string{
		asks + asked + flow + ". meta l4proto . th dport vmap @" + grants,
		asks + asked + flow + "vmap @" + grants + "_any",
		answers + answered + flow + ". meta l4proto . th sport vmap @" + grants,
		answers + answered + flow + "vmap @" + grants + "_any",
	}
}

// messages are ICMP's errors about a flow, which quote a packet of it that anybody can make up:
//
//	about         from         about packets    go on
//	exposures     our side     of the peer      to the peer
//	exposures     a peer       of the service   no: all peers' packets bear one address
//	                                            there, the port's, so that one could lower
//	                                            the path MTU of all
//	reverse ones  our side     of the target    to the target
//	reverse ones  the peer     of our side      if the target is behind the same peer
func messages(t tunnel) []string {
	const about = " ct status dnat ct state related icmp type { destination-unreachable, time-exceeded, parameter-problem } "
	return []string{
		t.port + about + "ct direction reply ct original ip daddr @exposures accept",
		t.port + about + "ct direction original ct original ip daddr @reverse_exposures accept",
		t.from + about + "ct direction reply ip saddr . ct original ip daddr @behind accept",
	}
}
