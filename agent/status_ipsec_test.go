package agent

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/agent/vici/fakecharon"
	"github.com/vpnctl/vpnctl/render/swanctl"
)

func TestAllComesUp(t *testing.T) {
	r := newRig(t)
	r.peer("ina", "ben")
	r.settled()
	want := map[string]fakecharon.Key{}
	for _, name := range []string{"ina", "ben"} {
		want["vpnctl/acme/dc1/"+name] = fakecharon.Key{Owners: []string{name + "@example.org"}, Data: secretOf(name)}
	}
	if diff := cmp.Diff(want, r.charon.Keys()); diff != "" {
		t.Errorf("keys (-want +got)\n%s", diff)
	}
	r.says("ina", "ESTABLISHED", 2, "")
	if at := r.reportedOf("ina").RekeyAt; at.IsZero() || at.After(r.now.Add(3500*time.Second)) {
		t.Errorf("the next rekey is at %s", at)
	}
}

func TestNoConnectionBeforeARuleset(t *testing.T) {
	r := newRig(t)
	r.ruleset("")
	r.peer("ina")
	r.ticks(5)
	if n := len(r.charon.Connections()); n != 0 {
		t.Errorf("%d connections are loaded", n)
	}
	r.says("ina", "DOWN", 0, "waiting for a ruleset")
	r.ruleset("abc")
	r.settled()
}

// TestChanges goes through the table of changes on a living peer, beside one that must
// notice nothing.
func TestChanges(t *testing.T) {
	for sentence, c := range map[string]struct {
		edit  func(*swanctl.Connection)
		stays string // which IDs stay: all, ike, none
		words string
	}{
		"timers wait": {func(c *swanctl.Connection) { c.Lifetime = time.Hour }, "all",
			"loaded, not in force until the next re-authentication: timers"},
		"DPD waits": {func(c *swanctl.Connection) { c.DPDDelay = time.Minute }, "all", "not in force"},
		"a child's selector": {func(c *swanctl.Connection) {
			c.Children[1].Remote = []netip.Prefix{netip.MustParsePrefix("10.99.0.0/24")}
		}, "first child", ""},
		"ESP proposals": {func(c *swanctl.Connection) { c.Children[1].Proposals = []string{"aes128gcm16"} }, "first child", ""},
		"a child goes":  {func(c *swanctl.Connection) { c.Children = c.Children[:1] }, "first child", ""},
		"a child comes": {func(c *swanctl.Connection) {
			more := c.Children[1]
			more.Name, more.Remote = "more", []netip.Prefix{netip.MustParsePrefix("10.99.0.0/24")}
			c.Children = append(c.Children, more)
		}, "all", ""},
		"the address":        {func(c *swanctl.Connection) { c.Address = netip.MustParseAddr("192.0.2.9") }, "none", ""},
		"the peer's ID":      {func(c *swanctl.Connection) { c.RemoteID = "new@example.org" }, "none", ""},
		"the gateway's ID":   {func(c *swanctl.Connection) { c.LocalID = "203.0.113.21" }, "none", ""},
		"IKE proposals":      {func(c *swanctl.Connection) { c.Proposals = []string{"aes256-sha512-ecp384"} }, "none", ""},
		"the local selector": {func(c *swanctl.Connection) { c.Children[0].Local = netip.MustParsePrefix("100.64.4.0/24") }, "none", ""},
		"timers and a child": {func(c *swanctl.Connection) { c.Lifetime, c.Children = time.Hour, c.Children[:1] }, "none", ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			r := newRig(t)
			r.peer("ben", "ina")
			r.settled()
			ben, ina := r.ids("ben"), r.ids("ina")
			r.edit("ina", c.edit)
			r.ticks(4)
			if r.ids("ben") != ben {
				t.Errorf("the other peer's SAs: %s, were %s", r.ids("ben"), ben)
			}
			got := r.ids("ina")
			whole := strings.HasPrefix(got, ina)
			first := strings.HasPrefix(got, ina[:strings.LastIndex(ina, " ")])
			ike := strings.HasPrefix(got, ina[:strings.Index(ina, ":")+1])
			if stays := map[bool]string{whole: "all", !whole && first: "first child", !ike: "none"}[true]; stays != c.stays {
				t.Errorf("of %s there is %s left: %s; want %s", ina, got, stays, c.stays)
			}
			p := r.reportedOf("ina")
			if p.Up != p.Expected || p.Expected != len(r.expect.Peers[1].Children) || !strings.Contains(p.Message, c.words) || c.words == "" && p.Message != "" {
				t.Errorf("%d of %d up: %q", p.Up, p.Expected, p.Message)
			}
		})
	}
}

func TestNotInForceUntilAuthenticatedAnew(t *testing.T) {
	r := newRig(t)
	r.peer("ina")
	r.settled()
	r.edit("ina", func(c *swanctl.Connection) { c.DPDDelay = time.Minute })
	r.secret("ina", []byte("another one"))
	r.ticks(8) // the Secret is read within 30 s
	r.says("ina", "ESTABLISHED", 2, "not in force until the next re-authentication: timers and the pre-shared key")
	r.charon.Change(func(sas []fakecharon.SA) []fakecharon.SA { // an IKE rekey authenticates nobody
		sas[0].ID = 77
		return sas
	})
	r.ticks(2)
	r.says("ina", "ESTABLISHED", 2, "timers and the pre-shared key")
	r.restart() // which key the SAs know is remembered, and the timers they have
	r.ticks(3)
	r.says("ina", "ESTABLISHED", 2, "timers and the pre-shared key")
	r.charon.Lose("ina")
	r.ticks(4)
	r.says("ina", "ESTABLISHED", 2, "")
}

func TestARemovedPeerGoesWhole(t *testing.T) {
	r := newRig(t)
	r.peer("ben", "ina")
	r.settled()
	ben := r.ids("ben")
	r.drop("ina")
	r.tick()
	if ids := r.ids("ina"); ids != "" {
		t.Errorf("its SAs are still there: %s", ids)
	}
	if _, there := r.charon.Keys()["vpnctl/acme/dc1/ina"]; there {
		t.Error("its key is still there")
	}
	if _, there := r.charon.Connections()["ina"]; there {
		t.Error("its connection is still there")
	}
	if r.ids("ben") != ben {
		t.Errorf("the other peer's SAs: %s, were %s", r.ids("ben"), ben)
	}
}

// TestForeignConnectionsGo: an agent finds in charon what no file names, and an SA of a
// peer that hasn't said its name yet.
func TestForeignConnectionsGo(t *testing.T) {
	r := newRig(t)
	r.peer("ina", "eve")
	r.settled()
	r.charon.Change(func(sas []fakecharon.SA) []fakecharon.SA {
		return append(sas, fakecharon.SA{Connection: unnamed, State: "CONNECTING"})
	})
	ina := r.ids("ina")
	r.drop("eve")
	r.restart()
	r.ticks(2)
	var left []string
	for _, sa := range r.charon.SAs() {
		left = append(left, sa.Connection)
	}
	if !slices.Equal(left, []string{"ina", unnamed}) || r.ids("ina") != ina {
		t.Errorf("there are SAs of %v, ina's %s were %s", left, r.ids("ina"), ina)
	}
	if n := len(r.charon.Connections()); n != 1 {
		t.Errorf("%d connections are loaded", n)
	}
}

// TestAColdStartIsSpread: what one tick can't initiate follows soon, and not when the
// next tick would be anyway; then the loop rests.
func TestAColdStartIsSpread(t *testing.T) {
	r := newRig(t)
	r.many(250) // 500 tunnels
	r.ticks(2)
	var waits []time.Duration
	var calls []int
	for range 5 {
		before := r.charon.Calls("initiate")
		waits = append(waits, r.loop.tick(t.Context()))
		calls = append(calls, r.charon.Calls("initiate")-before)
		r.now = r.now.Add(waits[len(waits)-1])
	}
	gap, tick := r.loop.Gap, r.loop.Tick
	if diff := cmp.Diff([]time.Duration{gap, gap, tick, tick, tick}, waits); diff != "" {
		t.Errorf("until the next tick (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]int{200, 200, 100, 0, 0}, calls); diff != "" {
		t.Errorf("initiates (-want +got)\n%s", diff)
	}
}

// TestAPeerThatComesBack: of a removed peer nothing is remembered, so that its new
// tunnel isn't held against the settings that it had before it went.
func TestAPeerThatComesBack(t *testing.T) {
	r := newRig(t)
	r.peer("ben", "ina")
	r.settled()
	r.drop("ina")
	r.ticks(3)
	r.peer("ina")
	r.edit("ina", func(c *swanctl.Connection) { c.Address = netip.MustParseAddr("192.0.2.9") })
	r.charon.Change(func(sas []fakecharon.SA) []fakecharon.SA { // it is quicker than the watchdog
		sa := fakecharon.SA{Connection: "ina", State: "ESTABLISHED", Since: time.Now(), RekeyIn: 3600}
		for _, c := range r.config.Connections[1].Children {
			sa.Children = append(sa.Children, fakecharon.Child{Name: c.Name, State: "INSTALLED", RekeyIn: 3600})
		}
		return append(sas, sa)
	})
	ids := r.ids("ina")
	r.ticks(4)
	if r.ids("ina") != ids {
		t.Errorf("its SAs are %s, were %s", r.ids("ina"), ids)
	}
	r.says("ina", "ESTABLISHED", 2, "")
}

// TestARemovedPeerThatCharonKeeps: while charon refuses to end its tunnel, nothing says
// that it has ended.
func TestARemovedPeerThatCharonKeeps(t *testing.T) {
	r := newRig(t)
	r.peer("ben", "ina")
	r.settled()
	r.charon.Refuse("terminate", "not now")
	r.drop("ina")
	r.ticks(3)
	if log := r.log.String(); r.ids("ina") == "" || strings.Contains(log, "removed peer ended") {
		t.Errorf("its SAs %q; the log\n%s", r.ids("ina"), log)
	}
	r.charon.Refuse("terminate", "")
	r.ticks(2)
	if log := r.log.String(); r.ids("ina") != "" || strings.Count(log, "removed peer ended") != 1 {
		t.Errorf("its SAs %q; the log\n%s", r.ids("ina"), log)
	}
}
