package agent

import (
	"maps"
	"slices"

	"github.com/vpnctl/vpnctl/agent/vici"
)

// doubles are the IKE SAs that another one of the same connection makes superfluous.
// Two ends that initiate at one time make two, and charon keeps both, whatever unique
// says. Both stay for Settle, because one may be the end of a rekey; then the one that
// carried less meanwhile goes. Both ends may decide at once, and must decide alike, or
// nothing would be left: where neither carried more, the one goes that the peer with the
// greater identity initiated.
func (w *Watchdog) doubles(by map[string][]vici.SA) []vici.SA {
	var all []vici.SA
	for _, name := range slices.Sorted(maps.Keys(by)) {
		a, b, found := w.double(by[name])
		for _, sa := range by[name] {
			w.sas[sa.ID].watch(found && (sa.ID == a.ID || sa.ID == b.ID))
		}
		if found && min(a.Established, b.Established) > w.Settle {
			all = append(all, w.lesser(a, b))
		}
	}
	return all
}

// double finds two IKE SAs that are up, at rest, and carry the same tunnels.
func (w *Watchdog) double(sas []vici.SA) (a, b vici.SA, found bool) {
	for i, a := range sas {
		for _, b := range sas[i+1:] {
			if settled(a) && settled(b) && slices.Equal(carried(a), carried(b)) {
				return a, b, true
			}
		}
	}
	return a, b, false
}

func settled(sa vici.SA) bool {
	return sa.State == vici.Established && !sa.Tasks && len(carried(sa)) > 0
}

// watch counts traffic from the moment on at which there are two.
func (s *standing) watch(double bool) {
	if double && !s.double {
		s.before = s.traffic
	}
	s.double = double
}

// carriedSince is 0 where the counters began anew meanwhile.
func (s *standing) carriedSince() uint64 {
	if s.traffic < s.before {
		return s.traffic
	}
	return s.traffic - s.before
}

func (w *Watchdog) lesser(a, b vici.SA) vici.SA {
	x, y := w.sas[a.ID].carriedSince(), w.sas[b.ID].carriedSince()
	switch {
	case x != y && x < y:
		return a
	case x != y:
		return b
	case a.Initiator != b.Initiator && a.Initiator == (a.LocalID > a.RemoteID):
		return a
	case a.Initiator != b.Initiator:
		return b
	case a.Established > b.Established || a.Established == b.Established && a.ID < b.ID:
		return a // the older one
	}
	return b
}

// carried are the names of an IKE SA's children that carry packets, sorted.
func carried(sa vici.SA) []string {
	var names []string
	for _, c := range sa.Children {
		if carries(c.State) {
			names = append(names, c.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// carries tells whether a child SA in this state passes packets. One that is being
// rekeyed does until the new one is there.
func carries(state string) bool {
	return state == vici.Installed || state == "REKEYING" || state == "UPDATING"
}

// leaving tells whether an IKE SA in this state is on its way out.
func leaving(state string) bool {
	return state == "DELETING" || state == "DESTROYING" || state == "REKEYED"
}

// up tells whether a child carries packets under any of these IKE SAs.
func up(sas []vici.SA, child string) bool {
	return slices.ContainsFunc(sas, func(sa vici.SA) bool {
		return slices.ContainsFunc(sa.Children, func(c vici.ChildSA) bool { return c.Name == child && carries(c.State) })
	})
}

func traffic(sa vici.SA) uint64 {
	var sum uint64
	for _, c := range sa.Children {
		sum += c.BytesIn + c.BytesOut
	}
	return sum
}
