package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/reconcile"
	"github.com/vpnctl/vpnctl/cloud/reconcile/loop"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/view"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// teller writes statuses and events of manifests in the cluster, as a controller does;
// nil where there is no cluster, or where its side is left out.
func (a *application) teller(r *reconcile.Result) *loop.Controller {
	if a.site.cluster == nil || r.Plan.Options.Only == plan.OnlyCloud {
		return nil
	}
	c := a.site.cluster
	return &loop.Controller{Cluster: c, Herald: c, Missing: c.Missing, PublicKey: c.PublicKey, Log: aloud(a.streams.stderr)}
}

// farewell tells of gateways that go, before they do.
func (a *application) farewell(ctx context.Context, r *reconcile.Result) error {
	teller := a.teller(r)
	if teller == nil || !removes(r.Plan) {
		return nil
	}
	failures, err := teller.Farewell(ctx, r)
	return untold(failures, err)
}

func removes(p plan.Plan) bool {
	for _, c := range p.Pending() {
		if c.Action == plan.Delete && c.ID.Kind.Manifest() {
			return true
		}
	}
	return false
}

// conclude waits for the pods whose Deployments were written, and writes into the
// manifests' statuses how the gateways stand. A nil report: nothing was to be done.
func (a *application) conclude(ctx context.Context, r *reconcile.Result, report *cloud.Report) error {
	teller := a.teller(r)
	if teller == nil {
		return nil
	}
	var rollouts map[string]cloud.Rollout
	var late error
	if report != nil {
		rollouts, late = a.await(ctx, report)
	}
	failures, err := teller.Tell(ctx, r, report, rollouts)
	return cmp.Or(untold(failures, err), late)
}

// await waits for pods; the error names those that don't run in time.
func (a *application) await(ctx context.Context, report *cloud.Report) (map[string]cloud.Rollout, error) {
	p := reconcile.Patience{Limit: a.Wait, Stop: a.stop.stop, Progress: a.rollout,
		Look: func(ctx context.Context) (map[string]cloud.Rollout, error) {
			return a.site.cluster.Rollouts(ctx, a.site.estate.Name)
		}}
	seen, waiting, err := p.Await(ctx, report)
	switch {
	case err != nil:
		return nil, fmt.Errorf("looking at the pods: %w", err)
	case len(waiting) == 0 || a.Wait <= 0:
		return seen, nil
	}
	var late []string
	for _, o := range waiting {
		late = append(late, o.Path()+": "+cmp.Or(seen[o.String()].Message, noPod))
	}
	select {
	case <-a.stop.stop:
		return seen, errors.New("all is written, and pods are no longer waited for: " + strings.Join(late, "; "))
	default:
		return seen, fmt.Errorf("all is written, but not every pod runs after %s: %s", a.Wait, strings.Join(late, "; "))
	}
}

// noPod is why a gateway doesn't run, where nothing more is known.
const noPod = "its pod does not run yet"

// rollout tells of a pod that is waited for.
func (a *application) rollout(o vpn.Owner, now cloud.Rollout) {
	word := "its pod runs"
	if !now.Available {
		word = "waiting: " + cmp.Or(now.Message, noPod)
	}
	fmt.Fprintln(a.streams.stderr, view.Plain(o.Path()+": "+word))
}

// untold is the error of statuses that could not be written, each of which was named.
func untold(failures int, err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("writing how the gateways stand: %w", err)
	case failures == 1:
		return errors.New("a status could not be written: the manifest above doesn't say how it stands")
	case failures > 1:
		return fmt.Errorf("%d statuses could not be written: the manifests above don't say how they stand", failures)
	}
	return nil
}

// unled refuses an estate that a reconcile in the cluster keeps.
func (a *application) unled(ctx context.Context) error {
	if a.site.cluster == nil || a.AlongsideReconcile {
		return nil
	}
	who, blind, err := a.site.leader(ctx)
	switch {
	case err != nil:
		return err
	case blind != "" && !a.blind:
		a.blind = true
		fmt.Fprintln(a.streams.stderr, "! "+view.Plain(blind))
	case who != "":
		return fmt.Errorf("nothing was changed: %s: edit the manifests in the cluster instead, stop it, or use --alongside-reconcile", who)
	}
	return nil
}

// leader says which reconcile keeps the estate, empty: none, or that this can't be seen.
func (at *site) leader(ctx context.Context) (who, blind string, err error) {
	l, err := at.cluster.Leader(ctx, at.estate.Name)
	if err != nil {
		if errors.Is(err, cloud.ErrForbidden) {
			return "", "whether a vpnctl reconcile keeps this estate can't be seen: " + err.Error(), nil
		}
		return "", "", fmt.Errorf("looking for a reconcile that keeps the estate: %w", err)
	}
	if l == nil {
		return "", "", nil
	}
	since := ""
	if !l.Since.IsZero() {
		since = " since " + l.Since.UTC().Format(time.RFC3339)
	}
	return fmt.Sprintf("estate %s is kept by vpnctl reconcile: %s%s (Lease %s)", at.estate.Name, l.Name, since, l.Lease), "", nil
}

// keptElsewhere is what a plan says beside a reconcile.
const keptElsewhere = "apply refuses as long as it runs: the manifests in the cluster count"

// note adds to a plan who keeps the estate.
func (at *site) note(ctx context.Context, r *reconcile.Result) error {
	if at.cluster == nil {
		return nil
	}
	who, blind, err := at.leader(ctx)
	if err != nil {
		return err
	}
	if who != "" {
		r.Plan.Notices = append(r.Plan.Notices, plan.Notice{Message: who, Hint: keptElsewhere})
	}
	if blind != "" {
		r.Plan.Notices = append(r.Plan.Notices, plan.Notice{Message: blind, Hint: "allow list of leases.coordination.k8s.io"})
	}
	return nil
}
