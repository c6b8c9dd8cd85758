package nat

import (
	"fmt"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

// maxSegment bounds what TCP is told to send through an ESP tunnel, where the
// route's MTU doesn't show the overhead: 1300 fits ESP in UDP on transit networks
// down to an MTU of 1440.
const maxSegment = 1300

// forward lets through what is granted, and judges every packet: what is revoked ends
// with the packet at hand, whatever the kernel still remembers of its flow.
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
	rules = append(rules, goingOn(t.from, t.port, "ct mark . ct original ip daddr @open")...)
	rules = append(rules, goingOn(t.port, t.from, "ct original ip daddr @reverse_open")...)
	rules = append(rules, beginning(t.from, "grants")...)
	rules = append(rules, beginning(t.port, "reverse_grants")...)
	return append(rules, messages(t)...)
}

// goingOn are the rules for flows of one kind of exposures that were granted before, by
// where their packets come from: whoever began them may still use the virtual IP. (What
// it lost of ports and networks, the agent cuts.) While one ruleset takes another one's
// place, maps and what holds ranges are empty for a moment; the sets that these rules ask
// are not, so that no packet is lost.
func goingOn(asks, answers, open string) []string {
	const flow = " ct status dnat ct state established ct direction "
	return []string{asks + flow + "original " + open + " accept", answers + flow + "reply " + open + " accept"}
}

// beginning are the rules for the first packets of flows, until there is an answer.
func beginning(asks, grants string) []string {
	const flow = " ct status dnat ct state new ip saddr . ct original ip daddr "
	return []string{
		asks + flow + ". meta l4proto . th dport @" + grants + " accept",
		asks + flow + "@" + grants + "_any accept",
	}
}

// messages are ICMP's errors about a flow, which quote a packet of it that anybody can
// make up:
//
//	about         from         about packets    go on
//	exposures     our side     of the peer      to the peer
//	exposures     a peer       of the service   no: all peers' packets bear one address
//	                                            there, the port's, so that one could lower
//	                                            the path MTU of all
//	reverse ones  our side     of the target    to the target
//	reverse ones  the peer     of our side      if the target is behind the same peer
func messages(t tunnel) []string {
	const about = " ct status dnat ct state related icmp type { destination-unreachable, time-exceeded, parameter-problem } ct direction "
	return []string{
		t.port + about + "reply ct mark . ct original ip daddr @open accept",
		t.port + about + "original ct original ip daddr @reverse_open accept",
		t.from + about + "reply ip saddr . ct original ip daddr @behind accept",
	}
}
