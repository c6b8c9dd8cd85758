package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/vpnctl/vpnctl/cloud/reconcile"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/view"
)

type applyCommand struct {
	selection
	gate
	clusterSide
	AutoApprove        bool          `help:"Don't ask."`
	Parallelism        int           `default:"8" placeholder:"N" help:"Gateways side by side. Default: ${default}."`
	LockTimeout        time.Duration `default:"3m" help:"How long to wait for another run of this estate. Default: ${default}."`
	Wait               time.Duration `default:"2m" help:"With a cluster: how long to wait for the pods of what was written; 0: not at all. Default: ${default}."`
	AlongsideReconcile bool          `help:"With a cluster: apply although a vpnctl reconcile keeps the estate. What the manifests there say comes back with its next round."`
	Paths              []string      `arg:"" optional:"" help:"Files, folders, - for standard input, or one saved plan. Default: this folder."`
}

// Help is what --help adds.
func (applyCommand) Help() string {
	return `Plans, asks, and carries the plan out: gateways side by side, each in its order. A saved plan is planned again first and refused where anything came out differently. One run writes to an estate at a time; others wait.

Examples:

    vpnctl apply gateways/
    vpnctl apply --auto-approve --deny-impact customer gateways/
    vpnctl apply plan.json

The first Ctrl-C finishes what is in flight and stops; the second one ends at once. Whatever happens, running apply again continues. Exit codes: 0 done, 1 error, refusal or denial.`
}

func (c applyCommand) Run(g *Globals, s *streams, stop *interrupts) error {
	if err := c.check(); err != nil {
		return err
	}
	j, err := g.job(s, c.Paths, c.selection)
	if err != nil {
		return err
	}
	if j.saved == nil && !c.AutoApprove && !terminal(s.stdin) {
		return errors.New("apply asks before it changes anything, but there is no terminal: use --auto-approve, or save a plan and apply that")
	}
	if err := j.real(g); err != nil {
		return err
	}
	a := &application{applyCommand: c, globals: g, streams: s, stop: stop, job: j}
	if a.site, err = g.connect(stop, s, j.estate, j.base, c.agreed(j)); err != nil {
		return err
	}
	defer a.site.Close()
	if err := j.belongs(a.site); err != nil {
		return err
	}
	if err := a.unled(stop.ctx); err != nil {
		return err
	}
	switch {
	case j.saved != nil:
		return a.saved()
	case c.AutoApprove:
		return a.unattended()
	}
	return a.asked()
}

func (c applyCommand) check() error {
	switch {
	case c.Parallelism < 1:
		return fmt.Errorf("--parallelism is %d, but must be at least 1", c.Parallelism)
	case c.Wait < 0:
		return fmt.Errorf("--wait is %s, but can't be negative", c.Wait)
	}
	return c.selection.check()
}

// application is one apply.
type application struct {
	applyCommand
	globals *Globals
	streams *streams
	stop    *interrupts
	job     *job
	site    *site
	blind   bool // it was said that nobody can see who leads
}

// asked plans, shows, asks, and applies what it showed.
func (a *application) asked() error {
	result, err := a.due(a.stop.ctx)
	if err != nil || result == nil {
		return err
	}
	if err := a.permitted(a.stop.ctx, result.Plan); err != nil {
		return err
	}
	if yes, err := a.ask(); err != nil || !yes {
		return err
	}
	shown := result.Plan
	return a.locked(func(ctx context.Context) error { return a.again(ctx, shown, "The plan above") })
}

// saved applies a saved plan.
func (a *application) saved() error {
	if err := a.permitted(a.stop.ctx, *a.job.saved); err != nil {
		return err
	}
	return a.locked(func(ctx context.Context) error { return a.again(ctx, *a.job.saved, a.job.file) })
}

// unattended plans and applies without a question.
func (a *application) unattended() error {
	if err := a.foresee(a.stop.ctx); err != nil {
		return err
	}
	return a.locked(func(ctx context.Context) error {
		result, err := a.due(ctx)
		if err != nil || result == nil {
			return err
		}
		return a.carryOut(ctx, result)
	})
}

// foresee plans for a cluster without the lock, which is a port in the cloud already: whoever
// lacks rights writes not even that.
func (a *application) foresee(ctx context.Context) error {
	if a.site.cluster == nil || a.job.options.Only == plan.OnlyCloud {
		return nil
	}
	result, err := a.site.plan(ctx, a.job)
	if err != nil {
		return err
	}
	if lacking := a.permitted(ctx, result.Plan); lacking != nil {
		return cmp.Or(a.show(result), lacking)
	}
	return nil
}

// due plans and shows what is to be done; nil where that is nothing.
func (a *application) due(ctx context.Context) (*reconcile.Result, error) {
	result, err := a.site.plan(ctx, a.job)
	if err != nil {
		return nil, err
	}
	if err := a.show(result); err != nil {
		return nil, err
	}
	if done, err := a.settled(ctx, result); done {
		return nil, err
	}
	return result, nil
}

// again plans once more and carries the plan out where it is still the one that
// was agreed to.
func (a *application) again(ctx context.Context, agreed plan.Plan, name string) error {
	result, err := a.site.plan(ctx, a.job)
	if err != nil {
		return err
	}
	if over := result.Plan; len(agreed.Pending()) > 0 && len(over.Changes)+len(over.Refusals) == 0 {
		if _, err := a.settled(ctx, result); err != nil {
			return err
		}
		_, err := fmt.Fprintf(a.streams.stdout, "Nothing to do: %s has been applied already.\n", name)
		return err
	}
	if moved := plan.Compare(agreed, result.Plan); len(moved) > 0 {
		if err := view.Stale(a.streams.stderr, name, agreed, moved); err != nil {
			return err
		}
		return errSaid
	}
	if done, err := a.settled(ctx, result); done {
		if err == nil {
			_, err = fmt.Fprintln(a.streams.stdout, "Nothing to do.")
		}
		return err
	}
	return a.carryOut(ctx, result)
}

func (a *application) show(r *reconcile.Result) error {
	o := a.globals.shown(a.streams)
	o.Header, o.Given = a.site.header, standing(r)
	return view.Text(a.streams.stdout, r.Plan, o)
}

// settled tells whether nothing is left to be carried out, and why. Then the manifests'
// statuses are put right, where they were not: a pod may have begun to run meanwhile.
func (a *application) settled(ctx context.Context, r *reconcile.Result) (bool, error) {
	p := r.Plan
	for _, r := range p.Refusals {
		if r.Owner.IsZero() {
			return true, errors.New("nothing was changed: " + r.Message)
		}
	}
	if err := a.pass(p); err != nil {
		return true, fmt.Errorf("nothing was changed: %w", err)
	}
	if len(p.Pending()) > 0 {
		return false, nil
	}
	err := a.conclude(ctx, r, nil)
	if err == nil && len(p.Refusals) > 0 {
		err = errSaid
	}
	return true, err
}

// ask wants the whole word. A signal ends the question: nothing has been begun.
func (a *application) ask() (bool, error) {
	fmt.Fprint(a.streams.stdout, "\nApply this? Only yes will do: ")
	said, err := bufio.NewReader(a.streams.stdin).ReadString('\n')
	if !strings.HasSuffix(said, "\n") { // where the terminal's line was left
		fmt.Fprintln(a.streams.stdout)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("reading the answer: %w", err)
	}
	if strings.TrimSpace(said) != "yes" {
		fmt.Fprintln(a.streams.stdout, "Nothing was changed.")
		return false, errSaid
	}
	return true, nil
}
