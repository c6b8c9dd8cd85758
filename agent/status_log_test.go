package agent

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/agent/vici"
	"github.com/vpnctl/vpnctl/agent/vici/fakecharon"
	"github.com/vpnctl/vpnctl/agent/volume"
	"github.com/vpnctl/vpnctl/render/swanctl"
)

// fails is what the listener hears of a negotiation that came to nothing.
func (r *rig) fails(peer, why string) {
	r.loop.hear(vici.Event{Kind: vici.Failed, Connection: peer, Reason: why})
}

// logged is what was logged since, without the time.
func (r *rig) logged() []string {
	var lines []string
	for line := range strings.Lines(r.log.String()) {
		_, line, _ = strings.Cut(line, "level=")
		lines = append(lines, strings.TrimSpace(line))
	}
	r.log.Reset()
	return lines
}

func (r *rig) logs(sentence string, want ...string) {
	r.Helper()
	if diff := cmp.Diff(want, r.logged()); diff != "" {
		r.Errorf("%s (-want +got)\n%s", sentence, diff)
	}
}

// TestTheLogSaysWhy a peer isn't up: once for each reason, also of one that never was
// up, and as soon as the reason is known.
func TestTheLogSaysWhy(t *testing.T) {
	r := newRig(t)
	r.peer("ina", "ben")
	r.charon.Behave("ina", fakecharon.Peer{Silent: true})
	r.ticks(4)
	r.log.Reset()
	down := func(why string) string {
		return `WARN msg="tunnels down" peer=ina up=0 expected=2` + why
	}
	const refused, away = ` why="last attempt: AUTHENTICATION_FAILED"`, ` why="last attempt: no answer"`

	r.fails("ina", "AUTHENTICATION_FAILED")
	r.ticks(5)
	r.logs("it never came up", down(refused))
	for range 5 {
		r.fails("ina", "no answer")
		r.tick()
		r.fails("ina", "AUTHENTICATION_FAILED")
		r.tick()
	}
	r.logs("two reasons in turn", down(away))
	r.charon.Behave("ina", fakecharon.Peer{})
	r.charon.Lose("ina")
	r.ticks(20)
	r.logs("it came up", `INFO msg="tunnels up" peer=ina up=2 expected=2`)
	r.charon.Behave("ina", fakecharon.Peer{Silent: true})
	r.charon.Lose("ina")
	r.tick()
	r.logs("it fell, and nobody knows why yet", down(""))
	r.fails("ina", "no answer")
	r.ticks(2)
	r.logs("it is known", down(away))
	for i := range 50 {
		r.fails("ina", fmt.Sprint("port ", i))
		r.tick()
	}
	if n := len(r.logged()); n > mostReasons {
		t.Errorf("%d lines about one outage", n)
	}
}

// TestTheLogSaysWhatWaits for the next re-authentication, and when it doesn't any more.
func TestTheLogSaysWhatWaits(t *testing.T) {
	r := newRig(t)
	r.peer("ina", "ben")
	r.settled()
	r.shows("vpnctl_peer_pending")
	r.edit("ina", func(c *swanctl.Connection) { c.DPDDelay = time.Minute })
	r.ticks(3)
	r.log.Reset()
	r.secret("ina", []byte("another one"))
	r.ticks(8)
	r.logs("another key", `INFO msg="loaded, not in force until the next re-authentication" peer=ina what="timers and the pre-shared key"`)
	waits := func(what string) string {
		return `vpnctl_peer_pending{gateway="dc1",namespace="acme",peer="ina",what="` + what + `"} 1`
	}
	r.shows("vpnctl_peer_pending", waits("key"), waits("timers"))
	r.ticks(5)
	r.logs("nothing new")
	r.charon.Lose("ina")
	r.ticks(4)
	r.logs("authenticated anew", `WARN msg="tunnels down" peer=ina up=0 expected=2`,
		`INFO msg="in force" peer=ina what="timers and the pre-shared key"`, `INFO msg="tunnels up" peer=ina up=2 expected=2`)
	r.shows("vpnctl_peer_pending")
}

// TestTheLogSaysWhichKeyIsMissing once, whoever needs it; and of calls that fail one
// line for all Secrets.
func TestTheLogSaysWhichKeyIsMissing(t *testing.T) {
	r := newRig(t)
	r.peer("ina", "ben", "kim", "lea", "uwe")
	for i := range r.expect.Peers[1:] { // as an IPsecGateway has it: one key for all tunnels
		r.expect.Peers[i+1].PresharedKey = r.expect.Peers[1].PresharedKey
	}
	r.swap()
	r.settled()
	r.log.Reset()
	r.secret("ben", nil)
	r.ticks(20)
	r.logs("missing", `WARN msg="key missing" secret=ben key=psk of="ben, kim, lea, 1 more"`)
	r.secret("ben", []byte("here again"))
	r.ticks(8)
	if got := r.logged(); len(got) == 0 || got[0] != `INFO msg="key found" secret=ben key=psk of="ben, kim, lea, 1 more"` {
		t.Errorf("found again: %q", got)
	}
	r.ticks(20)
	r.log.Reset()
	r.loop.vault.source = &secrets{err: errAway}
	r.ticks(20)
	r.loop.vault.source = r.files
	r.ticks(20)
	r.logs("the API is away", `WARN msg="Secrets: the API is away"`, `INFO msg="Secrets is well again" was="the API is away"`)
}

// TestWhenADeviceIsInForce: WireGuard's file is in force once the device has it.
func TestWhenADeviceIsInForce(t *testing.T) {
	r := wireguardRig(t)
	of := `{gateway="dc1",namespace="acme"} `
	r.tick()
	r.shows("vpnctl_config_in_force", "vpnctl_config_in_force"+of+"0")
	r.device()
	since := strconv.FormatFloat(float64(r.now.Unix()), 'g', -1, 64)
	r.ticks(3)
	r.shows("vpnctl_config_in_force_timestamp_seconds", "vpnctl_config_in_force_timestamp_seconds"+of+since)
	r.shows("vpnctl_config_in_force{", "vpnctl_config_in_force"+of+"1")
	r.must(r.loop.Volume.WriteDataplane(volume.Dataplane{Written: r.now, Config: "another"}))
	r.tick()
	r.shows("vpnctl_config_in_force", "vpnctl_config_in_force"+of+"0")
}

// TestOneMissingKeyIsOneReason, though the device has its own words for it.
func TestOneMissingKeyIsOneReason(t *testing.T) {
	r := wireguardRig(t)
	r.secret("ina", nil)
	r.ticks(2)
	r.device(volume.WireGuardPeer{Name: "ina", Problem: "its preshared key is missing: Secret ina, key psk"})
	r.tick()
	if got := r.reportedOf("ina").Message; got != "Secret ina or its key psk is missing" {
		t.Errorf("it is said: %q", got)
	}
}
