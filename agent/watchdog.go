package agent

import (
	"cmp"
	"slices"
	"time"

	"github.com/vpnctl/vpnctl/agent/vici"
)

// Tunnel is one child SA that should be up.
type Tunnel struct{ Connection, Child string }

// Watchdog decides what to do about the SAs that charon lists: which tunnels to
// initiate and which IKE SAs to end. charon does neither by itself, as it is
// configured. The watchdog only ever looks at what it is shown and keeps the times.
//
// A tunnel that is down on two looks is initiated, then again and again, ever less
// often: at least every Longest, so that a peer which comes back after days is found
// within a minute. While its IKE SA is being negotiated it is left alone, because
// charon queues what it is told meanwhile, and an SA that was told twice to bring up
// a child makes two.
type Watchdog struct {
	Patience time.Duration // between the two looks at which a tunnel must be down
	First    time.Duration // from the first initiate to the second; then it doubles
	Longest  time.Duration // between two initiates
	Limit    time.Duration // of an IKE SA's negotiation, after which it is given up
	Settle   time.Duration // how long two IKE SAs of one peer stand side by side before one is ended
	Batch    int           // initiates of one look: each of them keeps charon busy for some 2 ms

	tunnels map[Tunnel]*downtime
	sas     map[uint32]*standing
}

// NewWatchdog returns a watchdog with times that suit a look every five seconds.
func NewWatchdog() *Watchdog {
	return &Watchdog{
		Patience: 4 * time.Second, First: 10 * time.Second, Longest: 50 * time.Second,
		Limit: 45 * time.Second, Settle: time.Minute, Batch: 200,
	}
}

// downtime is what is kept of a tunnel that is down.
type downtime struct {
	since  time.Time // of the first look at which it was down
	last   time.Time // initiated; zero: not yet
	wait   time.Duration
	hurry  bool // it was ended on purpose: the next look may initiate
	marked bool // seen at this look
}

// standing is what is kept of an IKE SA.
type standing struct {
	state   string
	since   time.Time // in this state, as far as was seen
	traffic uint64    // counted so far
	before  uint64    // at the first look at which it had a double; see duplicates
	double  bool
	marked  bool
}

// Orders are what a look leads to.
type Orders struct {
	Initiate []Tunnel
	GiveUp   []vici.SA // nobody has answered: end it, or the next attempt never starts
	Double   []vici.SA // another IKE SA of the same peer carries the same tunnels
	More     bool      // further tunnels are due, and the batch is full
}

// Look is told which tunnels charon could bring up now, in any order, and all that
// charon lists.
func (w *Watchdog) Look(now time.Time, expected []Tunnel, sas []vici.SA) Orders {
	var o Orders
	by := map[string][]vici.SA{}
	for _, sa := range sas {
		by[sa.Connection] = append(by[sa.Connection], sa)
	}
	w.stand(now, sas)
	for _, sa := range sas {
		if s := w.sas[sa.ID]; sa.State == vici.Connecting && sa.Initiator && now.Sub(s.since) >= w.Limit {
			o.GiveUp = append(o.GiveUp, sa)
		}
	}
	o.Double = w.doubles(by)
	o.Initiate, o.More = w.due(now, expected, by)
	return o
}

// Hurry says that a tunnel was ended in order to be negotiated anew.
func (w *Watchdog) Hurry(t Tunnel) {
	if w.tunnels == nil {
		w.tunnels = map[Tunnel]*downtime{}
	}
	w.tunnels[t] = &downtime{hurry: true}
}

// Forget drops what is known of SAs and of attempts: charon was started anew.
func (w *Watchdog) Forget() { w.tunnels, w.sas = nil, nil }

// due are the tunnels to initiate, those that have waited longest first.
func (w *Watchdog) due(now time.Time, expected []Tunnel, by map[string][]vici.SA) (batch []Tunnel, more bool) {
	if w.tunnels == nil {
		w.tunnels = map[Tunnel]*downtime{}
	}
	for _, t := range expected {
		sas, d := by[t.Connection], w.tunnels[t]
		if up(sas, t.Child) {
			if d != nil {
				d.marked = d.hurry // the peer hasn't confirmed its end yet
			}
			continue
		}
		if d == nil {
			d = &downtime{}
			w.tunnels[t] = d
		}
		d.marked = true
		if w.busy(now, sas) {
			d.since = time.Time{}
			continue
		}
		if d.since.IsZero() {
			d.since = now
		}
		if d.ready(now, w.Patience) {
			batch = append(batch, t)
		}
	}
	for t, d := range w.tunnels {
		if !d.marked {
			delete(w.tunnels, t)
		}
		d.marked = false
	}
	slices.SortStableFunc(batch, func(a, b Tunnel) int {
		x, y := w.tunnels[a], w.tunnels[b]
		return cmp.Or(x.last.Compare(y.last), x.since.Compare(y.since), cmp.Compare(a.Connection, b.Connection), cmp.Compare(a.Child, b.Child))
	})
	if len(batch) > w.Batch {
		batch, more = batch[:w.Batch], true
	}
	for _, t := range batch {
		w.tunnels[t].initiated(now, w.First, w.Longest)
	}
	return batch, more
}

// ready tells whether a tunnel that is down may be initiated.
func (d *downtime) ready(now time.Time, patience time.Duration) bool {
	switch {
	case d.hurry:
		return true
	case d.last.IsZero():
		return now.Sub(d.since) >= patience
	}
	return now.Sub(d.last) >= d.wait && now.Sub(d.since) >= min(patience, d.wait)
}

func (d *downtime) initiated(now time.Time, first, longest time.Duration) {
	d.hurry, d.last = false, now
	d.wait = min(max(first, 2*d.wait), longest)
}

// busy tells whether charon is at work on a connection's IKE SAs, so that an initiate
// now would be queued behind it. An SA that is on its way out counts for a while.
func (w *Watchdog) busy(now time.Time, sas []vici.SA) bool {
	for _, sa := range sas {
		switch {
		case leaving(sa.State):
			if s := w.sas[sa.ID]; now.Sub(s.since) < 2*w.Patience {
				return true
			}
		case sa.State != vici.Established || sa.Tasks:
			return true
		}
	}
	return false
}

// stand follows the state of every IKE SA.
func (w *Watchdog) stand(now time.Time, sas []vici.SA) {
	if w.sas == nil {
		w.sas = map[uint32]*standing{}
	}
	for _, sa := range sas {
		s := w.sas[sa.ID]
		if s == nil || s.state != sa.State {
			s = &standing{state: sa.State, since: now}
			w.sas[sa.ID] = s
		}
		s.marked, s.traffic = true, traffic(sa)
	}
	for id, s := range w.sas {
		if !s.marked {
			delete(w.sas, id)
		}
		s.marked = false
	}
}
