package roster

import (
	"fmt"
	"time"

	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Readiness says whether a gateway or a link is as its manifest asks.
type Readiness struct {
	Word    string // Yes, No, NotKnown or Going
	Reason  string // of the condition Ready; empty where that isn't what decides
	Message string // why; empty for Yes
	Since   time.Time
}

// The words of a Readiness.
const (
	Yes      = "yes"
	No       = "no"
	NotKnown = "unknown"
	Going    = "deleting"
)

// Ready tells whether a gateway is as its manifest and those of its peers ask. What its
// condition says counts only where every peer was looked at as it stands now.
func (g Gateway) Ready() Readiness {
	r := g.ready(g.Touched)
	if r.Word != Yes {
		return r
	}
	if why := g.unseen(); why != "" {
		return Readiness{Word: NotKnown, Since: r.Since, Message: why}
	}
	return r
}

// unseen says which peers nobody has looked at since they were last edited; empty: none.
// Tunnels of an IPsecGateway stand in its own manifest.
func (g Gateway) unseen() string {
	var all []string
	for _, p := range g.Peers {
		if why := p.unseen(); why != "" && g.Owner.Kind == vpn.KindVPNGateway {
			all = append(all, why)
		}
	}
	return shortened(all, 3)
}

func (p Peer) unseen() string {
	c, there := p.Condition(vpnv1alpha1.ConditionAuthorized)
	switch {
	case p.Gone():
		return "" // the condition is of a time when nobody knew it any more, or its pod is late
	case !p.Deleting.IsZero():
		return "peer " + p.Name + " is being deleted"
	case !there:
		return "peer " + p.Name + " was not looked at yet"
	case p.Outdated(c):
		return fmt.Sprintf("peer %s was edited since (generation %d, now %d)", p.Name, c.Generation, p.Generation)
	}
	return ""
}

// Ready tells whether the manifest of a peer is in force, whatever its tunnel does.
func (p Peer) Ready() Readiness { return p.ready(len(p.Conditions) > 0) }

// Ready tells whether a link is as its manifest asks.
func (l Link) Ready() Readiness { return l.ready(l.Touched) }

// ready judges by the condition that sums the others up.
//
//	being deleted                        deleting
//	no status                            unknown: not looked at yet
//	no such condition                    unknown: nobody writes conditions here
//	it is of an older generation         unknown: of an older version of the manifest
//	True, False, Unknown                 yes, no, unknown
func (m Manifest) ready(touched bool) Readiness {
	c, there := m.Condition(vpnv1alpha1.ConditionReady)
	switch {
	case !m.Deleting.IsZero():
		r := Readiness{Word: Going, Since: m.Deleting, Message: "is being deleted"}
		if there && c.Status != True && c.Message != "" {
			r.Reason, r.Message = c.Reason, r.Message+": "+c.Message
		}
		return r
	case !touched:
		return Readiness{Word: NotKnown, Message: "not looked at yet"}
	case !there:
		return Readiness{Word: NotKnown, Message: "its status has no condition Ready: nobody writes conditions here"}
	case m.Outdated(c):
		return Readiness{Word: NotKnown, Since: c.Since, Message: m.age(c) + ", and said " + c.Status}
	}
	word := map[string]string{True: Yes, False: No}[c.Status]
	switch word {
	case Yes:
		return Readiness{Word: Yes, Reason: c.Reason, Since: c.Since}
	case "":
		word = NotKnown
	}
	return Readiness{Word: word, Reason: c.Reason, Message: c.Message, Since: c.Since}
}

// age says of which version of the manifest an outdated condition is.
func (m Manifest) age(c Condition) string {
	return fmt.Sprintf("status is of an older version of the manifest (generation %d, now %d)", c.Generation, m.Generation)
}

// Wrong are the conditions to show of whatever is not well: those that aren't True, but
// for Ready where another one says the same, or what Readiness says of a deletion.
func (m Manifest) Wrong() []Condition {
	var all []Condition
	told := map[string]bool{}
	for _, c := range m.Conditions {
		if c.Type != vpnv1alpha1.ConditionReady && c.Status != True {
			all = append(all, c)
			told[c.Status+c.Reason] = true
		}
	}
	told[False+vpnv1alpha1.ReasonGatewayNotReady], told[Unknown+vpnv1alpha1.ReasonGatewayNotReady] = true, true // by the gateway
	if c, there := m.Condition(vpnv1alpha1.ConditionReady); there && c.Status != True && !told[c.Status+c.Reason] && m.Deleting.IsZero() {
		all = append(all, c)
	}
	return all
}

// Harmless tells whether a condition that is False is no fault: a port that is open to
// everyone, or a peer without a grant, is as the manifest says.
func (c Condition) Harmless() bool {
	return c.Type == vpnv1alpha1.ConditionSecurityGroupScoped || c.Type == vpnv1alpha1.ConditionAuthorized && c.Reason == vpnv1alpha1.ReasonNoGrants
}
