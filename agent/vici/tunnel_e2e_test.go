//go:build e2e

package vici

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vpnctl/vpnctl/agent/lab/netns"
	"github.com/vpnctl/vpnctl/render/swanctl"
)

// TestRekeyTimeIsWhatRemains, counts down with the clock, and is kept.
func TestRekeyTimeIsWhatRemains(t *testing.T) {
	c := tunnel("plant", 1)
	c.Lifetime, c.Children[0].Lifetime = time.Hour, 24*time.Second
	_, _, s, first := established(t, c)
	start := time.Now()
	due := first.Children[0].RekeyIn
	t.Logf("IKE rekey in %s of %s, child rekey in %s of %s", first.RekeyIn, c.Lifetime, due, c.Children[0].Lifetime)
	if first.RekeyIn < c.Lifetime*9/10-2*time.Second || first.RekeyIn > c.Lifetime || first.Established > busy {
		t.Errorf("the IKE SA: rekey in %s, established for %s", first.RekeyIn, first.Established)
	}
	if whole := due + first.Children[0].Installed; whole < c.Children[0].Lifetime*9/10-2*time.Second || due > c.Children[0].Lifetime {
		t.Errorf("the child: rekey in %s", due)
	}
	for time.Since(start) < 10*time.Second {
		asked := time.Since(start)
		sa := up(t, s, c)
		passed := time.Since(start)
		for what, left := range map[string]time.Duration{"IKE SA": sa.RekeyIn - first.RekeyIn, "child": sa.Children[0].RekeyIn - due} {
			if -left < asked-2*time.Second || -left > passed+2*time.Second {
				t.Errorf("after %s the rekey of the %s was %s nearer", passed, what, -left)
			}
		}
		if gone := sa.Established - first.Established; gone < asked-2*time.Second || gone > passed+2*time.Second {
			t.Errorf("after %s the SA was %s older", passed, gone)
		}
		time.Sleep(time.Second)
	}
	// What is replaced stays listed for a while, overdue and not installed.
	var sa SA
	netns.Eventually(t, "a second child", due+busy-time.Since(start), func() bool {
		all, err := s.SAs(t.Context())
		if len(all) != 1 || err != nil {
			t.Fatalf("%d SAs, %v", len(all), err)
		}
		sa = all[0]
		return len(sa.Children) == 2
	})
	if took := time.Since(start); took < due-2*time.Second {
		t.Errorf("rekeyed after %s, announced for %s", took, due)
	}
	netns.Eventually(t, "one child is installed, one replaced", 5*time.Second, func() bool {
		all, err := s.SAs(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		children := all[0].Children
		slices.SortFunc(children, func(a, b ChildSA) int { return int(a.ID) - int(b.ID) })
		return len(children) == 2 && children[0].ID == first.Children[0].ID && children[0].State != Installed && children[0].RekeyIn <= 0 &&
			children[1].State == Installed && children[1].RekeyIn > 12*time.Second
	})
	if sa.ID != first.ID {
		t.Errorf("the IKE SA was %d and is %d", first.ID, sa.ID)
	}
}

// TestChildrenComeAndGoAlone under one IKE SA of a connection named as a key of the
// events that tell of it.
func TestChildrenComeAndGoAlone(t *testing.T) {
	gateway, peer := lab(t)
	s := dial(t, gateway.Socket())
	c := tunnel("up", 1)
	peer.serves(t, []byte(password), c)
	pushed(t, s, []byte(password), c)
	heard, _ := listen(t, t.Context(), gateway.Socket())
	initiate(t, s, c)
	sa := up(t, s, c)
	for e := next(t, heard); len(e.Children) == 0; e = next(t, heard) {
		if e.Kind != Changed || e.Connection != "up" || e.SA != sa.ID {
			t.Errorf("heard %v", e)
		}
	}
	if n, err := s.TerminateChild(t.Context(), c.Name, c.Children[0].Name); n != 1 || err != nil {
		t.Fatalf("terminated %d children, %v", n, err)
	}
	netns.Eventually(t, "the IKE SA without children", 10*time.Second, func() bool {
		all, err := s.SAs(t.Context())
		return err == nil && len(all) == 1 && all[0].ID == sa.ID && len(all[0].Children) == 0
	})
	initiate(t, s, c)
	initiate(t, s, c)
	again := up(t, s, c)
	if again.ID != sa.ID || len(again.Children) != 1 {
		t.Errorf("came up again as %v", again)
	}
	if err := s.Unload(t.Context(), c.Name); err != nil {
		t.Fatal(err)
	}
	if n, err := s.TerminateConnection(t.Context(), c.Name); n != 1 || err != nil {
		t.Errorf("an unloaded connection's SAs: %d, %v", n, err)
	}
	if err := s.TerminateSA(t.Context(), again.ID); err != nil {
		t.Errorf("an SA that has gone: %v", err)
	}
}

// TestAnEstablishedSA as a live charon lists it, and the counters of its child, which
// come a last time when the child goes.
func TestAnEstablishedSA(t *testing.T) {
	c := tunnel("plant", 1)
	gateway, _, s, _ := established(t, c)
	knock(t, gateway, s, 3)
	got := up(t, s, c)
	want := SA{
		Connection: "plant", ID: 1, State: Established, Initiator: true, LocalID: gatewayID, RemoteID: "plant.example",
		Local: netip.MustParseAddrPort("192.0.2.1:4500"), Remote: netip.MustParseAddrPort("192.0.2.2:4500"),
		Proposal: "AES_CBC-256/HMAC_SHA2_256_128/PRF_HMAC_SHA2_256/ECP_256",
		Children: []ChildSA{{
			Name: "plant-a", ID: 1, State: Installed, Proposal: "AES_CBC-256/HMAC_SHA2_256_128",
			LocalTS: []netip.Prefix{c.Children[0].Local}, RemoteTS: c.Children[0].Remote,
			PacketsIn: 3, PacketsOut: 3, BytesIn: 171, BytesOut: 87,
		}},
	}
	times := cmpopts.IgnoreFields(SA{}, "Established", "RekeyIn")
	if diff := cmp.Diff(want, got, compared, times, cmpopts.IgnoreFields(ChildSA{}, "Installed", "RekeyIn")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	heard, _ := listen(t, t.Context(), gateway.Socket())
	knock(t, gateway, s, 6)
	if _, err := s.TerminateConnection(t.Context(), c.Name); err != nil {
		t.Fatal(err)
	}
	for e := next(t, heard); ; e = next(t, heard) {
		if len(e.Children) == 1 && e.Children[0].PacketsIn == 6 && e.Children[0].BytesOut == 174 {
			break
		}
	}
}

// knock sends three datagrams of 29 bytes through the tunnel to a port that nobody
// has, and waits until so many refusals of 57 bytes have come back in all.
func knock(t *testing.T, gateway node, s *Session, want uint64) {
	t.Helper()
	gateway.Run(t, "bash", "-c", "for i in 1 2 3; do echo >/dev/udp/10.0.1.1/9; done")
	netns.Eventually(t, "refusals come back", 10*time.Second, func() bool {
		all, err := s.SAs(t.Context())
		return err == nil && all[0].Children[0].PacketsIn == want
	})
}

// TestTerminatingNeedsNoPeer: it doesn't wait for one that says nothing.
func TestTerminatingNeedsNoPeer(t *testing.T) {
	gateway, peer := lab(t)
	s := dial(t, gateway.Socket())
	a, b, silent := tunnel("a", 1), tunnel("b", 2), tunnel("silent", 3)
	silent.Address = nobody(0)
	peer.serves(t, []byte(password), a, b)
	pushed(t, s, []byte(password), a, b, silent)
	for _, c := range []swanctl.Connection{a, b, silent} {
		initiate(t, s, c)
	}
	up(t, s, a)
	id := up(t, s, b).ID
	peer.Hang(t)
	defer peer.Resume(t)
	start := time.Now()
	for _, c := range []swanctl.Connection{a, silent} {
		if n, err := s.TerminateConnection(t.Context(), c.Name); n != 1 || err != nil {
			t.Errorf("terminated %d of %s, %v", n, c.Name, err)
		}
	}
	if n, err := s.TerminateChild(t.Context(), b.Name, b.Children[0].Name); n != 1 || err != nil {
		t.Errorf("terminated %d children, %v", n, err)
	}
	if err := s.TerminateSA(t.Context(), id); err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took > busy { // its retransmissions last longer
		t.Errorf("asking took %s", took)
	}
	netns.Eventually(t, "no SA is left", 2*time.Second, func() bool {
		all, err := s.SAs(t.Context())
		return err == nil && len(all) == 0
	})
}
