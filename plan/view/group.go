package view

import (
	"path"
	"strings"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
)

// group is one line of a block: one change, or several Kubernetes objects that
// share everything a reader would ask about.
type group []plan.Change

// groups keeps the plan's order; a group stands where its first member does.
func (t *text) groups(changes []plan.Change) []group {
	return groups(changes, t.o.Verbose)
}

func groups(changes []plan.Change, each bool) []group {
	type key struct {
		action              plan.Action
		held, reason, proof string
		drift               bool
		impact              plan.Impact
	}
	at := map[key]int{}
	var all []group
	for _, c := range changes {
		k := key{c.Action, c.Held, c.Reason, c.Proof, c.Drift, c.Impact}
		i, seen := at[k]
		switch {
		case each || !summable(c):
			all = append(all, group{c})
		case seen:
			all[i] = append(all[i], c)
		default:
			at[k] = len(all)
			all = append(all, group{c})
		}
	}
	return all
}

// summable tells whether a change is as clear in a sum as in a line of its own:
// Kubernetes objects that come or go as a whole. A Secret that goes is named: nobody can
// make the same key again.
func summable(c plan.Change) bool {
	return !c.ID.Kind.Cloud() && (c.Action == plan.Create || c.Action == plan.Delete) && c.Consequence == "" &&
		!(c.Action == plan.Delete && c.ID.Kind == resource.KubernetesKind("Secret"))
}

// folder is the deepest folder that all objects of a group share.
func (g group) folder(root string) string {
	var common []string
	for i, c := range g {
		parts := strings.Split(path.Dir(objectPath(c)), "/")
		if i == 0 {
			common = parts
			continue
		}
		n := 0
		for n < len(common) && n < len(parts) && common[n] == parts[n] {
			n++
		}
		common = common[:n]
	}
	return path.Join(root, path.Join(common...))
}

func objectPath(c plan.Change) string {
	for _, r := range []*resource.Resource{c.After, c.Before} {
		if r != nil && r.Object != nil {
			return r.Object.Path
		}
	}
	return ""
}
