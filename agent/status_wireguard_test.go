package agent

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/agent/volume"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/pod"
)

// wireguardRig is a rig for a WireGuard gateway with two peers: one with a pre-shared
// key, and one that comes and goes.
func wireguardRig(t *testing.T) *rig {
	t.Helper()
	r := newRig(t)
	r.charon.Kill() // such a pod has none
	r.expect.Protocol, r.expect.PrivateKey = vpn.WireGuard, vpn.SecretRef{Name: "gateway", Key: "psk"}
	r.expect.Peers = []vpn.ExpectedPeer{
		{Name: "ina", PublicKey: "ina's", PresharedKey: vpn.SecretRef{Name: "ina", Key: "psk"}},
		{Name: "road", PublicKey: "road's", Roaming: true},
	}
	r.secret("gateway", []byte("s3cret private\n"))
	r.secret("ina", []byte("s3cret shared\n"))
	expect, err := r.expect.Text()
	r.must(err)
	r.mount(map[string]string{pod.KeyAgent: expect, pod.KeyWireGuard: "the file"})
	return r
}

// device is what the other half has read.
func (r *rig) device(peers ...volume.WireGuardPeer) {
	r.must(r.loop.Volume.WriteDataplane(volume.Dataplane{
		Written: r.now, Ruleset: "abc", Config: volume.Hash("the file"), WireGuard: &volume.WireGuard{PublicKey: "gateway's", Peers: peers},
	}))
}

func (r *rig) keys() volume.Keys {
	r.Helper()
	k, _, err := r.loop.Volume.ReadKeys()
	r.must(err)
	return k
}

func TestKeysAreHandedOver(t *testing.T) {
	r := wireguardRig(t)
	r.tick()
	if _, found, _ := r.loop.Volume.ReadKeys(); found {
		t.Error("keys are handed over before any was read")
	}
	expect := func(when string, want volume.Keys) {
		t.Helper()
		r.ticks(8)
		if diff := cmp.Diff(want, r.keys()); diff != "" {
			t.Errorf("%s (-want +got)\n%s", when, diff)
		}
	}
	all := volume.Keys{PrivateKey: []byte("s3cret private\n"), Preshared: map[string][]byte{"ina": []byte("s3cret shared\n")}}
	expect("both are there", all)
	r.secret("gateway", nil)
	expect("the private key goes: nobody suffers", all)
	r.secret("gateway", []byte{})
	r.secret("ina", []byte("another one"))
	expect("it is empty: the others' keys are handed over all the same", volume.Keys{PrivateKey: all.PrivateKey, Preshared: map[string][]byte{"ina": []byte("another one")}})
	r.secret("ina", []byte("s3cret shared\n"))
	expect("and once more", all)
	r.restart()
	r.loop.vault.source = &secrets{err: errAway}
	expect("another agent, without the API", all)
	r.restart()
	r.secret("ina", nil)
	none := volume.Keys{PrivateKey: all.PrivateKey, Preshared: map[string][]byte{}}
	expect("the pre-shared key goes: it is taken back", none)
	r.secret("ina", []byte("another one"))
	expect("it comes again", volume.Keys{PrivateKey: all.PrivateKey, Preshared: map[string][]byte{"ina": []byte("another one")}})
	r.secret("gateway", []byte("s3cret new"))
	expect("another private key", volume.Keys{PrivateKey: []byte("s3cret new"), Preshared: map[string][]byte{"ina": []byte("another one")}})
	r.silent()
}

func TestSessions(t *testing.T) {
	r := wireguardRig(t)
	r.tick()
	ago := func(s int) time.Time { return r.now.Add(-time.Duration(s) * time.Second) }
	r.device(volume.WireGuardPeer{Name: "ina", Handshake: ago(100), Received: 10, Sent: 20}, volume.WireGuardPeer{Name: "road", Problem: "no route"})
	r.tick()
	r.says("ina", "ESTABLISHED", 1, "")
	r.says("road", "DOWN", 0, "no route")
	since := r.reportedOf("ina").Since
	r.device(volume.WireGuardPeer{Name: "ina", Handshake: ago(179), Received: 15, Sent: 20}, volume.WireGuardPeer{Name: "road"})
	r.tick()
	r.says("ina", "ESTABLISHED", 1, "")
	if got := r.reportedOf("ina").Since; !got.Equal(since) {
		t.Errorf("since %s, want %s", got, since)
	}
	r.restart()
	r.device(volume.WireGuardPeer{Name: "ina", Handshake: ago(180), Received: 3, Sent: 0}, volume.WireGuardPeer{Name: "road"})
	r.ticks(2)
	r.says("ina", "DOWN", 0, "")
	if p := r.reportedOf("ina"); p.BytesIn != 18 || p.BytesOut != 20 {
		t.Errorf("%d in, %d out: counters that began anew are lost, or counted twice", p.BytesIn, p.BytesOut)
	}
}

// TestAlertsCanTellWhoMayBeAway: a peer that comes and goes is told apart from one that
// is down, whatever is known of the two.
func TestAlertsCanTellWhoMayBeAway(t *testing.T) {
	r := wireguardRig(t)
	roaming := `vpnctl_peer_roaming{gateway="dc1",namespace="acme",peer="road"} 1`
	down := func(peer string) string {
		return `vpnctl_tunnel_up{gateway="dc1",namespace="acme",peer="` + peer + `",tunnel="` + peer + `"} 0`
	}
	r.tick()
	r.device()
	r.tick()
	r.shows("vpnctl_peer_roaming{", roaming)
	r.shows("vpnctl_tunnel_up{", down("ina"), down("road"))
	r.ticks(30) // nothing is known any more
	r.shows("vpnctl_peer_roaming{", roaming)
	r.shows("vpnctl_tunnel_up{")
}

func TestAnOldStateSaysNothing(t *testing.T) {
	r := wireguardRig(t)
	r.tick()
	r.device(volume.WireGuardPeer{Name: "ina", Handshake: r.now}, volume.WireGuardPeer{Name: "road"})
	r.ticks(7)
	r.says("ina", "ESTABLISHED", 1, "")
	if r.loop.ready() != nil {
		t.Errorf("it isn't ready: %v", r.loop.ready())
	}
	r.tick()
	r.says("ina", "UNKNOWN", 0, "nothing lately")
	if r.loop.ready() == nil {
		t.Error("it is ready")
	}
	r.must(r.loop.Volume.WriteDataplane(volume.Dataplane{Written: r.now}))
	r.tick()
	r.says("ina", "DOWN", 0, "there is no WireGuard device")
	if !strings.Contains(r.metrics(), "vpnctl_charon_up") == false {
		t.Error("a gateway without charon has a series about charon")
	}
}
