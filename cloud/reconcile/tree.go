package reconcile

import (
	"slices"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// checkTree warns when gateways were applied and the directory holds no file of the
// estate: the tree may lie where spec.kubernetes.directory led before, and pods may run
// from it. Whoever lost the manifest would then be pruned from under them, so that is
// refused. An estate whose last gateway was pruned keeps its topmost file.
func (d *decision) checkTree() {
	if d.Estate.Kubernetes.Target != vpn.TargetDirectory || !d.applied() || d.files() {
		return
	}
	where := "nothing of estate " + d.Estate.Name + " stands in " + d.Estate.Kubernetes.Directory
	d.notices = append(d.notices, plan.Notice{
		Message: where + ", though it was applied",
		Hint:    "if spec.kubernetes.directory was changed, remove the old tree first, or its pods lose their ports when they are pruned",
	})
	if d.Options.PodsGone || !slices.ContainsFunc(d.released(), d.selected) {
		return
	}
	d.note(plan.Refusal{
		Message: where + ": pruning could take ports from under pods that run from another tree",
		Hint:    "if spec.kubernetes.directory was changed, remove the old tree, and add --pods-gone once its pods have ended; if the tree was deleted, apply without --prune writes it anew",
	})
}

// concerning leaves out what is against the directory as a whole where this run
// writes nothing there.
func (d *decision) concerning(found []plan.Refusal) []plan.Refusal {
	if d.Options.Only != plan.OnlyCloud {
		return found
	}
	return slices.DeleteFunc(slices.Clone(found), func(r plan.Refusal) bool {
		return r.Owner.IsZero() && r.ID.Kind == resource.KindKustomization
	})
}

// applied tells whether a gateway's desired state was reached, files and all.
func (d *decision) applied() bool {
	for _, l := range d.seen.Ledgers {
		if l.Applied != "" && l.Draining.IsZero() {
			return true
		}
	}
	return false
}

// files tells whether any file of the estate was seen.
func (d *decision) files() bool {
	for _, r := range d.seen.Graph {
		if r.Object != nil {
			return true
		}
	}
	return false
}

// selected tells whether this run is about an owner.
func (d *decision) selected(o vpn.Owner) bool { return d.Options.Selects(o) }
