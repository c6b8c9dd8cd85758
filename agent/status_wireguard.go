package agent

import (
	"strings"
	"time"

	"github.com/vpnctl/vpnctl/agent/report"
	"github.com/vpnctl/vpnctl/agent/vici"
	"github.com/vpnctl/vpnctl/agent/volume"
	"github.com/vpnctl/vpnctl/agent/wireguard"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// wireguard hands the keys over and makes of what the dataplane half has published
// what is to be said of each peer.
func (l *StatusLoop) wireguard(d *volume.Dataplane) []peerView {
	l.handOver()
	if d != nil {
		l.noteInForce(d.Config == l.want.hash)
	}
	if d == nil || l.age > l.Stale {
		return l.unknown()
	}
	found := map[string]volume.WireGuardPeer{}
	if d.WireGuard != nil {
		for _, p := range d.WireGuard.Peers {
			found[p.Name] = p
		}
	}
	l.stamps.forget(l.Now())
	views := make([]peerView, 0, len(l.want.expect.Peers))
	for _, p := range l.want.expect.Peers {
		peer, there := found[p.Name]
		views = append(views, l.observeSession(p, peer, there, d))
	}
	return views
}

// handOver writes the keys for the dataplane half. A pre-shared key whose Secret is
// gone is taken back, as a peer that must have one is to be refused without it; the
// private key is not, because with it every session would end. What can't be read
// leaves the keys as they were handed over before, by an earlier agent too.
func (l *StatusLoop) handOver() {
	before, _, err := l.Volume.ReadKeys()
	l.say("keys.json as it was", errText(err))
	keys := volume.Keys{PrivateKey: before.PrivateKey, Preshared: map[string][]byte{}}
	if v := l.vault.get(l.want.expect.PrivateKey); len(v.data) > 0 {
		keys.PrivateKey = v.data
	}
	for _, p := range l.want.expect.Peers {
		if p.PresharedKey.Name == "" {
			continue
		}
		v := l.vault.get(p.PresharedKey)
		old, had := before.Preshared[p.Name]
		switch {
		case v.known && v.found:
			keys.Preshared[p.Name] = v.data
		case !v.known && had:
			keys.Preshared[p.Name] = old
		}
	}
	if len(keys.PrivateKey) > 0 {
		_, err := l.Volume.WriteKeys(keys)
		l.say("keys.json", errText(err))
	}
}

// observeSession makes a view of one peer. A session is up while its last handshake is
// young enough for packets to pass.
func (l *StatusLoop) observeSession(p vpn.ExpectedPeer, peer volume.WireGuardPeer, there bool, d *volume.Dataplane) peerView {
	now, r, v := l.Now(), l.memory.of(p.Name), l.view(p)
	up := there && !peer.Handshake.IsZero() && l.stamps.age("handshake of "+p.PublicKey, peer.Handshake, now) < wireguard.SessionAge
	if there {
		r.device(peer)
	}
	state := report.StateDown
	if up {
		v.Up, state = 1, vici.Established
	}
	r.state(state, now, time.Time{}, true)
	v.secret = v.secret || p.PresharedKey.Name == ""
	v.Expected, v.tunnels = 1, []tunnelView{{name: p.Name, up: up, known: true}}
	v.LastHandshake, v.State, v.Since, v.BytesIn, v.BytesOut = peer.Handshake, r.State, r.Since, r.In, r.Out
	if !up {
		v.why = peer.Problem
	}
	v.Message = l.explainSession(p, peer, d)
	return v
}

func (l *StatusLoop) explainSession(p vpn.ExpectedPeer, peer volume.WireGuardPeer, d *volume.Dataplane) string {
	var words []string
	for _, text := range []string{l.keyProblem(l.want.expect.PrivateKey), l.keyProblem(p.PresharedKey)} {
		if text != "" {
			words = append(words, text)
		}
	}
	if len(words) == 0 && peer.Problem != "" { // without a key the device says so, too
		words = append(words, peer.Problem)
	}
	if d.WireGuard == nil {
		words = append(words, "there is no WireGuard device")
	}
	return strings.Join(words, "; ")
}

// keyProblem is what is wrong with a key that is named; what only wasn't read yet is no
// problem, because the keys of before are still there.
func (l *StatusLoop) keyProblem(ref vpn.SecretRef) string {
	v := l.vault.get(ref)
	if ref.Name == "" || v.waiting() {
		return ""
	}
	return v.problem(ref)
}
