package roster

import (
	"time"

	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
)

// Tunnel is the state of a peer, in few words.
type Tunnel struct {
	Word    string // TunnelUp, TunnelPart, TunnelConnecting, TunnelDown or NotKnown
	Since   time.Time
	Message string
	Stale   bool // the last report doesn't say how it is now
}

// The words of a Tunnel.
const (
	TunnelUp         = "up"
	TunnelPart       = "part" // some of the child SAs are up
	TunnelConnecting = "connecting"
	TunnelDown       = "down"
)

// The states of a report that matter here; the others are charon's.
const (
	reportedDown       = "DOWN"
	reportedUnknown    = "UNKNOWN"
	reportedConnecting = "CONNECTING"
)

// Overdue is how long after the moment that changes a report nothing may be written,
// before the report says nothing about now. Pods write figures each minute, and may be
// without the API server for a while.
const Overdue = 10 * time.Minute

// sessionAge is how long a WireGuard session lasts after its handshake.
const sessionAge = 3 * time.Minute

// Tunnel tells how a peer of this gateway is.
func (g Gateway) Tunnel(p Peer, now time.Time) Tunnel {
	t := Tunnel{Word: p.Report.word(), Since: p.Report.Since, Message: p.Report.Message}
	switch why := g.doubt(p, now); {
	case t.Word == NotKnown && t.Message == "" && p.Report.State == "":
		t.Message = "its pod has reported nothing yet"
	case t.Word != NotKnown && why != "":
		return Tunnel{Word: NotKnown, Since: p.Report.At, Stale: true, Message: why + "; the last report said " + t.Word}
	}
	return t
}

func (r Report) word() string {
	switch {
	case r.State == "" || r.State == reportedUnknown:
		return NotKnown
	case r.Expected > 0 && r.Up >= r.Expected:
		return TunnelUp
	case r.Up > 0:
		return TunnelPart
	case r.State == reportedConnecting:
		return TunnelConnecting
	case r.State == reportedDown || r.Expected > 0:
		return TunnelDown
	}
	return TunnelUp // nothing is expected of it but to be there
}

// doubt says why a report says nothing about now; empty: it does.
func (g Gateway) doubt(p Peer, now time.Time) string {
	r := p.Report
	written := r.At
	if g.Reported.After(written) {
		written = g.Reported
	}
	c, _ := g.Condition(vpnv1alpha1.ConditionDeploymentReady)
	up := r.word() == TunnelUp || r.word() == TunnelPart
	switch {
	case c.Status == False && c.Reason == vpnv1alpha1.ReasonUnavailable && !written.After(c.Since):
		return "no report since its pod isn't available"
	case !g.Deleting.IsZero() && !written.After(g.Deleting):
		return "no report since its gateway is being deleted"
	case up && overdue(r.RekeyAt, written, now):
		return "no report since a rekey was due"
	case up && !r.LastHandshake.IsZero() && overdue(r.LastHandshake.Add(sessionAge), written, now):
		return "no report since a handshake was due"
	}
	return ""
}

// overdue tells whether something was due so long ago that it would have been reported,
// and nothing has been written since. A pod that writes at all writes states first.
func overdue(due, written, now time.Time) bool {
	late := due.Add(Overdue)
	return !due.IsZero() && now.After(late) && !written.After(late)
}

// Tally counts a gateway's peers: all, those that are up whole, and those of whom
// nothing is known.
func (g Gateway) Tally(now time.Time) (all, up, unknown int) {
	for _, p := range g.Peers {
		switch g.Tunnel(p, now).Word {
		case TunnelUp:
			up++
		case NotKnown:
			unknown++
		}
	}
	return len(g.Peers), up, unknown
}
