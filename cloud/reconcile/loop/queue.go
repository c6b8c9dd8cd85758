package loop

import (
	"time"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

// How long what failed waits until it is tried again.
//
//	a change in the cloud           15 s, always the same
//	a link's router wasn't found    the same
//	a customer's side is away       the same
//	what was refused                1 min: what helps is often another gateway's end
//	no node was found               1 s, doubled up to 1 min; a node's change hastens it
//	a change in the cluster         the same, and nothing hastens it
//	what was removed comes back     at once, then the same
//	reading or writing manifests    the same
//	looking at the estate           15 s, doubled up to 2 min, for all at once
//	a manifest that is not valid    never: only an edit helps
const (
	cloudPause       = 15 * time.Second
	refusalPause     = time.Minute
	firstPause       = time.Second
	lastPause        = time.Minute
	lastObservePause = 2 * time.Minute
)

// fault is what went wrong with a gateway or a link.
type fault int

const (
	none      fault = iota
	lingering       // all of it was removed, and it is still to be seen whether it stays away
	homeless
	inCluster
	declined
	unresolved
	inCloud
)

// queue knows who may be tried again when. The zero time is now.
type queue struct {
	due      map[vpn.Owner]time.Time
	rests    map[vpn.Owner]bool // until then nothing of it is tried; else only looked at
	attempts map[vpn.Owner]int  // in the cluster that failed, in a row

	cluster trial // reading manifests
	observe trial // looking at the estate
	writing trial // of statuses and finalizers
}

// trial is something that all gateways need.
type trial struct {
	due      time.Time
	attempts int // that failed, in a row
}

func newQueue() *queue {
	return &queue{due: map[vpn.Owner]time.Time{}, rests: map[vpn.Owner]bool{}, attempts: map[vpn.Owner]int{}}
}

// settle notes how somebody's turn ended.
func (q *queue) settle(o vpn.Owner, f fault, now time.Time) {
	delete(q.due, o)
	delete(q.rests, o)
	if f == none || f == declined || f == unresolved || f == inCloud {
		delete(q.attempts, o)
	}
	switch f {
	case inCloud:
		q.due[o], q.rests[o] = now.Add(cloudPause), true
	case declined:
		q.due[o] = now.Add(refusalPause)
	case unresolved:
		q.due[o] = now.Add(cloudPause)
	case lingering:
		if n := q.attempts[o]; n > 0 {
			q.due[o], q.rests[o] = now.Add(doubled(firstPause, n-1, lastPause)), true
		}
		q.attempts[o]++
	case homeless, inCluster:
		q.due[o], q.rests[o] = now.Add(doubled(firstPause, q.attempts[o], lastPause)), f == inCluster
		q.attempts[o]++
	}
}

// resting tells whether somebody is not to be tried yet.
func (q *queue) resting(o vpn.Owner, now time.Time) bool { return q.rests[o] && now.Before(q.due[o]) }

// next is when somebody is due first after a round, latest at the latest.
//
//	due                    the next round is
//	later                  then
//	while the round ran    after a pause: what lasted long were other gateways' statuses
//	before it began        later: the round passed it over, and the next one may as well
func (q *queue) next(began, now, latest time.Time) time.Time {
	soon := now.Add(min(max(now.Sub(began), quiet), longestPause))
	for o, due := range q.due {
		switch {
		case due.After(now):
		case due.After(began):
			due = soon
		default:
			due = now.Add(doubled(firstPause, q.attempts[o], lastPause))
			q.due[o], q.rests[o] = due, false
			q.attempts[o]++
		}
		if due.Before(latest) {
			latest = due
		}
	}
	return latest
}

// keep forgets all others.
func (q *queue) keep(there func(vpn.Owner) bool) {
	for o := range q.due {
		if !there(o) {
			delete(q.due, o)
			delete(q.rests, o)
		}
	}
	for o := range q.attempts {
		if !there(o) {
			delete(q.attempts, o)
		}
	}
}

func (t *trial) failed(now time.Time, first, last time.Duration) time.Time {
	t.due = now.Add(doubled(first, t.attempts, last))
	t.attempts++
	return t.due
}

func (t *trial) succeeded() { *t = trial{} }

// doubled is a pause that was doubled n times, last at the most.
func doubled(first time.Duration, n int, last time.Duration) time.Duration {
	for range n {
		if first *= 2; first >= last {
			return last
		}
	}
	return first
}
