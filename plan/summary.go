package plan

import (
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Summary is a plan in figures. All but Held count pending changes alone, and of those
// the counted ones.
type Summary struct {
	Creates, Updates, Replaces, Adopts, Releases, Deletes int

	Drifted int // pending changes that repair what somebody else moved
	Held    int // changes that are not done yet
	// HeldUntil is the earliest moment from which one of the held changes may be
	// done; zero: no clock decides.
	HeldUntil time.Time

	Kept int // foreign parts that stay

	Opens, Closes int // rows of the reachability table; none of them counts what is held
	Widens        int // rows whose target is another one, or with other or more ports
	Unsure        int // rows of which it is not known whether they open, close or stay

	SourcesOpen, SourcesClose int // ranges on our side that gain or lose reverse exposures

	Interrupted []PeerRef // whose tunnel is interrupted, sorted
	Customers   []PeerRef // whose side must change its configuration, sorted
	Worst       Impact
}

// PeerRef names a peer among all gateways.
type PeerRef struct {
	Gateway vpn.Owner
	Peer    string
}

// Pending is the number of changes that would be executed.
func (s Summary) Pending() int {
	return s.Creates + s.Updates + s.Replaces + s.Adopts + s.Releases + s.Deletes
}

// Summary counts the plan.
func (p Plan) Summary() Summary {
	s := Summary{Kept: len(p.Kept)}
	for c := range Counted(p.Changes) {
		s.add(c)
	}
	for _, a := range p.Access {
		if a.Held {
			continue
		}
		if a.BeforeUnknown {
			s.Unsure += btoi(!a.AfterUnknown)
			continue
		}
		before, after := a.Before != nil && *a.Before, a.After != nil && *a.After
		s.Opens += btoi(after && !before)
		s.Closes += btoi(before && !after)
		s.Widens += btoi(a.Width == Wider || a.Width == Other)
	}
	for _, x := range p.Sources {
		s.SourcesOpen += btoi(x.After)
		s.SourcesClose += btoi(x.Before)
	}
	s.Interrupted, s.Customers = distinct(s.Interrupted), distinct(s.Customers)
	return s
}

// Counted are the changes that figures count, here and wherever changes are counted:
// all but the record of what was applied, which counts only for a gateway where it is
// the only change.
func Counted(changes []Change) iter.Seq[*Change] {
	beside := map[vpn.Owner]bool{} // who has changes besides the record
	for i := range changes {
		if changes[i].ID.Kind != resource.KindApplied {
			beside[changes[i].Owner] = true
		}
	}
	return func(yield func(*Change) bool) {
		for i := range changes {
			c := &changes[i]
			if (c.ID.Kind != resource.KindApplied || !beside[c.Owner]) && !yield(c) {
				return
			}
		}
	}
}

func (s *Summary) add(c *Change) {
	if c.Held != "" {
		s.Held++
		if !c.HeldUntil.IsZero() && (s.HeldUntil.IsZero() || c.HeldUntil.Before(s.HeldUntil)) {
			s.HeldUntil = c.HeldUntil
		}
		return
	}
	switch c.Action {
	case Create:
		s.Creates++
	case Update:
		s.Updates++
	case Replace:
		s.Replaces++
	case Adopt:
		s.Adopts++
	case Release:
		s.Releases++
	case Delete:
		s.Deletes++
	}
	s.Drifted += btoi(c.Drift)
	s.Worst = max(s.Worst, c.Impact)
	for _, peer := range c.Interrupts {
		s.Interrupted = append(s.Interrupted, PeerRef{c.Owner, peer})
	}
	for _, peer := range c.Customers {
		s.Customers = append(s.Customers, PeerRef{c.Owner, peer})
	}
}

func distinct(refs []PeerRef) []PeerRef {
	slices.SortFunc(refs, func(a, b PeerRef) int {
		if c := a.Gateway.Compare(b.Gateway); c != 0 {
			return c
		}
		return strings.Compare(a.Peer, b.Peer)
	})
	return slices.Compact(refs)
}

// Exceeds gives the pending changes whose impact is the limit or worse.
func (p Plan) Exceeds(limit Impact) []Change {
	return slices.DeleteFunc(p.Pending(), func(c Change) bool { return c.Impact < limit })
}
