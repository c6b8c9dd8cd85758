package agent

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/agent/vici"
)

var start = time.Date(2026, 11, 30, 1, 0, 0, 0, time.UTC)

// sa is an IKE SA with children in words: "ina 1 ESTABLISHED a b".
func sa(name string, id uint32, state string, children ...string) vici.SA {
	all := vici.SA{Connection: name, ID: id, State: state, Initiator: true, LocalID: "us", RemoteID: "them", Established: time.Hour}
	for i, c := range children {
		all.Children = append(all.Children, vici.ChildSA{Name: c, ID: 100*id + uint32(i), State: vici.Installed})
	}
	return all
}

func negotiating(sa vici.SA) vici.SA { sa.Tasks = true; return sa }

// TestWhenATunnelIsInitiated shows a watchdog one list after another, five seconds
// apart: a tunnel a of the peer ina, and at which looks it is initiated.
func TestWhenATunnelIsInitiated(t *testing.T) {
	down, up := []vici.SA{}, []vici.SA{sa("ina", 1, vici.Established, "a")}
	connecting := []vici.SA{sa("ina", 1, vici.Connecting)}
	for sentence, c := range map[string]struct {
		looks []([]vici.SA)
		want  []int
	}{
		"one that is up, never":                 {[][]vici.SA{up, up, up}, nil},
		"one that is down for one look, never":  {[][]vici.SA{up, down, up, down, up}, nil},
		"one that is down twice":                {[][]vici.SA{down, down}, []int{1}},
		"again after ten seconds, then twenty":  {[][]vici.SA{down, down, down, down, down, down, down, down, down}, []int{1, 3, 7}},
		"never while it is negotiated":          {[][]vici.SA{down, down, connecting, connecting, connecting, connecting, connecting}, []int{1}},
		"nor by the peer":                       {[][]vici.SA{connecting, connecting, connecting, connecting}, nil},
		"two looks after a negotiation":         {[][]vici.SA{connecting, connecting, down, down}, []int{3}},
		"one that was up begins anew":           {[][]vici.SA{down, down, down, down, up, down, down}, []int{1, 3, 6}},
		"the missing child of an IKE SA":        {[][]vici.SA{{sa("ina", 1, vici.Established, "b")}, {sa("ina", 1, vici.Established, "b")}}, []int{1}},
		"not while the IKE SA has other tasks":  {[][]vici.SA{{negotiating(sa("ina", 1, vici.Established))}, {negotiating(sa("ina", 1, vici.Established))}}, nil},
		"not onto an SA that goes":              {[][]vici.SA{{sa("ina", 1, "DELETING")}, {sa("ina", 1, "DELETING")}}, nil},
		"though not for ever":                   {[][]vici.SA{{sa("ina", 1, "DELETING")}, {sa("ina", 1, "DELETING")}, {sa("ina", 1, "DELETING")}, {sa("ina", 1, "DELETING")}}, []int{3}},
		"a child that is rekeyed is up":         {[][]vici.SA{rekeying(), rekeying(), rekeying()}, nil},
		"a child under the second IKE SA is up": {[][]vici.SA{{sa("ina", 1, vici.Established), up[0]}, {sa("ina", 1, vici.Established), up[0]}}, nil},
	} {
		w, now := NewWatchdog(), start
		var got []int
		for i, sas := range c.looks {
			if o := w.Look(now, []Tunnel{{"ina", "a"}}, sas); len(o.Initiate) > 0 {
				got = append(got, i)
			}
			now = now.Add(5 * time.Second)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: initiated at look (-want +got)\n%s", sentence, diff)
		}
	}
}

func rekeying() []vici.SA {
	all := sa("ina", 1, vici.Established, "a")
	all.Children[0].State = "REKEYING"
	return []vici.SA{all}
}

// TestAReturningPeerIsFound: whenever a peer returns, a message of ours reaches it
// within a minute. Attempts begin with a packet, which charon repeats after 4, 11, 24
// and 47 seconds; then the SA is given up.
func TestAReturningPeerIsFound(t *testing.T) {
	w, now := NewWatchdog(), start
	var began time.Time
	var sent []time.Time
	for range 1000 {
		var sas []vici.SA
		if !began.IsZero() {
			sas = []vici.SA{sa("ina", 1, vici.Connecting)}
		}
		o := w.Look(now, []Tunnel{{"ina", "a"}}, sas)
		if len(o.GiveUp) > 0 {
			began = time.Time{}
		}
		if len(o.Initiate) > 0 {
			began = now
			for _, after := range []time.Duration{0, 4, 11, 24} {
				sent = append(sent, now.Add(after*time.Second))
			}
		}
		now = now.Add(5 * time.Second)
	}
	for i := 1; i < len(sent); i++ {
		if gap := sent[i].Sub(sent[i-1]); gap > time.Minute {
			t.Fatalf("nothing was sent for %s", gap)
		}
	}
	if len(sent) < 80 {
		t.Errorf("only %d packets in %s", len(sent), now.Sub(start))
	}
}

// TestAColdStart: of many tunnels a batch is initiated at each look, nobody twice before
// everybody once, and all are found when they come back within a minute and a bit.
func TestAColdStart(t *testing.T) {
	const tunnels = 2000
	w, now := NewWatchdog(), start
	var all []Tunnel
	for i := range tunnels {
		all = append(all, Tunnel{fmt.Sprintf("p%04d", i), "a"})
	}
	count := map[Tunnel]int{}
	for i := 0; len(count) < tunnels; i++ {
		o := w.Look(now, all, nil)
		if len(o.Initiate) > w.Batch || i > 0 && o.More != (len(count)+len(o.Initiate) < tunnels || len(o.Initiate) == w.Batch) {
			t.Fatalf("look %d: %d initiated, more: %v", i, len(o.Initiate), o.More)
		}
		for _, x := range o.Initiate {
			if count[x]++; count[x] > 1 {
				t.Fatalf("%v is initiated a second time, and %d never were", x, tunnels-len(count))
			}
		}
		if i > 20 {
			t.Fatalf("after %d looks %d were never initiated", i, tunnels-len(count))
		}
		now = now.Add(5 * time.Second)
	}
}

func TestHurry(t *testing.T) {
	w := NewWatchdog()
	a := Tunnel{"ina", "a"}
	up := []vici.SA{sa("ina", 1, vici.Established, "a")}
	w.Look(start, []Tunnel{a}, up)
	w.Hurry(a)
	if o := w.Look(start.Add(5*time.Second), []Tunnel{a}, up); len(o.Initiate) > 0 {
		t.Error("it is initiated while it is up")
	}
	if o := w.Look(start.Add(10*time.Second), []Tunnel{a}, nil); len(o.Initiate) != 1 {
		t.Error("it isn't initiated at the first look without it")
	}
	w.Hurry(Tunnel{"ina", "gone"})
	w.Look(start.Add(15*time.Second), []Tunnel{a}, up)
	if len(w.tunnels) > 0 {
		t.Errorf("something is kept of tunnels that are up or not expected: %v", w.tunnels)
	}
}

// TestGivingUp: only what we have begun ourselves.
func TestGivingUp(t *testing.T) {
	w, now := NewWatchdog(), start
	ours, theirs := sa("ina", 1, vici.Connecting), sa(unnamed, 2, vici.Connecting)
	theirs.Initiator = false
	for i := range 10 {
		o := w.Look(now, nil, []vici.SA{ours, theirs})
		if want := i >= 9; (len(o.GiveUp) == 1 && o.GiveUp[0].ID == 1) != want || len(o.GiveUp) > 1 {
			t.Errorf("after %s: %v", now.Sub(start), o.GiveUp)
		}
		now = now.Add(5 * time.Second)
	}
}
