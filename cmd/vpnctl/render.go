package main

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/directory"
	"github.com/vpnctl/vpnctl/cloud/reconcile"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/view"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

type renderCommand struct {
	Tree       renderTree       `cmd:"" default:"withargs" help:"Write the Kubernetes objects of provisioned gateways into a folder. What render does by itself."`
	Controller renderController `cmd:"" help:"Print what installs vpnctl reconcile in a cluster."`
	Health     renderHealth     `cmd:"" help:"Print by what Argo CD or Flux know whether gateways are healthy."`
}

// Help is what --help adds.
func (renderCommand) Help() string {
	return `The word tree may be left out. Its flags, and what it writes: vpnctl help render tree.

Examples:

    vpnctl apply --only cloud gateways/ && vpnctl render --out deploy gateways/
    vpnctl render controller --crds | kubectl apply --server-side -f -
    vpnctl render health argocd`
}

type renderTree struct {
	Out               string   `short:"o" required:"" placeholder:"DIR" help:"Write below this folder; only files that vpnctl wrote are ever changed or removed."`
	Gateway           []string `placeholder:"NS/NAME" sep:"none" help:"Only this gateway; repeatable. All manifests are still read."`
	SkipUnprovisioned bool     `help:"Leave gateways as they are in DIR whose cloud side is not there yet, instead of failing."`
	Prune             bool     `help:"Remove the files of gateways and peers whose manifest is gone."`
	MaxDeletes        *int     `placeholder:"N" help:"With --prune: refuse to remove more gateways and peers than this. Default: 10."`
	AllowEmpty        bool     `help:"With --prune: allow it although no manifest was read at all."`
	Paths             []string `arg:"" optional:"" help:"Files, folders, or - for standard input. Default: this folder."`
}

// Help is what --help adds.
func (renderTree) Help() string {
	return `Writes what Argo CD or Flux shall sync: every object of every gateway, and a kustomization.yaml for each folder. Addresses come from the cloud side, which is looked at and not changed. The same input gives the same bytes.

What is written, kept and removed is what plan decides for the Kubernetes side: a gateway whose manifest is gone keeps its files, and one that lost a peer stays as it is, until --prune. A gateway that is refused is named, and keeps no other from being written.

Any folder will do. But the cloud side of a pruned gateway waits only for files that apply removes from the Estate's own spec.kubernetes.directory: where render --prune removes them, or they lie in another folder, let the pods end before apply --prune.

Example:

    vpnctl apply --only cloud gateways/ && vpnctl render --out deploy gateways/

Exit codes: 0 done, 1 error, or a gateway that could not be written.`
}

// selection is what of the estate is planned. A folder knows no hold, which is for
// the cloud side.
func (c renderTree) selection() selection {
	return selection{Gateway: c.Gateway, Only: plan.OnlyKubernetes, Prune: c.Prune, MaxDeletes: c.MaxDeletes, AllowEmpty: c.AllowEmpty,
		Hold: plan.DefaultHold, PodsGone: c.Prune}
}

func (c renderTree) Run(g *Globals, s *streams, stop *interrupts) error {
	if err := c.selection().check(); err != nil {
		return err
	}
	j, err := g.manifests(s, c.Paths, c.selection())
	if err != nil {
		return err
	}
	if j.estate.Kubernetes.Target == vpn.TargetCluster && !g.Sim.On {
		return errors.New("spec.kubernetes.target is cluster, where apply writes the objects itself: render is for " + vpn.TargetDirectory + ", or for a look with --sim")
	}
	if err := c.apart(j.base); err != nil {
		return err
	}
	at, err := g.connect(stop, s, j.estate, j.base, clusterSide{})
	if err != nil {
		return err
	}
	defer at.Close()
	at.drivers = []cloud.Driver{at.cloud, directory.New(c.Out)}
	result, err := at.plan(stop.ctx, j)
	if err != nil {
		return err
	}
	t := tree{result, tidy(c.Out), s}
	t.notices()
	whole, writable := t.whole(), t.writable()
	provisioned := t.provisioned(c.SkipUnprovisioned)
	if !writable || !provisioned {
		return errSaid
	}
	if err := t.write(stop); err != nil {
		return err
	}
	if !whole {
		return errSaid
	}
	return nil
}

// apart refuses an output folder that holds what is read: its kustomization would
// take the manifests' place, and the next run would read what this one wrote.
func (c renderTree) apart(root string) error {
	out, err := filepath.Abs(c.Out)
	if err != nil {
		return err
	}
	for _, path := range append([]string{root}, c.Paths...) {
		in, err := filepath.Abs(path)
		if err != nil || path == "-" {
			continue
		}
		if rel, err := filepath.Rel(out, in); err == nil && filepath.IsLocal(rel) {
			return fmt.Errorf("--out %s holds %s, which is read: choose a folder of its own, such as deploy", c.Out, path)
		}
	}
	return nil
}

// tree is a folder, and the plan for it.
type tree struct {
	*reconcile.Result
	name string
	*streams
}

// say tells something about an owner, with a hint where there is one.
func (t tree) say(o vpn.Owner, message, hint string) {
	if !o.IsZero() && !strings.HasPrefix(message, o.Path()+"/") { // a file of its folder says it
		message = o.Path() + ": " + message
	}
	fmt.Fprintln(t.stderr, view.Plain(message))
	if hint != "" {
		fmt.Fprintln(t.stderr, "    hint: "+view.Plain(hint))
	}
}

// notices says what is left alone, and what was seen. How many changes the cloud
// side has is for plan to say.
func (t tree) notices() {
	for _, n := range t.Plan.Notices {
		if !n.Owner.IsZero() || slices.Contains(t.Seen.Notices, n) {
			t.say(n.Owner, n.Message, n.Hint)
		}
	}
}

// whole tells whether every gateway can be in the tree, and says which can't.
func (t tree) whole() bool {
	for _, r := range t.Plan.Refusals {
		t.say(r.Owner, r.Message, r.Hint)
	}
	left := t.leftOut()
	for _, o := range left {
		t.say(o, "nothing of it stands in "+t.name+", and it is not written as it is: a sync would end its pod", "bring the manifests back, or use --prune")
	}
	return len(t.Plan.Refusals)+len(left) == 0
}

// leftOut are the gateways that have a manifest and are left as they are, though
// nothing of them is in the tree.
func (t tree) leftOut() []vpn.Owner {
	there := map[vpn.Owner]bool{}
	for _, r := range t.Seen.Graph {
		if o, ok := vpn.ParseOwner(r.Owner); ok && r.Object != nil {
			there[o] = true
		}
	}
	for _, c := range t.Plan.Changes {
		there[c.Owner] = true
	}
	for _, r := range t.Plan.Refusals {
		there[r.Owner] = true
	}
	var left []vpn.Owner
	for _, o := range t.Plan.Owners {
		if !o.Gone && !o.Excluded && !there[o.Owner] {
			left = append(left, o.Owner)
		}
	}
	return left
}

// writable tells whether nothing is against the estate as a whole.
func (t tree) writable() bool {
	return !slices.ContainsFunc(t.Plan.Refusals, func(r plan.Refusal) bool { return r.Owner.IsZero() })
}

// provisioned tells whether all that is to be written can be, and says what can't.
// What is skipped is held.
func (t tree) provisioned(skip bool) bool {
	missing := t.unprovisioned()
	for _, o := range slices.SortedFunc(maps.Keys(missing), vpn.Owner.Compare) {
		t.say(o, missing[o], "")
	}
	if len(missing) > 0 && !skip {
		fmt.Fprintln(t.stderr, "    hint: vpnctl apply --only cloud, or leave such gateways as they are with --skip-unprovisioned")
		return false
	}
	for i, c := range t.Plan.Changes {
		if why := missing[c.Owner]; why != "" && c.Held == "" {
			t.Plan.Changes[i].Held = why
		}
	}
	return true
}

// unprovisioned says which gateways can't be written yet, and why: the plan holds
// what waits for the cloud side, or something that only the cloud knows is missing.
func (t tree) unprovisioned() map[vpn.Owner]string {
	missing, facts := map[vpn.Owner]string{}, map[vpn.Owner][]string{}
	for _, c := range t.Plan.Changes {
		if c.Owner.IsZero() {
			continue
		}
		if c.Held != "" && missing[c.Owner] == "" {
			missing[c.Owner] = "its cloud side comes first: " + strings.TrimSuffix(c.Held, ", which --only kubernetes leaves out")
		}
		if c.After != nil && c.After.Object != nil {
			facts[c.Owner] = append(facts[c.Owner], c.After.Object.Unknown...)
		}
	}
	for o, names := range facts {
		if len(names) > 0 {
			slices.Sort(names)
			missing[o] = "not known before the cloud side is there: " + strings.Join(slices.Compact(names), ", ")
		}
	}
	return missing
}

// write carries the plan out and says how much there was to do.
func (t tree) write(stop *interrupts) error {
	report := t.Apply(stop.ctx, cloud.Execution{})
	var written, removed, same int
	for _, r := range t.Seen.Graph {
		if r.Object != nil {
			same++
		}
	}
	for _, o := range report.With(cloud.Done) {
		switch {
		case o.Change.Action == plan.Delete:
			removed, same = removed+1, same-1
		case o.Change.Before != nil:
			written, same = written+1, same-1
		default:
			written++
		}
	}
	if err := report.Err(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(t.stdout, "%s: %d written, %d removed, %d unchanged\n", view.Plain(t.name), written, removed, same)
	return err
}
