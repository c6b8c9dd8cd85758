package agent

import (
	"context"
	"encoding/json"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/vpnctl/vpnctl/agent/report"
	"github.com/vpnctl/vpnctl/agent/report/fakeapi"
	"github.com/vpnctl/vpnctl/render/swanctl"
)

// running lets the loop run by itself, in true time that passes faster than usual.
func (r *rig) running() (stop func()) {
	r.loop.Now = time.Now
	r.loop.vault.now = time.Now
	r.loop.Poll, r.loop.Tick, r.loop.Gap = 5*time.Millisecond, 200*time.Millisecond, 50*time.Millisecond
	r.loop.Refresh, r.loop.vault.every = 200*time.Millisecond, 200*time.Millisecond
	w := r.loop.Watchdog
	w.Patience, w.First, w.Longest = 100*time.Millisecond, 300*time.Millisecond, 300*time.Millisecond
	ctx, cancel := context.WithCancel(r.Context())
	var all sync.WaitGroup
	all.Go(func() {
		if err := r.loop.Run(ctx); err != nil {
			r.Errorf("it ends with %v", err)
		}
	})
	stop = sync.OnceFunc(func() { cancel(); all.Wait() })
	r.Cleanup(stop)
	return stop
}

// TestRun is the whole loop with its goroutines: it comes up, follows the file, a
// Secret, charon's events and charon's end, and leaves everything as it is when it ends.
func TestRun(t *testing.T) {
	r := newRig(t)
	r.peer("ina", "ben")
	stop := r.running()
	up := func(name string) func() bool {
		return func() bool {
			s := r.loop.shown.Load()
			for i := 0; s != nil && i < len(s.peers); i++ {
				if p := s.peers[i]; p.Name == name {
					return p.State == "ESTABLISHED" && p.Up == p.Expected
				}
			}
			return false
		}
	}
	r.eventually("ina is up", up("ina"))
	r.eventually("ben is up", up("ben"))
	ben, ina := r.ids("ben"), r.ids("ina")
	r.edit("ina", func(c *swanctl.Connection) { c.Address = netip.MustParseAddr("192.0.2.9") })
	r.eventually("ina is up anew", func() bool { return r.ids("ina") != ina && strings.Count(r.ids("ina"), "#") == 2 })
	r.secret("ina", []byte("another one"))
	r.eventually("the key follows", func() bool { return string(r.charon.Keys()["vpnctl/acme/dc1/ina"].Data) == "another one" })
	r.eventually("ina is up", up("ina"))
	r.charon.Lose("ina")
	r.eventually("the loss is seen", func() bool { return !up("ina")() })
	r.eventually("and made up for", up("ina"))
	if r.ids("ben") != ben {
		t.Errorf("ben has %s, had %s", r.ids("ben"), ben)
	}
	for range 3 {
		r.must(r.charon.Restart())
		r.eventually("the new charon has everything", func() bool { return strings.Count(r.ids("ina")+r.ids("ben"), "#") == 4 })
	}
	r.eventually("ina is up", up("ina"))
	before := r.ids("ina") + r.ids("ben")
	stop()
	if r.ids("ina")+r.ids("ben") != before {
		t.Error("the end of the loop ends tunnels")
	}
	r.eventually("its sessions are closed", func() bool { return r.charon.Sessions() == 0 })
	r.silent()
}

// TestRunAtRest: the loop doesn't spin, whether charon answers, hangs or is gone.
func TestRunAtRest(t *testing.T) {
	r := newRig(t)
	r.peer("ina")
	r.settled()
	r.loop.Call = 100 * time.Millisecond
	r.loop.charon.hangUp()
	r.running()
	r.eventually("it has a session", func() bool { return r.charon.Calls("version") > 1 })
	before := r.charon.Calls("list-sas")
	time.Sleep(time.Second)
	if n := r.charon.Calls("list-sas") - before; n > 12 {
		t.Errorf("%d lists in a second, with a tick of %s", n, r.loop.Tick)
	}
	r.charon.Hang()
	time.Sleep(500 * time.Millisecond)
	before = r.charon.Calls("version")
	r.charon.Kill()
	time.Sleep(time.Second)
	r.must(r.charon.Start())
	if n := r.charon.Calls("version") - before; n > 12 {
		t.Errorf("a hanging charon was asked %d times in half a second", n)
	}
	r.eventually("it is found", func() bool { return len(r.charon.Connections()) == 1 })
}

// TestWithTheAPI goes over the real client: Secrets come from the API, states go there,
// and while it is away for long nothing happens to the tunnels.
func TestWithTheAPI(t *testing.T) {
	r := newRig(t)
	r.peer("ina")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	r.must(err)
	api, err := fakeapi.Start(listener)
	r.must(err)
	t.Cleanup(api.Close)
	account := api.Account("acme", "dc1", rbacv1.PolicyRule{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}})
	dir := t.TempDir()
	r.must(account.Mount(dir))
	for resource, name := range map[string]string{"vpngateways": "dc1", "vpnpeers": "ina"} {
		kind := map[string]string{"vpngateways": "VPNGateway", "vpnpeers": "VPNPeer"}[resource]
		r.must(api.SetObject(resource, "acme", name, map[string]any{"apiVersion": "vpn.bnerd.net/v1alpha1", "kind": kind}))
	}
	pace := report.Pace{Call: time.Second, Gap: 10 * time.Millisecond, Figures: time.Hour, Resync: time.Hour,
		Spacing: time.Millisecond, RetryMin: 5 * time.Millisecond, RetryMax: 50 * time.Millisecond}
	client, err := report.Kubernetes(report.Server{URL: api.URL(), Directory: dir}, pace)
	r.must(err)
	r.loop.Sink, r.loop.vault.source = client, client
	stop := r.running()
	state := func() (state, message string) {
		var o struct {
			Status struct{ State, Message string }
		}
		r.must(json.Unmarshal(api.Object("vpnpeers", "acme", "ina"), &o))
		return o.Status.State, o.Status.Message
	}
	r.eventually("the missing Secret is in the status", func() bool {
		state, message := state()
		return state == "DOWN" && strings.Contains(message, "Secret ina or its key psk is missing")
	})
	api.SetSecret("acme", "ina", map[string][]byte{"psk": secretOf("ina")})
	r.eventually("it is up", func() bool { state, message := state(); return state == "ESTABLISHED" && message == "" })
	ids := r.ids("ina")
	api.Down()
	r.eventually("the absence is noticed", func() bool { return r.loop.vault.mistakes() > 3 })
	r.charon.Lose("ina")
	r.eventually("ina is brought up without the API", func() bool { return r.ids("ina") != "" && r.ids("ina") != ids })
	time.Sleep(300 * time.Millisecond)
	api.Up()
	r.eventually("it is reported again", func() bool { state, message := state(); return state == "ESTABLISHED" && message == "" })
	if string(r.charon.Keys()["vpnctl/acme/dc1/ina"].Data) != string(secretOf("ina")) {
		t.Error("the key is another one")
	}
	stop()
	r.silent()
}

// TestASwapWhileItIsRead: a generation that comes between two looks at the folder is
// read with the one before; the loop then is at rest, and doesn't tick at every poll.
func TestASwapWhileItIsRead(t *testing.T) {
	r := newRig(t)
	r.peer("ina")
	r.settled()
	r.loop.noticed = "..of-before" // as the look has found it, before the swap
	if !r.loop.moved() {
		t.Fatal("another generation goes unnoticed")
	}
	r.tick()
	if r.loop.moved() {
		t.Error("what was read already counts as another generation, for ever")
	}
}

// TestACharonThatIsNotWell: one that answers to begin with, and then doesn't list its
// SAs, is asked ever less often, as one that is away.
func TestACharonThatIsNotWell(t *testing.T) {
	r := newRig(t)
	r.peer("ina")
	r.settled()
	r.charon.Refuse("list-sas", "out of memory")
	var waits []time.Duration
	for range 5 {
		waits = append(waits, r.loop.tick(t.Context()))
	}
	if diff := cmp.Diff([]time.Duration{1e9, 2e9, 4e9, 5e9, 5e9}, waits); diff != "" {
		t.Errorf("until the next attempt (-want +got)\n%s", diff)
	}
	r.charon.Refuse("list-sas", "")
	r.tick()
	r.charon.Kill()
	if wait := r.loop.tick(t.Context()); wait != r.loop.Gap {
		t.Errorf("after a while in which all was well, the next attempt comes in %s", wait)
	}
}

// slowSink takes its time.
type slowSink struct{ reports atomic.Int64 }

func (s *slowSink) Report(context.Context, report.Report) error {
	s.reports.Add(1)
	time.Sleep(190 * time.Millisecond)
	return nil
}

// TestALongTickIsFollowedByARest as long as it was, however much goes on: charon has
// other things to do than to answer.
func TestALongTickIsFollowedByARest(t *testing.T) {
	r, sink := newRig(t), &slowSink{}
	r.loop.Sink = sink
	r.peer("ina")
	r.running()
	const ticks = 5
	begun := time.Now()
	for sink.reports.Load() <= ticks {
		r.loop.rouse()
		time.Sleep(2 * time.Millisecond)
	}
	if took := time.Since(begun); took < ticks*2*190*time.Millisecond {
		t.Errorf("%d ticks of 190 ms, and the rests behind them, took only %s", ticks, took)
	}
}
