package agent

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/agent/vici/fakecharon"
	"github.com/vpnctl/vpnctl/agent/volume"
	"github.com/vpnctl/vpnctl/render/swanctl"
)

// edits are what happens to a gateway, one after another: each ends SAs, moves keys, or
// both. The peer ben is in none of them.
var edits = []func(*rig){
	func(r *rig) { r.peer("ina") },
	func(r *rig) {
		r.edit("ina", func(c *swanctl.Connection) { c.Address = netip.MustParseAddr("192.0.2.9") })
	},
	func(r *rig) { r.secret("ina", []byte("another one")); r.now = r.now.Add(30 * time.Second) },
	func(r *rig) {
		r.edit("ina", func(c *swanctl.Connection) {
			c.Children[1].Remote = []netip.Prefix{netip.MustParsePrefix("10.99.0.0/24")}
		})
	},
	func(r *rig) { r.peer("eve") },
	func(r *rig) { r.drop("ina") },
}

// disasters happen in the middle of a call.
var disasters = []struct {
	name   string
	after  bool // charon had carried the call out
	loses  bool // charon loses its SAs
	strike func(*rig, *tap, context.CancelFunc)
	mend   func(*rig)
}{
	{"charon is killed and comes back", false, true,
		func(r *rig, _ *tap, _ context.CancelFunc) { r.charon.Kill() },
		func(r *rig) { r.must(r.charon.Start()) }},
	{"charon restarts at once", true, true,
		func(r *rig, _ *tap, _ context.CancelFunc) { r.must(r.charon.Restart()) },
		func(*rig) {}},
	{"charon hangs and goes on", false, false,
		func(r *rig, _ *tap, _ context.CancelFunc) { r.charon.Hang() },
		func(r *rig) { r.charon.Resume() }},
	{"the session breaks", true, false,
		func(_ *rig, p *tap, _ context.CancelFunc) { p.cut() },
		func(*rig) {}},
	{"the agent is killed before a call", false, false,
		func(_ *rig, p *tap, kill context.CancelFunc) { kill(); p.cut() },
		func(r *rig) { r.restart() }},
	{"the agent is killed after a call", true, false,
		func(_ *rig, p *tap, kill context.CancelFunc) { kill(); p.cut() },
		func(r *rig) { r.restart() }},
}

// TestEveryCallMayBeTheLast: whatever happens, at whichever of the calls, some ticks
// later all is as if nothing had happened, and the peer that nobody touched has noticed
// nothing unless charon died.
func TestEveryCallMayBeTheLast(t *testing.T) {
	for i := range disasters {
		t.Run(disasters[i].name, func(t *testing.T) {
			t.Parallel()
			total := 0
			for at := 1; at == 1 || at <= total; at++ {
				total = strike(t, i, at)
			}
			if total < 20 {
				t.Errorf("only %d calls were tried", total)
			}
		})
	}
}

// strike runs all edits, lets a disaster happen at one call, and returns how many calls
// there were.
func strike(t *testing.T, disaster, at int) int {
	t.Helper()
	d := disasters[disaster]
	r := newRig(t)
	r.peer("ben")
	r.settled()
	ben, calls, struck := r.ids("ben"), 0, false
	p := newTap(t, r.loop.Socket)
	for i, edit := range edits {
		edit(r)
		wrong := "nothing was done"
		for n := 0; wrong != "" || n < 2; n++ {
			ctx, kill := context.WithCancel(t.Context())
			p.arm(at-calls, d.after, func() { d.strike(r, p, kill) })
			if struck {
				p.arm(0, false, nil)
			}
			if r.loop.Socket != p.socket() { // the agent is a new one
				r.loop.charon.hangUp()
				r.loop.Socket, r.loop.Call = p.socket(), 200*time.Millisecond
			}
			r.loop.tick(ctx)
			hit := p.disarm()
			kill()
			calls += p.count()
			r.asks()
			if r.now = r.now.Add(5 * time.Second); hit {
				struck = true
				d.mend(r)
				continue
			}
			if wrong = r.wrong(); wrong != "" && n > 14 {
				t.Fatalf("edit %d, disaster at call %d: %s", i, at, wrong)
			}
		}
	}
	if !d.loses && r.ids("ben") != ben {
		t.Fatalf("disaster at call %d: ben has %s, had %s", at, r.ids("ben"), ben)
	}
	r.silent()
	r.charon.Kill()
	p.close()
	return calls
}

// wrong tells how charon differs from what is wanted: which keys and connections it
// has, and that every child is up once and is reported so.
func (r *rig) wrong() string {
	r.Helper()
	keys := map[string]fakecharon.Key{}
	var names, up, got []string
	for i, c := range r.config.Connections {
		names = append(names, c.Name)
		data, _, err := r.files.Secret(r.Context(), r.expect.Peers[i].PresharedKey)
		r.must(err)
		keys["vpnctl/acme/dc1/"+c.Name] = fakecharon.Key{Owners: []string{c.RemoteID}, Data: data}
		for _, child := range c.Children {
			up = append(up, c.Name+" "+child.Name)
		}
	}
	for _, sa := range r.charon.SAs() {
		for _, child := range sa.Children {
			got = append(got, sa.Connection+" "+child.Name)
		}
	}
	slices.Sort(names)
	slices.Sort(got)
	slices.Sort(up)
	text := cmp.Diff(keys, r.charon.Keys()) + cmp.Diff(names, sortedKeys(r.charon.Connections())) + cmp.Diff(up, got)
	if s := r.loop.shown.Load(); s == nil || len(s.peers) != len(names) {
		return text + "nothing is reported"
	}
	for _, p := range r.reported() {
		if p.State != "ESTABLISHED" || p.Up != p.Expected || p.Message != "" && !strings.HasPrefix(p.Message, "loaded, not in force") {
			text += fmt.Sprintf("%s is reported %s, %d of %d: %s", p.Name, p.State, p.Up, p.Expected, p.Message)
		}
	}
	return text
}

// silent checks that no Secret's value is anywhere but where it belongs.
func (r *rig) silent() {
	r.Helper()
	status, _, err := r.loop.Volume.ReadStatus()
	r.must(err)
	texts := map[string]string{"the log": r.log.String(), "status.json": string(status), "the metrics": r.metrics()}
	for place, text := range texts {
		if strings.Contains(text, "s3cret") || strings.Contains(text, "another one") {
			r.Errorf("%s holds a secret", place)
		}
	}
}

// TestUnknownIsNotDown: while charon doesn't answer nothing is said of its tunnels, and
// when it does again, nothing has happened to them.
func TestUnknownIsNotDown(t *testing.T) {
	r := newRig(t)
	r.peer("ina")
	r.settled()
	before, ids := r.reportedOf("ina"), r.ids("ina")
	r.charon.Hang()
	r.loop.charon.session.Limit = 20 * time.Millisecond
	r.loop.Call = 20 * time.Millisecond
	for range 30 {
		r.tick()
		r.says("ina", "UNKNOWN", 0, "charon doesn't answer")
		if err := r.loop.healthy(); err != nil {
			t.Fatalf("a hung charon makes this container unhealthy: %v", err)
		}
	}
	if r.loop.ready() == nil {
		t.Error("it is ready")
	}
	r.charon.Resume()
	r.loop.Call = 10 * time.Second
	r.ticks(3)
	if diff := cmp.Diff(before.Since, r.reportedOf("ina").Since); diff != "" || r.ids("ina") != ids {
		t.Errorf("since (-want +got)\n%s; SAs %s, were %s", diff, r.ids("ina"), ids)
	}
	r.says("ina", "ESTABLISHED", 2, "")
}

// TestQuiet: a gateway at rest costs one list of SAs a tick, and one look at each Secret
// in 30 seconds; one whose peer never answers a few initiates a minute more.
func TestQuiet(t *testing.T) {
	r := newRig(t)
	r.peer("ina", "ben")
	r.settled()
	commands := []string{"version", "get-conns", "get-shared", "load-conn", "unload-conn", "load-shared", "unload-shared", "initiate", "terminate", "list-sas"}
	minutes := func(n int) map[string]int {
		before := map[string]int{}
		for _, c := range commands {
			before[c] = -r.charon.Calls(c)
		}
		r.ticks(n * 12)
		made := map[string]int{}
		for _, c := range commands {
			if n := before[c] + r.charon.Calls(c); n > 0 {
				made[c] = n
			}
		}
		return made
	}
	if diff := cmp.Diff(map[string]int{"list-sas": 120}, minutes(10)); diff != "" {
		t.Errorf("ten minutes at rest (-want +got)\n%s", diff)
	}
	lines := strings.Count(r.log.String(), "\n")
	r.charon.Behave("ina", fakecharon.Peer{Silent: true})
	r.charon.Lose("ina")
	made := minutes(10)
	if made["initiate"] > 2*15 || made["initiate"] < 2*10 || made["terminate"] > 15 || made["load-conn"]+made["load-shared"] > 0 {
		t.Errorf("ten minutes with a peer that doesn't answer: %v", made)
	}
	r.charon.Change(func(sas []fakecharon.SA) []fakecharon.SA { return sas[:1] })
	r.charon.Behave("ina", fakecharon.Peer{Notify: "AUTHENTICATION_FAILED"})
	if made := minutes(10); made["initiate"] > 2*15 {
		t.Errorf("ten minutes with a peer that refuses: %v", made)
	}
	if n := strings.Count(r.log.String(), "\n") - lines; n > 5 {
		t.Errorf("%d lines in the log", n)
	}
	r.must(r.loop.Volume.WriteDataplane(volume.Dataplane{Written: r.now}))
	r.charon.Kill()
	lines = strings.Count(r.log.String(), "\n")
	r.ticks(120)
	if n := strings.Count(r.log.String(), "\n") - lines; n > 3 {
		t.Errorf("%d lines in the log in ten minutes without charon", n)
	}
}
