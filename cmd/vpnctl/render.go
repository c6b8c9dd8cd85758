package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/directory"
	"github.com/vpnctl/vpnctl/cloud/reconcile"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/view"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render"
)

type renderCommand struct {
	Out               string   `short:"o" required:"" placeholder:"DIR" help:"Write below this folder; only files that vpnctl wrote are ever changed or removed."`
	SkipUnprovisioned bool     `help:"Leave gateways out that have no cloud side yet, instead of failing."`
	Paths             []string `arg:"" optional:"" help:"Files, folders, or - for standard input. Default: this folder."`
}

// Help is what --help adds.
func (renderCommand) Help() string {
	return `Writes what Argo CD or Flux shall sync: every object of every gateway, and a kustomization.yaml for each folder. Addresses come from the cloud side, which is looked at and not changed. The same input gives the same bytes.

Example:

    vpnctl apply --only cloud gateways/ && vpnctl render --out deploy gateways/`
}

func (c renderCommand) Run(g *Globals, s *streams, stop *interrupts) error {
	j, err := g.manifests(s, c.Paths, selection{Hold: plan.DefaultHold})
	if err != nil {
		return err
	}
	at, err := g.connect(stop.ctx, s, j.estate, j.base)
	if err != nil {
		return err
	}
	defer at.Close()
	result, err := at.plan(stop.ctx, j)
	if err != nil {
		return err
	}
	missing := unprovisioned(result)
	if !c.whole(s.stderr, result.Plan.Refusals, missing) {
		return errSaid
	}
	t := tree{driver: directory.New(c.Out), estate: at.estate}
	if err := t.write(stop.ctx, provisioned(result, missing)); err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.stdout, "%s: %d written, %d removed, %d unchanged\n", view.Plain(tidy(c.Out)), t.written, t.removed, t.same)
	return err
}

// whole tells whether the tree may be written, and says what is against it.
func (c renderCommand) whole(w io.Writer, refusals []plan.Refusal, missing map[vpn.Owner]string) bool {
	for _, r := range refusals {
		name := ""
		if !r.Owner.IsZero() {
			name = r.Owner.Path() + ": "
		}
		fmt.Fprintln(w, view.Plain(name+r.Message))
	}
	for _, o := range slices.SortedFunc(maps.Keys(missing), vpn.Owner.Compare) {
		fmt.Fprintf(w, "%s: %s\n", view.Plain(o.Path()), view.Plain(missing[o]))
	}
	if len(missing) > 0 && !c.SkipUnprovisioned {
		fmt.Fprintln(w, "    hint: vpnctl apply --only cloud, or leave such gateways out with --skip-unprovisioned")
	}
	return len(refusals) == 0 && (len(missing) == 0 || c.SkipUnprovisioned)
}

// unprovisioned says which gateways can't be written yet, and why: something
// that only the cloud knows is missing, or an allocation is not on the ledger,
// where it would be safe.
func unprovisioned(r *reconcile.Result) map[vpn.Owner]string {
	missing := map[vpn.Owner]string{}
	for _, c := range r.Plan.Pending() {
		if c.After != nil && c.After.SecurityGroup != nil && (c.Before == nil || !slices.Equal(c.Before.SecurityGroup.Ledger, c.After.SecurityGroup.Ledger)) {
			missing[c.Owner] = "its allocations are not on the ledger yet"
		}
	}
	for _, id := range r.Desired.IDs() {
		x := r.Desired[id]
		if x.Object == nil || len(x.Object.Unknown) == 0 {
			continue
		}
		if o, ok := vpn.ParseOwner(x.Owner); ok {
			missing[o] = "not known before the cloud side is there: " + strings.Join(x.Object.Unknown, ", ")
		}
	}
	return missing
}

// provisioned is the tree of all gateways that can be written.
func provisioned(r *reconcile.Result, missing map[vpn.Owner]string) resource.Graph {
	graph := resource.Graph{}
	var standing []vpn.Owner
	for o := range r.Inputs {
		if missing[o] == "" {
			standing = append(standing, o)
		}
	}
	for _, x := range r.Desired {
		if o, ok := vpn.ParseOwner(x.Owner); ok && x.Object != nil && missing[o] == "" {
			graph.Add(x)
		}
	}
	graph.Add(render.Index(r.Plan.Estate, standing)...)
	return graph
}

// tree is a folder that is brought to a desired state.
type tree struct {
	driver                 cloud.Driver
	estate                 vpn.Estate
	written, removed, same int
}

func (t *tree) write(ctx context.Context, desired resource.Graph) error {
	seen, err := t.driver.Observe(ctx, t.estate, cloud.Scope{})
	if err != nil {
		return err
	}
	for _, id := range desired.IDs() {
		want, have := desired[id], seen.Graph[id]
		c := plan.Change{ID: id, Action: plan.Create, After: &want}
		if have.Object != nil {
			c.Action, c.Before = plan.Update, &have
		}
		if have.Object != nil && have.Object.Content == want.Object.Content && have.Object.Path == want.Object.Path {
			t.same++
		} else if err := t.apply(ctx, c, &t.written); err != nil {
			return err
		}
	}
	for _, id := range seen.Graph.IDs() {
		have := seen.Graph[id]
		if _, wanted := desired[id]; wanted {
			continue
		}
		if err := t.apply(ctx, plan.Change{ID: id, Action: plan.Delete, Before: &have, Proof: have.Proof}, &t.removed); err != nil {
			return err
		}
	}
	return nil
}

func (t *tree) apply(ctx context.Context, c plan.Change, done *int) error {
	if _, err := t.driver.Apply(ctx, c); err != nil {
		return err
	}
	*done++
	return nil
}
