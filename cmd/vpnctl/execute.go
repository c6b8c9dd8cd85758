package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strings"
	"time"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/reconcile"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/view"
	"github.com/vpnctl/vpnctl/state"
)

// locked runs with the estate's lock. What the run says counts; a lock that
// could not be removed is told besides.
func (a *application) locked(run func(ctx context.Context) error) error {
	lock, err := reconcile.Lock(a.stop.ctx, a.site.estate, a.site.cloud,
		state.LockOptions{Holder: holder(), Timeout: a.LockTimeout, Waiting: a.waiting})
	if err != nil {
		return err
	}
	a.site.log.Info("locked", "holder", holder())
	defer func() {
		if left := lock.Release(a.stop.ctx); left != nil {
			fmt.Fprintln(a.streams.stderr, "! "+view.Plain(left.Error()))
			return
		}
		a.site.log.Info("unlocked")
	}()
	if warning := lock.Warning(); warning != "" {
		fmt.Fprintln(a.streams.stderr, "! "+view.Plain(warning))
	}
	if err = a.unled(lock.Context()); err == nil { // it may have begun while the lock was waited for
		err = run(lock.Context())
	}
	if cause := context.Cause(lock.Context()); err != nil && errors.Is(cause, state.ErrLost) {
		err = cause
	}
	return err
}

func (a *application) waiting(holder string, until time.Time) {
	fmt.Fprintf(a.streams.stderr, "Waiting for the run of %s, which holds the lock until %s unless it renews it.\n",
		view.Plain(holder), until.Local().Format(time.TimeOnly))
}

// holder says who runs this, for others who wait: user@host.
func holder() string {
	name := cmp.Or(os.Getenv("USER"), "someone")
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	return fmt.Sprintf("%s@%s (process %d)", name, host, os.Getpid())
}

// identity is holder with a mark that no other process has, not even one of the same
// number on a machine of the same name, nor this one after a restart: who it names is
// known to be this very process.
func identity() string {
	mark := make([]byte, 5)
	_, _ = rand.Read(mark) // which never fails
	return fmt.Sprintf("%s, %x)", strings.TrimSuffix(holder(), ")"), mark)
}

// carryOut executes a plan and reports.
func (a *application) carryOut(ctx context.Context, r *reconcile.Result) error {
	if err := a.permitted(ctx, r.Plan); err != nil {
		return err
	}
	a.stop.Graceful()
	began := time.Now()
	show := view.NewProgress(a.streams.stderr, r.Plan.Pending(), view.ProgressOptions{
		Live:  terminal(a.streams.stderr) && a.globals.Verbose == 0,
		Color: a.globals.color(a.streams.stderr),
		Width: width(a.streams.stderr),
	})
	unsaid := a.farewell(ctx, r)
	finished := ticking(show)
	report := r.Apply(ctx, cloud.Execution{Parallelism: a.Parallelism, Stop: a.stop.stop, Progress: func(e cloud.Event) {
		a.record(e)
		tell(show, e)
	}})
	finished()
	if err := view.Outcomes(a.streams.stdout, view.Report{
		Outcomes: outcomes(report),
		Elapsed:  time.Since(began),
		Given:    given(r, report),
		Plan:     r.Plan,
		Next:     a.next(),
		Color:    a.globals.color(a.streams.stdout),
		Width:    width(a.streams.stdout),
	}); err != nil {
		return err
	}
	err := cmp.Or(a.conclude(ctx, r, report), unsaid)
	if err == nil && (report.Err() != nil || len(r.Plan.Refusals) > 0) {
		err = errSaid
	}
	return err
}

// permitted refuses a plan before anything is written, where the account in the cluster
// may not do all of it: the cloud would be changed for pods that nobody can make. It is
// asked before the lock is taken, and of the plan that is carried out.
func (a *application) permitted(ctx context.Context, p plan.Plan) error {
	if a.site.cluster == nil || p.Options.Only == plan.OnlyCloud {
		return nil
	}
	lacking, err := a.site.cluster.Lacking(ctx, p.Pending())
	switch {
	case err != nil:
		return err
	case len(lacking) > 0:
		return fmt.Errorf("nothing was changed: in the cluster this account may not %s", strings.Join(lacking, "; may not "))
	}
	return nil
}

// record logs a change that begins or has ended.
func (a *application) record(e cloud.Event) {
	words := []any{"change", e.Change.ID.String(), "action", string(e.Change.Action)}
	if e.Err != nil {
		words = append(words, "error", e.Err)
	}
	a.site.log.Info(string(e.State), words...)
}

func tell(show *view.Progress, e cloud.Event) {
	if e.State == cloud.Started {
		show.Started(e.Change)
	} else {
		show.Settled(e.Change, e.State == cloud.Skipped, e.Err)
	}
}

// ticking keeps live lines moving until the returned function is called.
func ticking(show *view.Progress) (finish func()) {
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				show.Tick()
			}
		}
	}()
	return func() {
		close(stop)
		<-stopped
		show.Close()
	}
}

func outcomes(r *cloud.Report) []view.Outcome {
	var all []view.Outcome
	for _, o := range r.Outcomes {
		all = append(all, view.Outcome{Change: o.Change, Done: o.State == cloud.Done, Failed: o.State == cloud.Failed,
			Stopped: errors.Is(o.Err, cloud.ErrStopped), Err: o.Err, Cure: cure(o.Err)})
	}
	return all
}

// cure says what helps against an error that another try alone does not cure;
// empty: another try may.
func cure(err error) string {
	switch {
	case errors.Is(err, cloud.ErrQuota):
		return "raise the quota, or remove something"
	case errors.Is(err, cloud.ErrUnresolved):
		return "correct what the manifests name"
	case errors.Is(err, cloud.ErrRejected):
		return "see to what the cloud refuses"
	}
	return ""
}
