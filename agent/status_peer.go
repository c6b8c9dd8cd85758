package agent

import (
	"strings"
	"time"

	"github.com/vpnctl/vpnctl/agent/report"
	"github.com/vpnctl/vpnctl/agent/vici"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// peerView is one peer as it was seen at a tick.
type peerView struct {
	report.Peer
	tunnels []tunnelView
	rekey   time.Time // of any of its SAs, the first one due; zero: not known
	grants  [2]int    // exposures and reverse exposures
	roaming bool      // down is no fault
	secret  bool      // its Secret is there, as far as is known
	waits   []string  // what is loaded and not in force: waitsTimers, waitsKey
	why     string    // it isn't up, in the data plane's words; empty: that isn't known
}

// tunnelView is one tunnel that should be up.
type tunnelView struct {
	name      string
	up, known bool
	rekey     time.Time
}

// observe makes of charon's list what is to be said of each expected peer.
func (l *StatusLoop) observe(sas []vici.SA, ruleset bool) []peerView {
	by := group(sas)
	views := make([]peerView, 0, len(l.want.expect.Peers))
	for _, p := range l.want.expect.Peers {
		views = append(views, l.observeOne(p, by[p.Name], ruleset))
	}
	return views
}

// observeOne counts the children that carry packets, under whichever IKE SA, and not
// the IKE SAs, which carry nothing: a peer all of whose children are missing is down.
func (l *StatusLoop) observeOne(p vpn.ExpectedPeer, sas []vici.SA, ruleset bool) peerView {
	now, r := l.Now(), l.memory.of(p.Name)
	v := l.view(p)
	v.Expected = len(p.Children)
	for _, name := range p.Children {
		t := tunnelView{name: name, known: true, up: up(sas, name), rekey: rekeyOf(sas, name, now)}
		if t.up {
			v.Up++
			v.rekey = earlier(v.rekey, t.rekey)
		}
		v.tunnels = append(v.tunnels, t)
	}
	state, since := stateOf(sas, v.Up, v.Expected), time.Time{}
	if state == vici.Established {
		since = now.Add(-oldest(sas))
		for _, sa := range sas {
			if sa.State == vici.Established && sa.RekeyIn > 0 {
				v.rekey = earlier(v.rekey, now.Add(sa.RekeyIn))
			}
		}
	}
	r.state(state, now, since, !r.renewed)
	if v.Up >= v.Expected {
		delete(l.failures, p.Name)
	}
	v.State, v.Since, v.RekeyAt, v.BytesIn, v.BytesOut = r.State, r.Since, v.rekey, r.In, r.Out
	if v.Up < v.Expected {
		v.why = l.failures[p.Name]
	}
	v.Message = l.explain(p, v, ruleset)
	return v
}

// view is what doesn't depend on the data plane.
func (l *StatusLoop) view(p vpn.ExpectedPeer) peerView {
	secret := l.vault.get(p.PresharedKey)
	return peerView{
		Peer:    report.Peer{Name: p.Name},
		grants:  [2]int{len(p.Access.Exposures), len(p.Access.ReverseExposures)},
		roaming: p.Roaming,
		secret:  !secret.known || secret.found && len(secret.data) > 0,
		waits:   l.pending(p.Name),
	}
}

// stateOf is one word for a peer. An IKE SA that is rekeyed is up all the while.
func stateOf(sas []vici.SA, up, expected int) string {
	negotiating := false
	for _, sa := range sas {
		switch {
		case sa.State == vici.Established && expected == 0:
			return vici.Established
		case sa.State == vici.Connecting, sa.State == vici.Established && sa.Tasks:
			negotiating = true
		}
	}
	switch {
	case up > 0:
		return vici.Established
	case negotiating:
		return vici.Connecting
	}
	return report.StateDown
}

// oldest is for how long the longest standing IKE SA with children has been up.
func oldest(sas []vici.SA) time.Duration {
	var longest time.Duration
	for _, sa := range sas {
		if len(carried(sa)) > 0 {
			longest = max(longest, sa.Established)
		}
	}
	return longest
}

// rekeyOf is when a child is rekeyed next; zero: not known, or overdue.
func rekeyOf(sas []vici.SA, child string, now time.Time) time.Time {
	var at time.Time
	for _, sa := range sas {
		for _, c := range sa.Children {
			if c.Name == child && carries(c.State) && c.RekeyIn > 0 {
				at = earlier(at, now.Add(c.RekeyIn))
			}
		}
	}
	return at
}

// earlier is the earlier one of two times of which either may be unknown.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// explain says why a peer isn't whole, and what isn't in force.
func (l *StatusLoop) explain(p vpn.ExpectedPeer, v peerView, ruleset bool) string {
	var words []string
	add := func(text string) {
		if text != "" {
			words = append(words, text)
		}
	}
	secret := l.vault.get(p.PresharedKey)
	if p.PresharedKey.Name == "" || v.Up < v.Expected || !secret.waiting() { // each start of the agent would show
		add(secret.problem(p.PresharedKey))
	}
	if _, there := l.want.connections[p.Name]; !there {
		add("there is no connection for it in swanctl.conf")
	}
	add(l.charon.refused[keySubject(p.Name)].why)
	add(l.charon.refused[connectionSubject(p.Name)].why)
	if v.Up < v.Expected {
		if _, loaded := l.charon.loaded[p.Name]; !loaded && !ruleset {
			add("waiting for a ruleset in force")
		}
		if v.why != "" {
			add("last attempt: " + v.why)
		}
	}
	if len(v.waits) > 0 {
		add("loaded, not in force until the next re-authentication: " + strings.Join(v.waits, " and "))
	}
	return strings.Join(words, "; ")
}

// What may wait for the next re-authentication.
const (
	waitsTimers = "timers"
	waitsKey    = "the pre-shared key"
)

// pending is what is loaded and not in force.
func (l *StatusLoop) pending(name string) []string {
	var what []string
	loaded, there := l.charon.loaded[name]
	if effect, _ := change(l.memory.negotiated[name], loaded); there && effect == waits {
		what = append(what, waitsTimers)
	}
	if l.memory.of(name).Key {
		what = append(what, waitsKey)
	}
	return what
}

const noCharon = "charon doesn't answer"

// unknown is what is to be said while the data plane doesn't answer: what was known
// last stays known to the totals, and is no statement about now.
func (l *StatusLoop) unknown() []peerView {
	now := l.Now()
	views := make([]peerView, 0, len(l.want.expect.Peers))
	for _, p := range l.want.expect.Peers {
		r, v := l.memory.of(p.Name), l.view(p)
		r.blind(now)
		v.State, v.Since, v.BytesIn, v.BytesOut = report.StateUnknown, r.Blind, r.In, r.Out
		v.Message = noCharon
		names := p.Children
		if !l.want.ipsec() {
			names, v.Message = []string{p.Name}, "the data plane has published nothing lately"
		}
		v.Expected = len(names)
		for _, name := range names {
			v.tunnels = append(v.tunnels, tunnelView{name: name})
		}
		views = append(views, v)
	}
	return views
}
