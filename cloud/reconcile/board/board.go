package board

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/reconcile"
	"github.com/vpnctl/vpnctl/cloud/reconcile/standing"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Board is what a controller shows of itself: on the page, as metrics and to probes.
// It never asks anybody.
type Board struct {
	dry     bool
	metrics *metrics

	mu       sync.Mutex
	leading  bool
	standby  Standby
	deadline time.Time // by which the loop must give a sign of life
	estate   string
	problem  string // of the Estate's file
	looked   time.Time
	took     time.Duration
	trouble  string // why the last round came to nothing
	since    time.Time
	standing map[vpn.Owner]standing.Gateway
	lines    map[vpn.Owner]plan.Owner
	orphans  []vpn.Owner
	refusals []plan.Refusal
	notices  []plan.Notice
	others   []plan.Notice // of other estates' manifests
	pending  int
	drift    int
	unheard  map[string]string // resources that can't be watched, and why
	pool     netip.Prefix
	allotted float64 // share of the service CIDR pool
	last     []step  // the first few of the last plan that had any
	more     int     // how many there were besides
	planned  time.Time
}

// step is one change of the last plan, and what became of it.
type step struct {
	Change plan.Change
	State  string // empty: planned
	Err    string
}

// stuck is how long a loop may go without a sign of life.
const stuck = 15 * time.Minute

// New is the board of a controller that has done nothing yet. A dry one leads nobody.
// Calls to the cloud are those that the drivers count.
func New(dry bool, drivers []cloud.Driver) *Board {
	b := &Board{dry: dry}
	b.metrics = newMetrics(b, drivers)
	return b
}

// Lead takes down whether this replica leads. Of an earlier turn nothing holds any more:
// another replica may have changed all of it.
func (b *Board) Lead(is bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if is {
		b.looked, b.took, b.planned, b.trouble = time.Time{}, 0, time.Time{}, ""
		b.standing, b.lines, b.orphans, b.refusals, b.notices = nil, nil, nil, nil, nil
		b.pending, b.drift, b.allotted, b.last, b.more = 0, 0, 0, nil, 0
	}
	b.leading = is
	b.deadline = time.Now().Add(stuck)
}

// Alive is a sign of life.
func (b *Board) Alive() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.deadline = time.Now().Add(stuck)
}

// Waiting says when the next sign of life is due.
func (b *Board) Waiting(next time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.deadline = next.Add(stuck)
}

// Reads takes down which Estate counts, and what is wrong with its file as it is; empty:
// nothing is.
func (b *Board) Reads(e vpn.Estate, problem string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.estate, b.pool, b.problem = e.Name, e.ServiceCIDRPool, problem
}

// Sees takes down what is other estates'.
func (b *Board) Sees(others []plan.Notice) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.others = others
}

// Deaf takes down why a resource can't be watched, without an error that it can, and
// tells whether that it can't is new.
func (b *Board) Deaf(resource string, err error) (fresh bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil {
		delete(b.unheard, resource)
		return false
	}
	if b.unheard == nil {
		b.unheard = map[string]string{}
	}
	_, known := b.unheard[resource]
	b.unheard[resource] = err.Error()
	return !known
}

// Failed takes down why a round came to nothing.
func (b *Board) Failed(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.trouble == "" {
		b.since = time.Now()
	}
	b.trouble = err.Error()
}

// Stands takes down how a gateway stands.
func (b *Board) Stands(s standing.Gateway) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.standing == nil {
		b.standing = map[vpn.Owner]standing.Gateway{}
	}
	b.standing[s.Owner] = s
}

// Round is what a round that could look has found and done.
type Round struct {
	Began   time.Time
	Result  *reconcile.Result
	Report  *cloud.Report // nil: nothing was applied
	Err     error         // why nothing was, although something was due
	There   func(vpn.Owner) bool
	Notices []plan.Notice
}

// Round takes a round down. Of gateways that are no longer there nothing is shown.
func (b *Board) Round(r Round) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.looked, b.took = time.Now(), time.Since(r.Began)
	if r.Err == nil {
		b.trouble = ""
	}
	b.lines, b.orphans = map[vpn.Owner]plan.Owner{}, nil
	for _, o := range r.Result.Plan.Owners {
		b.lines[o.Owner] = o
		if o.Blocked == reconcile.Orphaned {
			b.orphans = append(b.orphans, o.Owner)
		}
	}
	for o := range b.standing {
		if !r.There(o) {
			delete(b.standing, o)
		}
	}
	b.refusals, b.notices = r.Result.Plan.Refusals, slices.Concat(r.Notices, r.Result.Plan.Notices)
	b.allotted = allotted(b.pool, r.Result)
	b.steps(r)
}

func (b *Board) steps(r Round) {
	b.pending, b.drift = 0, 0
	var steps []step
	count := 0
	became := map[string]cloud.Outcome{}
	if r.Report != nil {
		for _, o := range r.Report.Outcomes {
			became[o.Change.ID.String()] = o
		}
	}
	for _, c := range r.Result.Plan.Changes {
		s := step{Change: plan.Change{ID: c.ID, Action: c.Action, Reason: c.Reason, Impact: c.Impact, Drift: c.Drift, Held: c.Held}} // not what it holds
		if o, tried := became[c.ID.String()]; tried {
			if s.State = string(o.State); o.Err != nil {
				s.Err = o.Err.Error()
			}
		}
		if s.State != string(cloud.Done) {
			b.pending++
		}
		if c.Drift {
			b.drift++
		}
		if count++; count <= shownSteps {
			steps = append(steps, s)
		}
	}
	if count > 0 {
		b.last, b.more, b.planned = steps, count-len(steps), time.Now()
	}
}

// allotted is the share of the pool's /24s that are given out.
func allotted(pool netip.Prefix, r *reconcile.Result) float64 {
	if !pool.IsValid() || pool.Bits() > 24 {
		return 0
	}
	taken := 0
	for _, l := range r.Ledgers {
		if l.ServiceCIDR.IsValid() && pool.Overlaps(l.ServiceCIDR) {
			taken++
		}
	}
	for _, l := range r.Seen.Ledgers {
		if _, counted := r.Ledgers[l.Owner]; !counted && l.ServiceCIDR.IsValid() && pool.Overlaps(l.ServiceCIDR) {
			taken++
		}
	}
	return float64(taken) / float64(int(1)<<(24-pool.Bits()))
}

// healthy tells whether the loop is at work: what it can't get done is no reason to
// start it anew.
func (b *Board) healthy() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if late := time.Since(b.deadline); b.leading && late > 0 {
		return fmt.Errorf("the loop has shown no sign of life for %s", (late + stuck).Round(time.Second))
	}
	return nil
}

// ready tells whether the estate has been looked at; who stands by is ready to.
func (b *Board) ready() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case !b.leading && b.standby.Err != nil:
		return b.standby.Err
	case !b.leading || !b.looked.IsZero():
		return nil
	case b.trouble != "":
		return errors.New(b.trouble)
	}
	return errors.New("the estate has not been looked at yet")
}

// standings are all that are known, sorted. The caller holds the lock.
func (b *Board) standings() []standing.Gateway {
	all := make([]standing.Gateway, 0, len(b.standing))
	for _, s := range b.standing {
		all = append(all, s)
	}
	slices.SortFunc(all, func(x, y standing.Gateway) int {
		return cmp.Or(cmp.Compare(order[x.Ready().Status], order[y.Ready().Status]), x.Owner.Compare(y.Owner))
	})
	return all
}

// order puts what people have to look at first.
var order = map[string]int{standing.False: 0, standing.Unknown: 1, standing.True: 2}
