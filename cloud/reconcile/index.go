package reconcile

import (
	"maps"
	"slices"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render"
)

// index are the changes that make the tree's index list what stands after what
// was really done. One gateway that failed must not leave a list that names a
// folder which isn't there: that stops Flux and Argo CD for all the others.
func (r *Result) index(report *cloud.Report) []plan.Change {
	if r.Plan.Options.Only == plan.OnlyCloud || !r.tree {
		return nil
	}
	wanted := resource.Graph{}
	wanted.Add(render.Index(r.Plan.Estate, r.standing(report))...)
	var changes []plan.Change
	for _, id := range union(wanted, r.Seen.Graph.Of("")) {
		after, want := wanted[id]
		before, have := r.Seen.Graph[id]
		c := plan.Change{ID: id, Reason: "lists what stands in the tree", Proof: before.Proof}
		switch {
		case want && have && after.Object.Content == before.Object.Content:
			continue
		case want && have:
			c.Action, c.Before, c.After = plan.Update, &before, &after
		case want:
			c.Action, c.After = plan.Create, &after
		default:
			c.Action, c.Before = plan.Delete, &before
		}
		changes = append(changes, c)
	}
	return changes
}

// standing are the gateways that have a folder in the tree by now.
func (r *Result) standing(report *cloud.Report) []vpn.Owner {
	stands := map[vpn.Owner]bool{}
	for id, file := range r.Seen.Graph {
		if o, ok := vpn.ParseOwner(file.Owner); ok && id.Kind == resource.KindKustomization {
			stands[o] = true
		}
	}
	for _, refusal := range r.Plan.Refusals {
		if plan.Listed(r.Seen.Graph, refusal.Owner) {
			stands[refusal.Owner] = true
		}
	}
	for _, o := range report.With(cloud.Done) {
		if o.Change.ID.Kind == resource.KindKustomization && !o.Change.Owner.IsZero() {
			stands[o.Change.Owner] = o.Change.After != nil
		}
	}
	maps.DeleteFunc(stands, func(_ vpn.Owner, there bool) bool { return !there })
	return slices.Collect(maps.Keys(stands))
}

func union(a, b resource.Graph) []resource.ID {
	both := maps.Clone(a)
	both.Merge(b)
	return both.IDs()
}
