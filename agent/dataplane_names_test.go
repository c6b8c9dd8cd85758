package agent

import (
	"context"
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/agent/resolve"
)

// Without any name server, addresses stand for themselves, and names for what they
// stood for before.
func TestNamesWithoutNameServers(t *testing.T) {
	now := time.Date(2026, 11, 30, 1, 0, 0, 0, time.UTC)
	woken := make(chan struct{}, 10)
	n := newNames(resolve.Resolver{Config: filepath.Join(t.TempDir(), "resolv.conf")}, func() time.Time { return now }, func() { woken <- struct{}{} })
	n.recall(map[string]netip.Addr{"db.internal": netip.MustParseAddr("10.30.0.1"), "old.internal": netip.MustParseAddr("10.30.0.2")})
	n.want([]string{"db.internal", "web.internal", "10.20.0.5"}, nil)

	if wait := n.refresh(context.Background()); wait <= 0 || wait > time.Second {
		t.Errorf("the next look is in %s", wait)
	}
	want := map[string]netip.Addr{"db.internal": netip.MustParseAddr("10.30.0.1"), "10.20.0.5": netip.MustParseAddr("10.20.0.5")}
	if diff := cmp.Diff(want, n.addresses(), cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := n.problems(); len(got) != 2 || got["db.internal"] == "" || got["web.internal"] == "" {
		t.Errorf("problems %q", got)
	}
	if moves, turns := n.news(); moves != 1 || turns != 2 || len(woken) != 1 {
		t.Errorf("%d moves, %d turns, woken %d times", moves, turns, len(woken))
	}
	if due, _ := n.due(); len(due) != 0 {
		t.Errorf("%d names are due again at once", len(due))
	}
}

// A name that nobody wants any more is forgotten, even if an answer is on its way.
func TestNamesAreForgotten(t *testing.T) {
	n := newNames(resolve.Resolver{}, time.Now, func() {})
	n.want([]string{"10.20.0.5", "10.20.0.6"}, nil)
	late := n.known["10.20.0.5"]
	n.want([]string{"10.20.0.6"}, nil)
	n.look(context.Background(), late)
	n.refresh(context.Background())
	if got := n.addresses(); len(got) != 1 || !got["10.20.0.6"].IsValid() {
		t.Errorf("addresses %v", got)
	}
}
