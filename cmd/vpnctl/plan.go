package main

import (
	"context"
	"fmt"
	"time"

	"github.com/vpnctl/vpnctl/cloud/reconcile"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/manifest"
	"github.com/vpnctl/vpnctl/plan/view"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

type planCommand struct {
	selection
	gate
	clusterSide
	DetailedExitcode bool     `help:"Exit with 2 when there are changes; held ones are none."`
	Format           string   `enum:"text,json,markdown" default:"text" help:"text, json or markdown (fits a comment of a pull request)."`
	Out              string   `short:"o" placeholder:"FILE" help:"Save the plan as well, for apply FILE."`
	Paths            []string `arg:"" optional:"" help:"Files, folders, - for standard input, or one saved plan. Default: this folder."`
}

// Help is what --help adds.
func (planCommand) Help() string {
	return `Reads manifests, looks at the cloud and the Kubernetes side, and shows what would change: why, what it does to which tunnels, who gains or loses access, and whose customer must act. It changes nothing.

Examples:

    vpnctl plan gateways/
    vpnctl plan --detailed-exitcode --deny-impact customer -o plan.json gateways/
    vpnctl plan --format markdown plan.json

Exit codes: 0 done, 1 error, refusal or denial; with --detailed-exitcode 2 when there are changes.`
}

// check refuses flags that make no sense, and a file that may not be written.
func (c planCommand) check() error {
	if err := c.selection.check(); err != nil || c.Out == "" {
		return err
	}
	if err := replaceable(c.Out, manifest.IsSavedPlan); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	return nil
}

func (c planCommand) Run(g *Globals, s *streams, stop *interrupts) error {
	if err := c.check(); err != nil {
		return err
	}
	j, err := g.job(s, c.Paths, c.selection)
	if err != nil {
		return err
	}
	o := g.shown(s)
	p, err := c.plan(g, s, stop, j, &o)
	if err != nil {
		return err
	}
	if p.Denied, err = c.judge(p); err != nil {
		return err
	}
	if err := c.show(g, s, p, o); err != nil {
		return err
	}
	return c.verdict(p)
}

// verdict is the exit code: a refusal or a denial is an error.
func (c planCommand) verdict(p plan.Plan) error {
	switch {
	case len(p.Refusals) > 0:
		return errSaid
	case c.pass(p) != nil:
		return c.pass(p)
	case c.DetailedExitcode && len(p.Pending()) > 0:
		return errChanges
	}
	return nil
}

// shown says how plans are written.
func (g *Globals) shown(s *streams) view.Options {
	return view.Options{Color: g.color(s.stdout), Verbose: g.Verbose > 0, Width: width(s.stdout)}
}

func (c planCommand) show(g *Globals, s *streams, p plan.Plan, o view.Options) error {
	if c.Format == "json" {
		return p.Encode(s.stdout)
	}
	o.Next = c.next(g, p)
	if c.Format == "markdown" {
		return view.Markdown(s.stdout, p, o)
	}
	return view.Text(s.stdout, p, o)
}

// plan makes the plan and saves it where that was asked, or takes a saved one. It says in o what there is to
// know besides. What it took is told on stderr, so that the same plan gives the
// same bytes on stdout.
func (c planCommand) plan(g *Globals, s *streams, stop *interrupts, j *job, o *view.Options) (plan.Plan, error) {
	if j.saved != nil {
		if c.Out != "" {
			return plan.Plan{}, fmt.Errorf("--out: %s is saved already", j.file)
		}
		o.Header.Cloud, o.Header.Cluster = j.saved.Cloud, j.estate.Kubernetes.Target == vpn.TargetCluster
		return *j.saved, nil
	}
	began := time.Now()
	at, err := g.connect(stop, s, j.estate, j.base, c.agreed(j))
	if err != nil {
		return plan.Plan{}, err
	}
	defer at.Close()
	result, err := at.plan(stop.ctx, j)
	if err != nil {
		return plan.Plan{}, err
	}
	if err := at.note(stop.ctx, result); err != nil {
		return plan.Plan{}, err
	}
	fmt.Fprintln(s.stderr, view.Header{Calls: at.cloud.Calls(), Elapsed: time.Since(began)}.Cost())
	o.Header, o.Given = at.header, standing(result)
	if c.Out != "" {
		err = save(c.Out, result.Plan, j.estate, at.identity)
	}
	return result.Plan, err
}

func (at *site) plan(ctx context.Context, j *job) (*reconcile.Result, error) {
	r, err := reconcile.Plan(ctx, reconcile.Input{Estate: at.estate, Manifests: j.manifests, Drivers: at.drivers,
		Survey: j.survey, Options: j.options, Now: time.Now().UTC().Truncate(time.Second)})
	if err == nil {
		at.log.Info("planned", "manifests", j.manifests, "calls", at.cloud.Calls(), "changes", len(r.Plan.Pending()), "refusals", len(r.Plan.Refusals))
	}
	return r, err
}
