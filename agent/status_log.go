package agent

import (
	"fmt"
	"strings"

	"github.com/vpnctl/vpnctl/agent/report"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// told is what the log says of a peer. It has a line where something begins or ends,
// and none for what goes on.
type told struct {
	up      int             // tunnels, when that was last known
	reasons map[string]bool // why not all are, since they last were
	waits   string          // what isn't in force
}

// mostReasons is how many reasons of one outage are logged: a reason that is put in
// other words at each attempt doesn't fill the log.
const mostReasons = 8

// logPeer tells of a peer whose number of tunnels has changed, or of which it has
// become known why it isn't up. That it is being negotiated, or isn't known, is no news.
func (l *StatusLoop) logPeer(p peerView) {
	if p.State == report.StateUnknown {
		return
	}
	t, known := l.told[p.Name]
	if !known {
		t = &told{}
		l.told[p.Name] = t
	}
	changed := t.up != p.Up // a peer that nothing is known of isn't up
	t.up = p.Up
	switch {
	case p.Up >= p.Expected:
		t.reasons = nil
		if changed {
			l.Log.Info("tunnels up", "peer", p.Name, "up", p.Up, "expected", p.Expected)
		}
	case t.learns(p.why) || changed:
		l.logDown(p)
	}
	l.logPending(t, p)
}

// learns notes a reason, and tells whether it is worth a line.
func (t *told) learns(why string) bool {
	if why == "" || t.reasons[why] || len(t.reasons) >= mostReasons {
		return false
	}
	if t.reasons == nil {
		t.reasons = map[string]bool{}
	}
	t.reasons[why] = true
	return true
}

func (l *StatusLoop) logDown(p peerView) {
	words := []any{"peer", p.Name, "up", p.Up, "expected", p.Expected}
	if p.Message != "" {
		words = append(words, "why", p.Message)
	}
	l.Log.Warn("tunnels down", words...)
}

// logPending tells what is loaded and waits, and when it does no more.
func (l *StatusLoop) logPending(t *told, p peerView) {
	now := strings.Join(p.waits, " and ")
	switch {
	case now == t.waits:
		return
	case now != "":
		l.Log.Info("loaded, not in force until the next re-authentication", "peer", p.Name, "what", now)
	default:
		l.Log.Info("in force", "peer", p.Name, "what", t.waits)
	}
	t.waits = now
}

// logSecrets tells of keys that are missing, each once, and of calls for Secrets that
// fail, once for all.
func (l *StatusLoop) logSecrets() {
	lacking, trouble := map[vpn.SecretRef]bool{}, ""
	for _, ref := range l.want.secrets {
		v := l.vault.get(ref)
		if v.err != nil && trouble == "" {
			trouble = v.err.Error()
		}
		if v.known && (!v.found || len(v.data) == 0) {
			lacking[ref] = true
		}
		switch {
		case lacking[ref] && !l.lacking[ref]:
			l.Log.Warn("key missing", "secret", ref.Name, "key", ref.Key, "of", l.owners(ref))
		case !lacking[ref] && l.lacking[ref]:
			l.Log.Info("key found", "secret", ref.Name, "key", ref.Key, "of", l.owners(ref))
		}
	}
	l.lacking = lacking
	if before := l.said[secretsSubject]; trouble != "" && before != "" {
		trouble = before // the next Secret's words are no news
	}
	l.say(secretsSubject, trouble)
}

// secretsSubject is the log's for the API's answers to calls for Secrets.
const secretsSubject = "Secrets"

// owners names those whose key it is, within the length of a line.
func (l *StatusLoop) owners(ref vpn.SecretRef) string {
	const most = 3
	var names []string
	if ref == l.want.expect.PrivateKey {
		names = append(names, "the gateway")
	}
	for _, p := range l.want.expect.Peers {
		if p.PresharedKey == ref {
			names = append(names, p.Name)
		}
	}
	if more := len(names) - most; more > 0 {
		names = append(names[:most], fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}
