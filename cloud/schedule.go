package cloud

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// lane is one owner's changes, in order.
type lane struct {
	owner   vpn.Owner
	changes []queued
	busy    bool
	news    resource.GatewayFacts // what this run has learnt

	rendered resource.Graph        // as of those news; nil: not yet
	asOf     resource.GatewayFacts // the news that it was rendered with
}

// schedule runs changes to their end, owner by owner.
func (a *application) schedule(ctx context.Context, changes []queued) {
	if len(changes) == 0 {
		return
	}
	var lanes []*lane
	if a.lanes == nil {
		a.lanes = map[vpn.Owner]*lane{}
	}
	for _, c := range changes {
		l := a.lanes[c.Owner]
		if l == nil {
			l = &lane{owner: c.Owner}
			a.lanes[c.Owner] = l
		}
		if len(l.changes) == 0 {
			lanes = append(lanes, l)
		}
		l.changes = append(l.changes, c)
	}
	var workers sync.WaitGroup
	for range min(a.Parallelism, len(lanes)) {
		workers.Go(func() { a.work(ctx, lanes) })
	}
	workers.Wait()
	for _, l := range lanes { // only a need that never came leaves anything here
		for _, c := range l.changes {
			a.settle(c, Skipped, errors.New("what it needs was not done"), 0)
		}
		l.changes = nil
	}
}

func (a *application) work(ctx context.Context, lanes []*lane) {
	for {
		l := a.take(lanes)
		if l == nil {
			return
		}
		for {
			c, ok := a.next(l)
			if !ok {
				break
			}
			a.run(ctx, l, c)
		}
	}
}

// take waits for a lane whose next change can run and claims it; nil when there
// is nothing left to wait for.
func (a *application) take(lanes []*lane) *lane {
	a.mu.Lock()
	defer a.mu.Unlock()
	for {
		busy := false
		for _, l := range lanes {
			if l.busy {
				busy = true
			} else if len(l.changes) > 0 && a.ready(l.changes[0]) {
				l.busy = true
				return l
			}
		}
		if !busy {
			return nil
		}
		a.wake.Wait()
	}
}

// next takes the lane's next change, or gives the lane back when it has to wait
// for another owner.
func (a *application) next(l *lane) (queued, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(l.changes) == 0 || !a.ready(l.changes[0]) {
		l.busy, l.rendered = false, nil // to hold what was rendered for all gateways would be as much as the plan
		a.wake.Broadcast()
		return queued{}, false
	}
	c := l.changes[0]
	l.changes = l.changes[1:]
	return c, true
}

// ready tells whether all that a change needs is settled, well or not.
func (a *application) ready(c queued) bool {
	for _, id := range c.Needs {
		if s := a.state[id]; s == "" || s == Started {
			return false
		}
	}
	return true
}

func (a *application) run(ctx context.Context, l *lane, c queued) {
	if why := a.blocked(ctx, c); why != nil {
		a.settle(c, Skipped, why, 0)
		return
	}
	a.settle(c, Started, nil, 0)
	began := a.Now()
	err := a.carry(ctx, l, c.Change)
	if err != nil {
		a.settle(c, Failed, err, a.Now().Sub(began))
		return
	}
	a.settle(c, Done, nil, a.Now().Sub(began))
}

// blocked says why a change must not run any more.
func (a *application) blocked(ctx context.Context, c queued) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case <-a.Stop:
		if !c.Owner.IsZero() {
			return ErrStopped
		}
	default:
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, id := range c.Needs {
		if a.state[id] != Done {
			return fmt.Errorf("needs %s", id)
		}
	}
	return nil
}

func (a *application) settle(c queued, s State, err error, took time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.state[c.ID] = s
	if s != Started {
		a.report.Outcomes = append(a.report.Outcomes, Outcome{Change: c.Change, State: s, Err: err, order: c.order})
	}
	if a.Progress != nil {
		a.Progress(Event{Change: c.Change, State: s, Err: err, Elapsed: took})
	}
	a.wake.Broadcast()
}
