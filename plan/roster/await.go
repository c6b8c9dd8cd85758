package roster

import (
	"fmt"
	"slices"
	"strings"
	"time"

	ipsecv1alpha1 "github.com/vpnctl/vpnctl/crds/ipsec/v1alpha1"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
)

// Goal is what somebody waits for.
type Goal string

// The goals.
const (
	GoalReady   Goal = "ready"   // the gateway is as its manifest asks
	GoalTunnel  Goal = "tunnel"  // every peer is up
	GoalDeleted Goal = "deleted" // the gateway is gone
)

// Verdict is whether something has come.
type Verdict struct {
	Met   bool
	Stuck bool   // it can't come unless somebody edits a manifest
	Text  string // what is waited for, or that it has come
}

// Await judges a gateway, or with a name one of its peers.
func (g Gateway) Await(goal Goal, peer string, now time.Time) Verdict {
	if peer != "" && goal == GoalReady {
		return g.awaitPeer(peer)
	}
	if v, said := g.leaving(goal, g.Ready()); said {
		return v
	}
	if why := g.stuck(); why != "" {
		return Verdict{Stuck: true, Text: why}
	}
	if goal == GoalTunnel {
		return g.awaitTunnels(peer, now)
	}
	r := g.Ready()
	return Verdict{Met: r.Word == Yes, Text: r.text()}
}

// Await judges a link. Nobody waits for a tunnel of one.
func (l Link) Await(goal Goal) Verdict {
	r := l.Ready()
	if v, said := l.leaving(goal, r); said {
		return v
	}
	if why := l.stuck(); why != "" {
		return Verdict{Stuck: true, Text: why}
	}
	return Verdict{Met: r.Word == Yes, Text: r.text()}
}

// leaving judges what is being deleted, or is to be.
func (m Manifest) leaving(goal Goal, r Readiness) (v Verdict, said bool) {
	switch {
	case goal == GoalDeleted && m.Deleting.IsZero():
		return Verdict{Text: "nobody has deleted it"}, true
	case goal == GoalDeleted:
		return Verdict{Text: r.text()}, true
	case !m.Deleting.IsZero():
		return Verdict{Stuck: true, Text: r.text()}, true
	}
	return Verdict{}, false
}

// mendedByEdit are reasons of a link into a customer's project that no waiting mends: what
// its manifest says, or which project its credential is for. A credential that is missing,
// or isn't taken, may still come.
var mendedByEdit = []string{
	ipsecv1alpha1.ReasonAttestationMissing, ipsecv1alpha1.ReasonAttestationMalformed, ipsecv1alpha1.ReasonSecretName,
	ipsecv1alpha1.ReasonCredentialsProject, ipsecv1alpha1.ReasonCredentialsAreOperators,
}

// stuck says what only an edit of a link's manifest mends, or another credential; empty:
// nothing.
func (l Link) stuck() string {
	for _, c := range l.Conditions {
		if c.Status != False || l.Outdated(c) {
			continue
		}
		if c.Type == vpnv1alpha1.ConditionValidated || c.Type != vpnv1alpha1.ConditionReady && slices.Contains(mendedByEdit, c.Reason) {
			return c.text()
		}
	}
	return ""
}

func (r Readiness) text() string {
	switch {
	case r.Word == Yes:
		return "ready"
	case r.Reason == "":
		return r.Message
	}
	return strings.TrimSuffix(r.Reason+": "+r.Message, ": ")
}

// awaitPeer wants the manifest of one peer in force.
func (g Gateway) awaitPeer(name string) Verdict {
	for _, p := range g.Peers {
		if p.Name != name || p.Gone() {
			continue
		}
		if p.Created.IsZero() {
			return Verdict{Stuck: true, Text: "has no manifest of its own: wait for its gateway"}
		}
		c, _ := p.Condition(vpnv1alpha1.ConditionReady)
		r := p.Ready()
		return Verdict{Met: r.Word == Yes, Stuck: r.Word == Going || r.Word == No && refused(c), Text: r.text()}
	}
	return Verdict{Text: "has no such peer yet"}
}

// refused tells whether a condition says that a peer's manifest isn't valid.
func refused(c Condition) bool {
	return c.Status == False && (c.Reason == vpnv1alpha1.ReasonInvalidSpec || c.Reason == vpnv1alpha1.ReasonUnknownGrant)
}

// awaitTunnels wants every peer up that can be expected to be, or the one that is named.
// A gateway whose last edit was not looked at yet may still show how it was before.
func (g Gateway) awaitTunnels(peer string, now time.Time) Verdict {
	if c, there := g.Condition(vpnv1alpha1.ConditionReady); there && g.Outdated(c) {
		return Verdict{Text: g.Ready().text()}
	}
	var wanted, waiting []string
	roams := false
	for _, p := range g.Peers {
		leaves := p.Gone() || !p.Deleting.IsZero()
		roams = roams || p.Roams && !leaves
		if peer != "" && p.Name != peer || peer == "" && (p.Roams || leaves) {
			continue
		}
		wanted = append(wanted, p.Name)
		if c, there := p.Condition(vpnv1alpha1.ConditionAuthorized); there && p.Outdated(c) {
			waiting = append(waiting, strings.TrimPrefix(p.unseen(), "peer "))
		} else if t := g.Tunnel(p, now); t.Word != TunnelUp {
			waiting = append(waiting, strings.TrimSuffix(p.Name+" "+t.Word+": "+t.Message, ": "))
		}
	}
	switch {
	case len(waiting) > 0:
		return Verdict{Text: shortened(waiting, 5)}
	case len(wanted) > 0 && peer != "":
		return Verdict{Met: true, Text: "up"}
	case len(wanted) > 0:
		return Verdict{Met: true, Text: fmt.Sprintf("%d of %d up", len(wanted), len(wanted))}
	case peer != "":
		return Verdict{Text: "has no such peer yet"}
	case roams:
		return Verdict{Met: true, Text: "has road warriors alone, who come and go"}
	}
	return Verdict{Text: "has no peer yet"}
}

// shortened joins at most n texts.
func shortened(texts []string, n int) string {
	if len(texts) > n {
		return strings.Join(texts[:n], "; ") + fmt.Sprintf("; and %d more", len(texts)-n)
	}
	return strings.Join(texts, "; ")
}

// stuck says what only an edit of a manifest mends, of the versions that are there; empty:
// nothing. A Secret that is missing, an exhausted pool or an address that is held may
// mend without one.
func (g Gateway) stuck() string {
	for _, c := range g.Conditions {
		if c.Status != False || g.Outdated(c) || c.Type == vpnv1alpha1.ConditionReady {
			continue
		}
		switch c.Reason {
		case vpnv1alpha1.ReasonInvalidSpec, vpnv1alpha1.ReasonInternalSources:
			return c.text()
		case vpnv1alpha1.ReasonRenderInput:
			if g.invalidPeer() {
				return c.text()
			}
		}
	}
	return ""
}

func (c Condition) text() string { return strings.TrimSuffix(c.Reason+": "+c.Message, ": ") }

// invalidPeer tells whether a peer is refused as it stands now. What the gateway says of
// its peers may be older than their last edit.
func (g Gateway) invalidPeer() bool {
	for _, p := range g.Peers {
		c, _ := p.Condition(vpnv1alpha1.ConditionAuthorized)
		if refused(c) && !p.Outdated(c) {
			return true
		}
	}
	return false
}
