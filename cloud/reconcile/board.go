package reconcile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// board is what a controller shows of itself: on the page, as metrics and to probes.
// It never asks anybody.
type board struct {
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
	standing map[vpn.Owner]Standing
	lines    map[vpn.Owner]plan.Owner
	orphans  []vpn.Owner
	refusals []plan.Refusal
	notices  []plan.Notice
	others   []plan.Notice // of other estates' manifests
	pending  int
	drift    int
	secrets  map[string]bool   // namespace/name, that gateways use
	unheard  map[string]string // resources that can't be watched, and why
	allotted float64           // share of the service CIDR pool
	last     []step            // the first few of the last plan that had any
	more     int               // how many there were besides
	planned  time.Time
}

// step is one change of the last plan, and what became of it.
type step struct {
	Change plan.Change
	State  string // empty: planned
	Err    string
}

// lead takes down whether this replica leads. Of an earlier turn nothing holds any more:
// another replica may have changed all of it.
func (b *board) lead(is bool) {
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

// alive is a sign of life.
func (b *board) alive() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.deadline = time.Now().Add(stuck)
}

// waiting says when the next sign of life is due.
func (b *board) waiting(next time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.deadline = next.Add(stuck)
}

// reads takes down what was read of the cluster, and that the Estate's file has a problem.
func (b *board) reads(e vpn.Estate, problem string) {
	secrets := map[string]bool{}
	for _, g := range e.Gateways {
		for _, ref := range secretsOf(g) {
			secrets[g.Owner.Namespace+"/"+ref.Name] = true
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.estate, b.problem, b.secrets = e.Name, problem, secrets
}

// sees takes down what is other estates'.
func (b *board) sees(others []plan.Notice) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.others = others
}

func (b *board) names(secret string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.secrets[secret]
}

// deaf takes down why a resource can't be watched, and tells whether that is new.
func (b *board) deaf(resource string, err error) (fresh bool) {
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

func (b *board) failed(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.trouble == "" {
		b.since = time.Now()
	}
	b.trouble = err.Error()
}

func (b *board) stands(s Standing) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.standing == nil {
		b.standing = map[vpn.Owner]Standing{}
	}
	b.standing[s.Owner] = s
}

// round takes down what a round that could look has found and done.
func (b *board) round(r *round, done turn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.looked, b.took = time.Now(), time.Since(r.began)
	if done.err == nil {
		b.trouble = ""
	}
	b.lines, b.orphans = map[vpn.Owner]plan.Owner{}, nil
	for _, o := range done.Plan.Owners {
		b.lines[o.Owner] = o
		if o.Blocked == Orphaned {
			b.orphans = append(b.orphans, o.Owner)
		}
	}
	for o := range b.standing {
		if _, there := r.gateways[o]; !there {
			delete(b.standing, o)
		}
	}
	b.refusals, b.notices = done.Plan.Refusals, slices.Concat(r.notices, done.Plan.Notices)
	b.allotted = allotted(done.Result)
	b.steps(done)
}

func (b *board) steps(done turn) {
	b.pending, b.drift = 0, 0
	var steps []step
	count := 0
	became := map[string]cloud.Outcome{}
	if done.report != nil {
		for _, o := range done.report.Outcomes {
			became[o.Change.ID.String()] = o
		}
	}
	for _, c := range done.Plan.Changes {
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
func allotted(r *Result) float64 {
	pool := r.pool
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
func (b *board) healthy() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if late := time.Since(b.deadline); b.leading && late > 0 {
		return fmt.Errorf("the loop has shown no sign of life for %s", (late + stuck).Round(time.Second))
	}
	return nil
}

// ready tells whether the estate has been looked at; who stands by is ready to.
func (b *board) ready() error {
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
func (b *board) standings() []Standing {
	all := make([]Standing, 0, len(b.standing))
	for _, s := range b.standing {
		all = append(all, s)
	}
	slices.SortFunc(all, func(x, y Standing) int {
		return cmp.Or(cmp.Compare(order[x.Ready().Status], order[y.Ready().Status]), x.Owner.Compare(y.Owner))
	})
	return all
}

// order puts what people have to look at first.
var order = map[string]int{False: 0, Unknown: 1, True: 2}
