package agent

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vpnctl/vpnctl/agent/report"
	"github.com/vpnctl/vpnctl/agent/vici"
	"github.com/vpnctl/vpnctl/agent/vici/fakecharon"
	"github.com/vpnctl/vpnctl/render/swanctl"
)

// moved changes the counters and IDs of the first SA's children.
func (r *rig) children(f func([]fakecharon.Child) []fakecharon.Child) {
	r.charon.Change(func(sas []fakecharon.SA) []fakecharon.SA {
		sas[0].Children = f(sas[0].Children)
		return sas
	})
}

// TestTotals: charon's counters begin anew at each rekey, and with each charon; ours
// don't, also not over a restart of the agent.
func TestTotals(t *testing.T) {
	r := newRig(t)
	r.peer("ina")
	r.settled()
	expect := func(when string, in, out uint64) {
		t.Helper()
		r.tick()
		if p := r.reportedOf("ina"); p.BytesIn != in || p.BytesOut != out {
			t.Errorf("%s: %d in, %d out; want %d, %d", when, p.BytesIn, p.BytesOut, in, out)
		}
	}
	traffic := func(in, out int) func([]fakecharon.Child) []fakecharon.Child {
		return func(c []fakecharon.Child) []fakecharon.Child {
			c[0].BytesIn, c[0].BytesOut = in, out
			return c
		}
	}
	expect("at the start", 0, 0)
	r.children(traffic(1000, 100))
	expect("traffic", 1000, 100)
	r.children(func(c []fakecharon.Child) []fakecharon.Child {
		old := c[0]
		old.State, old.BytesIn = "REKEYED", 1500
		c[0].ID, c[0].BytesIn, c[0].BytesOut = 900, 10, 0
		return append(c, old)
	})
	expect("a rekey, the old one listed still", 1510, 100)
	r.children(func(c []fakecharon.Child) []fakecharon.Child { return c[:2] })
	expect("the old one is gone", 1510, 100)
	r.restart()
	expect("another agent", 1510, 100)
	r.children(traffic(20, 0))
	expect("traffic after it", 1520, 100)
	if err := r.charon.Restart(); err != nil {
		t.Fatal(err)
	}
	r.ticks(5)
	r.children(func(c []fakecharon.Child) []fakecharon.Child { c[0].BytesIn = 5; return c })
	expect("another charon, which counts its IDs from one again", 1525, 100)
}

// TestSince: a peer is up since it came up, whatever is rekeyed meanwhile, and whoever
// asks.
func TestSince(t *testing.T) {
	r := newRig(t)
	r.peer("ina")
	r.settled()
	since := r.reportedOf("ina").Since
	same := func(when string) {
		t.Helper()
		if got := r.reportedOf("ina").Since; !got.Equal(since) {
			t.Errorf("%s: since %s, want %s", when, got, since)
		}
	}
	r.ticks(3)
	same("later")
	r.charon.Change(func(sas []fakecharon.SA) []fakecharon.SA { sas[0].ID = 500; return sas })
	r.tick()
	same("an IKE rekey")
	r.charon.Change(func(sas []fakecharon.SA) []fakecharon.SA {
		for i := range sas[0].Children {
			sas[0].Children[i].ID += 1000
		}
		return sas
	})
	r.tick()
	same("both children rekeyed")
	r.restart()
	r.ticks(2)
	same("another agent")
	r.charon.Change(func(sas []fakecharon.SA) []fakecharon.SA {
		sas[0].ID, sas[0].Since = 600, time.Now()
		for i := range sas[0].Children {
			sas[0].Children[i].ID += 1000
		}
		return sas
	})
	r.tick()
	if got := r.reportedOf("ina").Since; !got.After(since) {
		t.Errorf("authenticated anew between two looks: since %s", got)
	}
	since, sas := r.reportedOf("ina").Since, r.charon.SAs()
	r.must(r.charon.Restart())
	r.charon.Change(func([]fakecharon.SA) []fakecharon.SA { // the peer was quick, and the new charon counts as the old one did
		sas[0].Since = time.Now()
		return sas
	})
	r.ticks(2)
	r.says("ina", "ESTABLISHED", 2, "")
	if got := r.reportedOf("ina").Since; !got.After(since) {
		t.Errorf("by another charon: since %s", got)
	}
}

// TestBelatedCounters: what a child carried last may arrive after a look that didn't list
// it any more, and counts once.
func TestBelatedCounters(t *testing.T) {
	r := newRig(t)
	r.peer("ina")
	r.settled()
	child := r.charon.SAs()[0].Children[0]
	r.charon.Change(func(sas []fakecharon.SA) []fakecharon.SA {
		sas[0].Children[0].BytesIn = 100
		return sas
	})
	r.tick()
	r.charon.Change(func([]fakecharon.SA) []fakecharon.SA { return nil })
	r.tick()
	r.loop.hear(vici.Event{Kind: vici.Changed, Connection: "ina", Children: []vici.ChildSA{{Name: child.Name, ID: uint32(child.ID), BytesIn: 150}}})
	r.tick()
	if got := r.reportedOf("ina").BytesIn; got != 150 {
		t.Errorf("%d bytes, of 150", got)
	}
}

func TestStateOfAPeer(t *testing.T) {
	r := newRig(t)
	r.peer("ina")
	r.settled()
	lists := []struct {
		sentence, state string
		up              int
		sas             []fakecharon.SA
	}{
		{"no SA", "DOWN", 0, nil},
		{"being negotiated", "CONNECTING", 0, []fakecharon.SA{{Connection: "ina", State: "CONNECTING"}}},
		{"an IKE SA without children carries nothing", "DOWN", 0, []fakecharon.SA{{Connection: "ina", State: "ESTABLISHED"}}},
		{"and is negotiating them", "CONNECTING", 0, []fakecharon.SA{{Connection: "ina", State: "ESTABLISHED", Tasks: []string{"CHILD_CREATE"}}}},
		{"one of two", "ESTABLISHED", 1, []fakecharon.SA{{Connection: "ina", State: "ESTABLISHED", Children: []fakecharon.Child{
			{Name: "ina-10-0-0-0-24", State: "INSTALLED"}}}}},
		{"a rekeyed child is no second one", "ESTABLISHED", 1, []fakecharon.SA{{Connection: "ina", State: "ESTABLISHED", Children: []fakecharon.Child{
			{Name: "ina-10-0-0-0-24", State: "INSTALLED"}, {Name: "ina-10-0-0-0-24", State: "REKEYED"}, {Name: "ina-10-0-0-0-24", State: "DELETED"}}}}},
		{"one each under two IKE SAs", "ESTABLISHED", 2, []fakecharon.SA{
			{Connection: "ina", State: "ESTABLISHED", Children: []fakecharon.Child{{Name: "ina-10-0-0-0-24", State: "INSTALLED"}}},
			{Connection: "ina", State: "ESTABLISHED", Children: []fakecharon.Child{{Name: "ina-10-0-1-0-24", State: "REKEYING"}}}}},
		{"under an IKE SA that is rekeyed", "ESTABLISHED", 2, []fakecharon.SA{{Connection: "ina", State: "REKEYING", Children: []fakecharon.Child{
			{Name: "ina-10-0-0-0-24", State: "INSTALLED"}, {Name: "ina-10-0-1-0-24", State: "INSTALLED"}}}}},
		{"children that nobody expects don't count", "DOWN", 0, []fakecharon.SA{{Connection: "ina", State: "ESTABLISHED", Children: []fakecharon.Child{
			{Name: "other", State: "INSTALLED"}}}}},
	}
	r.charon.Refuse("initiate", "not now")
	for _, c := range lists {
		r.charon.Change(func([]fakecharon.SA) []fakecharon.SA { return slices.Clone(c.sas) })
		r.tick()
		if p := r.reportedOf("ina"); p.State != c.state || p.Up != c.up || p.Expected != 2 {
			t.Errorf("%s: %s, %d of %d; want %s, %d", c.sentence, p.State, p.Up, p.Expected, c.state, c.up)
		}
	}
}

// TestReasons come from charon's log alone, over the listener.
func TestReasons(t *testing.T) {
	r := newRig(t)
	r.peer("ina", "ben")
	listening := make(chan bool)
	go func() { r.loop.listen(t.Context()); close(listening) }()
	for _, why := range []string{"AUTHENTICATION_FAILED", "NO_PROPOSAL_CHOSEN", "TS_UNACCEPTABLE"} {
		r.charon.Behave("ina", fakecharon.Peer{Notify: why})
		r.eventually("ina fails with "+why, func() bool {
			r.tick()
			p := r.reportedOf("ina")
			return p.State == "DOWN" && p.Message == "last attempt: "+why
		})
	}
	r.charon.Behave("ina", fakecharon.Peer{Silent: true})
	r.charon.Lose("ina")
	r.ticks(20)
	if p := r.reportedOf("ina"); !strings.Contains(p.Message, "no answer") {
		t.Errorf("of a peer that doesn't answer it is said: %s, %q", p.State, p.Message)
	}
	r.charon.Behave("ina", fakecharon.Peer{})
	r.ticks(20)
	r.says("ina", "ESTABLISHED", 2, "")
	r.says("ben", "ESTABLISHED", 2, "")
}

func (r *rig) eventually(what string, look func() bool) {
	r.Helper()
	for deadline := time.Now().Add(20 * time.Second); !look(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			r.Fatalf("not in time: %s", what)
		}
	}
}

// TestSecretsOfPeers: what is wrong with one peer's Secret is that peer's trouble alone.
func TestSecretsOfPeers(t *testing.T) {
	r := newRig(t)
	r.peer("ina", "ben")
	r.secret("ina", nil)
	r.ticks(5)
	r.says("ina", "DOWN", 0, "Secret ina or its key psk is missing")
	r.says("ben", "ESTABLISHED", 2, "")
	if diff := cmp.Diff([]string{"ben"}, sortedKeys(r.charon.Connections())); diff != "" {
		t.Errorf("connections (-want +got)\n%s", diff)
	}
	r.secret("ina", []byte("s3cret with a newline\n"))
	r.ticks(9)
	r.says("ina", "ESTABLISHED", 2, "")
	ids := r.ids("ina")
	r.secret("ina", nil)
	r.ticks(8)
	r.says("ina", "ESTABLISHED", 2, "missing")
	if _, there := r.charon.Keys()["vpnctl/acme/dc1/ina"]; there || r.ids("ina") != ids {
		t.Errorf("the key is there: %v; SAs %s, were %s", there, r.ids("ina"), ids)
	}
	if n := r.series(`vpnctl_peer_secret_missing{gateway="dc1",namespace="acme",peer="ina"} 1`); len(n) != 1 {
		t.Errorf("the metrics don't say so: %v", r.series("vpnctl_peer_secret_missing"))
	}
	r.silent()
}

// TestTheSameBytes reach charon as are in the Secret.
func TestTheSameBytes(t *testing.T) {
	r := newRig(t)
	r.peer("ina")
	for _, data := range []string{"0x4142", "0sQUI=", "line\n", `"quoted" {braces} #hash`, strings.Repeat("k", 4096), "\x00\xfe\xff"} {
		r.secret("ina", []byte(data))
		r.ticks(8)
		if got := string(r.charon.Keys()["vpnctl/acme/dc1/ina"].Data); got != data {
			t.Errorf("%q arrived as %q", data, got)
		}
	}
}

// TestAStartChangesNothing: what another agent reports first is what the one before it
// reported last, though it has read no Secret yet, and charon's SAs are left alone.
func TestAStartChangesNothing(t *testing.T) {
	r := newRig(t)
	r.peer("ina", "ben")
	r.edit("ben", func(c *swanctl.Connection) { c.Children = c.Children[:1] })
	r.settled()
	before, ids := r.reported(), r.ids("ina")+r.ids("ben")
	r.restart()
	r.tick()
	if diff := cmp.Diff(before, r.reported(), cmpopts.IgnoreFields(report.Peer{}, "RekeyAt")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	r.ticks(10)
	if r.ids("ina")+r.ids("ben") != ids {
		t.Errorf("SAs %s%s, were %s", r.ids("ina"), r.ids("ben"), ids)
	}
}

// TestTheLog has a line for each thing that happens, and none for what goes on.
func TestTheLog(t *testing.T) {
	r := newRig(t)
	r.peer("ina", "ben")
	r.settled()
	for _, c := range []struct {
		sentence string
		happens  func()
		want     []string
	}{
		{"nothing", func() {}, nil},
		{"a peer is lost and comes back", func() { r.charon.Lose("ina") },
			[]string{`"tunnels down" peer=ina up=0`, `"tunnels up" peer=ina up=2`}},
		{"charon is gone for a while", func() { r.charon.Kill(); r.ticks(5); r.must(r.charon.Start()) },
			[]string{"charon: ", "charon: ", "charon is well again", "charon answers", "tunnels down", "tunnels down", "tunnels up", "tunnels up"}},
		{"a file that is none", func() { r.mount(map[string]string{"agent.json": "{"}); r.ticks(3); r.swap() },
			[]string{"configuration: reading agent.json", "configuration is well again"}},
		{"a peer goes", func() { r.drop("ben") },
			[]string{"configuration read", "connection removed", "tunnel of a removed peer ended", "configuration in force"}},
	} {
		r.log.Reset()
		c.happens()
		r.ticks(6)
		lines := strings.Split(strings.TrimSpace(r.log.String()), "\n")
		for _, want := range c.want {
			i := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, want) })
			if i < 0 {
				t.Errorf("%s: no line has %q", c.sentence, want)
				continue
			}
			lines = slices.Delete(lines, i, i+1)
		}
		if text := strings.Join(lines, "\n"); text != "" {
			t.Errorf("%s: more in the log:\n%s", c.sentence, text)
		}
	}
}

// TestAnAgentWithoutTheAPI takes over a charon that is full, and leaves it so: what it
// can't read it doesn't know to be gone.
func TestAnAgentWithoutTheAPI(t *testing.T) {
	r := newRig(t)
	r.peer("ina", "ben")
	r.settled()
	before, keys := r.ids("ina")+r.ids("ben"), r.charon.Keys()
	r.restart()
	r.loop.vault.source = &secrets{err: errAway}
	r.ticks(120)
	r.says("ina", "ESTABLISHED", 2, "the API is away")
	if diff := cmp.Diff(keys, r.charon.Keys()); diff != "" || r.ids("ina")+r.ids("ben") != before {
		t.Errorf("keys (-want +got)\n%s", diff)
	}
	r.charon.Lose("ina")
	r.ticks(4)
	r.says("ina", "ESTABLISHED", 2, "the API is away")
	r.edit("ben", mutations[9].edit)
	r.ticks(4)
	r.says("ben", "ESTABLISHED", 2, "the API is away")
}
