package vici

import "strings"

// Reasons of a failure. Besides, a peer's refusal has the name of its notify, of
// which these are the usual ones.
const (
	NoAnswer             = "no answer"
	NoKey                = "no key"
	ClosedByPeer         = "closed by the peer" // of Changed; a peer also closes the SA that a rekey replaced
	NotInstalled         = "not installed"
	AuthenticationFailed = "AUTHENTICATION_FAILED"
	NoProposalChosen     = "NO_PROPOSAL_CHOSEN"
	TSUnacceptable       = "TS_UNACCEPTABLE"
)

// reasons are the beginnings and ends of the lines in which charon tells why it gives
// up. Nothing but the log tells: a failed negotiation and one that nobody answered
// leave the same empty list. The first that matches counts.
var reasons = []struct{ begin, end, reason string }{
	{"establishing IKE_SA failed, peer not responding", "", NoAnswer},
	{"rekeying IKE_SA failed, peer not responding", "", NoAnswer},
	{"giving up after ", " retransmits", NoAnswer},
	{"no shared key found for ", "", NoKey},
	{"received DELETE for IKE_SA ", "", ClosedByPeer},
	{"unable to install ", " in kernel", NotInstalled}, // policies or SAs

	// We refused what the peer offered.
	{"tried ", ", but MAC mismatched", AuthenticationFailed},
	{"no matching peer config found", "", AuthenticationFailed},
	{"no acceptable proposal found", "", NoProposalChosen},
	{"received proposals unacceptable", "", NoProposalChosen},
	{"no acceptable traffic selectors found", "", TSUnacceptable},
	{"traffic selectors ", " unacceptable", TSUnacceptable},
}

// reason reads a line of charon's log; "" if it tells of no failure.
func reason(line string) string {
	if name, ok := notify(line); ok {
		return name
	}
	for _, r := range reasons {
		if strings.HasPrefix(line, r.begin) && strings.HasSuffix(line, r.end) {
			return r.reason
		}
	}
	return ""
}

// notify reads the peer's refusal:
//
//	received AUTHENTICATION_FAILED notify error
//	received TS_UNACCEPTABLE notify, no CHILD_SA built
//
// Other lines name a notify that ends nothing.
func notify(line string) (string, bool) {
	rest, ok := strings.CutPrefix(line, "received ")
	name, end, found := strings.Cut(rest, " notify")
	ends := strings.HasPrefix(end, " error") || strings.HasPrefix(end, ", no CHILD_SA built")
	if !ok || !found || !ends || strings.Contains(name, " ") {
		return "", false
	}
	return name, true
}
