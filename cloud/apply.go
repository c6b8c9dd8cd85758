package cloud

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Execution says how a plan is carried out.
type Execution struct {
	Drivers []Driver

	// Render gives an owner's desired graph once this run has learnt something of
	// it. It is the function that the plan was made with.
	Render func(owner vpn.Owner, news resource.GatewayFacts) (resource.Graph, error)

	// Index gives the changes of the estate's own objects, which list what stands,
	// after what was really done. Nil: the planned ones. They are carried out after
	// a Stop as well: a list must not name what was removed.
	Index func(r *Report) []plan.Change

	// Recheck is asked once, after all new ledgers are written and before
	// anything else happens, who lost a claim, and why. Nil: nobody.
	Recheck func(ctx context.Context, owners []vpn.Owner) (map[vpn.Owner]string, error)

	Parallelism int             // gateways side by side; default 8
	Stop        <-chan struct{} // closed: finish what is in flight and start nothing new
	Progress    func(Event)     // called from one goroutine at a time
	Now         func() time.Time
}

// Event tells what happens to a change.
type Event struct {
	Change  plan.Change
	State   State
	Err     error
	Elapsed time.Duration // of a change that is done or has failed
}

// State is where a change stands.
type State string

// The states. Skipped changes need one that failed, or came after the stop.
const (
	Started State = "started"
	Done    State = "done"
	Failed  State = "failed"
	Skipped State = "skipped"
)

// Apply carries out the pending changes of a plan: first all new ledgers, and what
// those need, then the gateways side by side, each in the plan's order, last the objects of the
// estate itself. A failure blocks only what needs it. Cancelling ctx ends the
// calls in flight.
func Apply(ctx context.Context, p plan.Plan, x Execution) *Report {
	x.Parallelism = cmp.Or(x.Parallelism, 8)
	if x.Now == nil {
		x.Now = time.Now
	}
	a := &application{Execution: x, state: map[resource.ID]State{}, report: &Report{Learnt: map[vpn.Owner]resource.GatewayFacts{}}}
	a.wake = sync.NewCond(&a.mu)
	in := split(present(p.Pending()))
	estate := in.estate
	a.schedule(ctx, in.first)
	a.schedule(ctx, in.ledgers)
	a.recheck(ctx, in.ledgers)
	a.schedule(ctx, in.addresses)
	a.schedule(ctx, in.rest)
	if a.Index != nil && (len(estate) > 0 || len(a.report.With(Done)) < len(a.report.Outcomes)) {
		estate = split(present(a.Index(a.report))).estate
	}
	a.schedule(ctx, estate)
	slices.SortFunc(a.report.Outcomes, func(m, n Outcome) int { return m.order - n.order })
	for o, l := range a.lanes {
		a.report.Learnt[o] = l.news
	}
	return a.report
}

// present drops needs that are no change of this run: they are in place.
func present(changes []plan.Change) []plan.Change {
	running := make(map[resource.ID]bool, len(changes))
	for _, c := range changes {
		running[c.ID] = true
	}
	changes = slices.Clone(changes)
	for i, c := range changes {
		changes[i].Needs = slices.DeleteFunc(slices.Clone(c.Needs), func(id resource.ID) bool { return !running[id] })
	}
	return changes
}

// split parts the changes that write a new claim, which depend on nothing but manifests
// in a cluster, and those manifests, from the gateways' others and from the estate's own.
func split(changes []plan.Change) (p phases) {
	announced, needed, early := map[resource.ID]bool{}, map[resource.ID]bool{}, map[resource.ID]bool{}
	for _, c := range changes {
		announced[c.ID] = c.ID.Kind.Manifest() && c.Action != plan.Delete
	}
	claims := func(c plan.Change) bool {
		return newClaim(c) && !slices.ContainsFunc(c.Needs, func(id resource.ID) bool { return !announced[id] })
	}
	for _, c := range changes {
		if claims(c) {
			for _, id := range c.Needs {
				needed[id] = true
			}
		}
	}
	for i, c := range changes {
		switch {
		case c.Owner.IsZero():
			p.estate = append(p.estate, queued{c, i})
		case needed[c.ID]:
			p.first = append(p.first, queued{c, i})
			early[c.ID] = true
		case claims(c):
			p.ledgers = append(p.ledgers, queued{c, i})
			early[c.ID] = true
		case chosen(c) && !slices.ContainsFunc(c.Needs, func(id resource.ID) bool { return !early[id] }):
			p.addresses = append(p.addresses, queued{c, i})
		default:
			p.rest = append(p.rest, queued{c, i})
		}
	}
	return p
}

// phases are the parts of a plan in the order in which they are carried out.
type phases struct{ first, ledgers, addresses, rest, estate []queued }

// chosen tells whether a change makes a port on an address that was chosen for it: before
// the ports that are given any come to have it.
func chosen(c plan.Change) bool {
	return c.Action == plan.Create && c.After.TransitLeg != nil && c.After.TransitLeg.Address != resource.Unknown
}

func newClaim(c plan.Change) bool {
	if c.ID.Kind != resource.KindSecurityGroup || c.After == nil {
		return false
	}
	return c.Before == nil || c.Action == plan.Adopt || !slices.Equal(c.Before.SecurityGroup.Ledger, c.After.SecurityGroup.Ledger)
}

type queued struct {
	plan.Change
	order int
}

// application is one run of Apply.
type application struct {
	Execution
	mu     sync.Mutex
	wake   *sync.Cond
	state  map[resource.ID]State // of every change that has started
	lanes  map[vpn.Owner]*lane
	report *Report
}

// carry brings the change up to date with what is known by now and hands it to
// its driver.
func (a *application) carry(ctx context.Context, l *lane, c plan.Change) error {
	if l.news != (resource.GatewayFacts{}) && c.After != nil && a.Render != nil {
		if l.rendered == nil || l.asOf != l.news {
			graph, err := a.Render(c.Owner, l.news)
			if err != nil {
				return err
			}
			l.rendered, l.asOf = graph, l.news
		}
		if r, ok := l.rendered[c.ID]; ok {
			c.After = &r
		}
	}
	if c.After != nil && c.After.Object != nil && len(c.After.Object.Unknown) > 0 {
		return fmt.Errorf("rendering %s: %v is still not known", c.ID, c.After.Object.Unknown)
	}
	for _, d := range a.Drivers {
		if d.Handles(c.ID.Kind) {
			learnt, err := d.Apply(ctx, c)
			l.news = l.news.Complete(learnt)
			return err
		}
	}
	return fmt.Errorf("applying %s: no driver handles %s", c.ID, c.ID.Kind)
}

// recheck asks who lost a claim to another run; their remaining changes find
// the ledger failed.
func (a *application) recheck(ctx context.Context, ledgers []queued) {
	written := map[vpn.Owner]queued{}
	var owners []vpn.Owner
	for _, c := range ledgers {
		if a.state[c.ID] == Done {
			written[c.Owner] = c
			owners = append(owners, c.Owner)
		}
	}
	if len(owners) == 0 || a.Recheck == nil {
		return
	}
	losers, err := a.Recheck(ctx, owners)
	for _, o := range owners {
		switch why, lost := losers[o]; {
		case err != nil:
			a.revoke(written[o], fmt.Errorf("checking claims: %w", err))
		case lost:
			a.revoke(written[o], fmt.Errorf("%w: %s", ErrConflict, why))
		}
	}
}

// revoke turns a change that was done into one that failed after all.
func (a *application) revoke(c queued, err error) {
	a.report.Outcomes = slices.DeleteFunc(a.report.Outcomes, func(o Outcome) bool { return o.Change.ID == c.ID })
	a.settle(c, Failed, err, 0)
}
