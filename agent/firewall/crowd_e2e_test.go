//go:build e2e

package firewall

import (
	"net/netip"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/agent/lab/netns"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/nat"
)

// crowd makes connections of a peer, as many as one address can have to a port, to each
// of some ports.
func (l *lab) crowd(peer string, first, ports int) {
	l.t.Helper()
	forge := l.Peer.Forge(l.t)
	for to := range ports {
		for from := range 60000 {
			forge.Send(netns.UDP(netip.AddrPortFrom(netip.MustParseAddr(peer), uint16(1024+from)), netip.AddrPortFrom(netip.MustParseAddr("100.64.7.11"), uint16(first+to))))
		}
	}
	for before := -1; before != l.followed(); time.Sleep(100 * time.Millisecond) {
		before = l.followed()
	}
}

// followed is how many connections the gateway's kernel follows.
func (l *lab) followed() int {
	l.t.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(l.Gateway.Run(l.t, "cat", "/proc/sys/net/netfilter/nf_conntrack_count")))
	if err != nil {
		l.t.Fatal(err)
	}
	return n
}

// TestFullTableIsTidied: the kernel follows as many connections as it can. Those of one
// peer end with its grant, the packets at once.
func TestFullTableIsTidied(t *testing.T) {
	l := newLab(t)
	table := &Table{}
	l.Ours.Echo(t, "10.20.0.9:7")
	_, text := ruleset(t, gateway())
	unbounded := slices.DeleteFunc(strings.SplitAfter(text, "\n"), func(line string) bool { return strings.Contains(line, "ct count over") })
	l.Gateway.Nft(t, strings.Join(unbounded, ""))
	other := l.Peer.Stream(t, oslo, "100.64.7.11:7")
	victim := l.Peer.Stream(t, berlin, "100.64.7.11:7")
	start := time.Now()
	l.crowd(berlin, 100, 4)
	full := l.followed()
	if full < 200000 {
		t.Fatalf("only %d connections: that proves nothing", full)
	}
	t.Logf("%d connections, made in %v", full, time.Since(start))

	in := gateway()
	in.Gateway.Peers[0].Grants = &vpn.Grants{Exposures: []string{"web"}}
	rules, text := ruleset(t, in)
	l.in(func() error {
		var before, after runtime.MemStats
		if _, err := table.Apply(t.Context(), text, nil); err != nil {
			return err
		}
		revoked := time.Now()
		runtime.ReadMemStats(&before)
		cut, err := CutFlows(rules, nil)
		took := time.Since(revoked)
		runtime.ReadMemStats(&after)
		t.Logf("%d ended in %v, with %d MiB allocated, all told", cut, took, (after.TotalAlloc-before.TotalAlloc)>>20)
		if err != nil || cut < full*9/10 {
			t.Errorf("%d of %d ended (%v)", cut, full, err)
		}
		// The ruleset has stopped the packets, however long the tidying takes.
		if flowed := time.Since(revoked) - victim.Silence(); flowed > max(took/4, 100*time.Millisecond) {
			t.Errorf("what was revoked still flowed %v later, while all was ended in %v", flowed, took)
		}
		return nil
	})
	if left := l.followed(); left > 100 {
		t.Errorf("%d connections are left", left)
	}
	if !other.GoesOn() {
		t.Error("another peer's stands still")
	}
}

// TestSurplusOfBeforeIsEnded: the kernel counts anew with each ruleset, and yet no peer
// keeps more connections than it may.
func TestSurplusOfBeforeIsEnded(t *testing.T) {
	l := newLab(t)
	table := &Table{}
	l.Ours.Echo(t, "10.20.0.9:7")
	l.apply(table, gateway())
	other := l.Peer.Stream(t, oslo, "100.64.7.11:7")
	for i := range 2 {
		l.crowd(berlin, 100+i, 1)
		in := gateway()
		in.Gateway.Exposures[0].Target.Ports[0].To += uint16(i + 1) // of another exposure
		before := l.followed()
		_, cut := l.apply(table, in)
		t.Logf("%d connections, %d ended", before, cut)
		if before < nat.MaxConnections/2 || before > 2*nat.MaxConnections+100 {
			t.Errorf("%d connections of one peer", before)
		}
		if now := l.followed(); now > nat.MaxConnections+100 {
			t.Errorf("%d connections are left", now)
		}
	}
	if !other.GoesOn() {
		t.Error("another peer's stands still")
	}
}
