package agent

import (
	"fmt"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/agent/vici"
)

// carry adds bytes to an SA's first child.
func carry(sa vici.SA, bytes uint64) vici.SA {
	sa.Children = append([]vici.ChildSA{}, sa.Children...)
	sa.Children[0].BytesIn += bytes
	return sa
}

func aged(sa vici.SA, age time.Duration) vici.SA { sa.Established = age; return sa }

func theirs(sa vici.SA) vici.SA { sa.Initiator = false; return sa }

func TestWhichOfTwoEnds(t *testing.T) {
	one, two := sa("ina", 1, vici.Established, "a", "b"), sa("ina", 2, vici.Established, "b", "a")
	for sentence, c := range map[string]struct {
		first, then []vici.SA
		want        string
	}{
		"the one without traffic":             {[]vici.SA{one, two}, []vici.SA{carry(one, 5), two}, "[2]"},
		"traffic of before doesn't count":     {[]vici.SA{one, carry(two, 100)}, []vici.SA{carry(one, 5), carry(two, 100)}, "[2]"},
		"of two without traffic the older":    {[]vici.SA{one, two}, []vici.SA{aged(one, 2*time.Hour), two}, "[1]"},
		"the one that the greater ID began":   {[]vici.SA{one, theirs(two)}, []vici.SA{one, theirs(two)}, "[1]"},
		"none while one is young":             {[]vici.SA{one, two}, []vici.SA{one, aged(two, 50*time.Second)}, "[]"},
		"none while one negotiates":           {[]vici.SA{one, two}, []vici.SA{one, negotiating(two)}, "[]"},
		"none where the tunnels differ":       {[]vici.SA{one, two}, []vici.SA{one, sa("ina", 2, vici.Established, "a")}, "[]"},
		"none without tunnels":                {[]vici.SA{one, two}, []vici.SA{sa("ina", 1, vici.Established), sa("ina", 2, vici.Established)}, "[]"},
		"none where one is on its way out":    {[]vici.SA{one, two}, []vici.SA{one, sa("ina", 2, "DELETING", "a", "b")}, "[]"},
		"none of two peers":                   {[]vici.SA{one, two}, []vici.SA{one, sa("ben", 2, vici.Established, "a", "b")}, "[]"},
		"one of three at a time":              {[]vici.SA{one, two}, []vici.SA{carry(one, 5), two, sa("ina", 3, vici.Established, "a", "b")}, "[2]"},
		"the one that began anew has carried": {[]vici.SA{carry(one, 100), two}, []vici.SA{carry(one, 7), two}, "[2]"},
	} {
		w := NewWatchdog()
		w.Look(start, nil, young(c.first))
		o := w.Look(start.Add(5*time.Second), nil, c.then)
		got := []uint32{}
		for _, sa := range o.Double {
			got = append(got, sa.ID)
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v, want %s", sentence, got, c.want)
		}
	}
}

// young makes SAs that nothing is decided about yet.
func young(sas []vici.SA) []vici.SA {
	var all []vici.SA
	for _, sa := range sas {
		all = append(all, aged(sa, time.Second))
	}
	return all
}

// TestBothEndsDecideAlike: two watchdogs that see the same pair of SAs from its two ends
// end the same one, or the tunnel would be gone.
func TestBothEndsDecideAlike(t *testing.T) {
	for bits := range 32 {
		yes := func(bit int) bool { return bits>>bit&1 == 1 }
		left := []vici.SA{sa("peer", 1, vici.Established, "a"), sa("peer", 2, vici.Established, "a")}
		for i := range left {
			left[i].Initiator = yes(i)
			if yes(2) {
				left[i].LocalID, left[i].RemoteID = left[i].RemoteID, left[i].LocalID
			}
		}
		if yes(3) {
			left[0] = carry(left[0], 10)
		}
		if yes(4) {
			left[1] = aged(left[1], 2*time.Hour)
		}
		right := []vici.SA{left[1], left[0]} // in another order
		for i := range right {
			right[i].Initiator = !right[i].Initiator
			right[i].LocalID, right[i].RemoteID = right[i].RemoteID, right[i].LocalID
		}
		ended := func(sas []vici.SA) uint32 {
			w := NewWatchdog()
			var zero []vici.SA
			for _, sa := range young(sas) {
				sa.Children = append([]vici.ChildSA{}, sa.Children...)
				sa.Children[0].BytesIn = 0
				zero = append(zero, sa)
			}
			w.Look(start, nil, zero)
			return w.Look(start.Add(5*time.Second), nil, sas).Double[0].ID
		}
		if a, b := ended(left), ended(right); a != b {
			t.Errorf("%05b: one end ends %d, the other one %d", bits, a, b)
		}
	}
}
