package report

import "time"

// urgency orders what is due at one time: a change of state goes before what isn't
// known, and that before figures. What failed before ranks with figures, so that one
// object that never succeeds keeps nobody waiting.
type urgency int

const (
	stateChange urgency = iota // the API shows another state than the one reported
	unread                     // it isn't known what the API shows
	figures                    // only counters and times differ
	resync                     // nothing differs, as far as known
)

// target is one object whose status is kept. What the API shows is believed while
// known: until a call whose outcome isn't known, and for one resync at most.
type target struct {
	object object
	want   content

	shows   content
	known   bool
	differs urgency   // between want and shows; resync: nothing does
	read    time.Time // when shows was last read or written
	wrote   time.Time

	failures int
	retry    time.Time // not before
	err      error     // of the last attempt
}

// compare notes how what is wanted differs from what is shown.
func (t *target) compare() {
	switch {
	case !t.want.sameState(t.shows):
		t.differs = stateChange
	case !t.want.same(t.shows):
		t.differs = figures
	default:
		t.differs = resync
	}
}

// due says how urgent the target is and from when on.
func (t *target) due(p Pace) (urgency, time.Time) {
	switch {
	case t.failures > 0:
		return figures, t.retry
	case !t.known:
		return unread, t.retry
	case t.differs == stateChange:
		return stateChange, t.wrote.Add(p.Gap)
	case t.differs == figures:
		return figures, t.read.Add(p.Figures)
	}
	return resync, t.read.Add(p.Resync)
}

// next picks, of what is due, the most urgent; of several, the first of the list, which
// sums up the others, and else the longest due. Where nothing is due it returns nil,
// and the time from which something will be, if ever.
func next(targets []*target, p Pace, now time.Time) (*target, time.Time) {
	var pick *target
	var most urgency
	var since, soonest time.Time
	for _, t := range targets {
		u, at := t.due(p)
		if at.After(now) {
			if soonest.IsZero() || at.Before(soonest) {
				soonest = at
			}
			continue
		}
		if pick == nil || u < most || u == most && pick != targets[0] && at.Before(since) {
			pick, most, since = t, u, at
		}
	}
	return pick, soonest
}

// succeeded notes what the API shows now.
func (t *target) succeeded(shows content, now time.Time) {
	t.shows, t.known, t.read = shows, true, now
	t.failures, t.err, t.retry = 0, nil, time.Time{}
	t.compare()
}

// failed notes that it isn't known any more what the API shows.
func (t *target) failed(err error, retry time.Time) {
	t.known, t.err, t.retry = false, err, retry
	t.failures++
}
