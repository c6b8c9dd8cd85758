package directory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// Obstacles names what stands where a desired file should, or a list of the tree,
// without being one that Observe saw as ours: a plan refuses it before anything is
// written. What can't be read is an error.
func (d *Driver) Obstacles(_ context.Context, desired, observed resource.Graph) ([]plan.Refusal, error) {
	root, err := d.open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the directory: %w", err)
	}
	defer root.Close()
	var refusals []plan.Refusal
	for id, r := range places(desired) {
		if observed[id].Object != nil {
			continue
		}
		found, err := lookAt(root, r.Object.Path)
		if err != nil && !errors.Is(err, cloud.ErrConflict) {
			return nil, fmt.Errorf("reading %s: %w", r.Object.Path, err)
		}
		if err == nil && (!found.there || reported(r.Object.Path, found.content)) {
			continue
		}
		owner, _ := vpn.ParseOwner(r.Owner)
		refusals = append(refusals, plan.Refusal{
			Owner: owner, ID: id,
			Message: r.Object.Path + " is there already, and vpnctl didn't write it for this estate",
			Hint:    wayRound(found.content),
		})
	}
	slices.SortFunc(refusals, func(a, b plan.Refusal) int {
		return cmp.Or(a.Owner.Compare(b.Owner), a.ID.Compare(b.ID), strings.Compare(a.Message, b.Message))
	})
	return refusals, nil
}

// places are the files that are wanted, with the lists that will name them.
func places(desired resource.Graph) resource.Graph {
	all := resource.Graph{}
	list := func(folder string) {
		id := indexID(folder)
		all[id] = resource.Resource{ID: id, Object: &resource.Object{Path: resource.TreePath("", id)}}
	}
	list(resource.TreeRoot)
	for id, r := range desired {
		if r.Object != nil {
			all[id] = r
		}
		if o, ok := vpn.ParseOwner(r.Owner); ok {
			list(o.Namespace)
		}
	}
	return all
}

// reported tells whether Observe refuses the whole directory for a file.
func reported(file, content string) bool {
	_, owner, marked := mark([]byte(content))
	return marked && makesItTheirs(file, owner)
}

// wayRound says what to do about a file that isn't ours.
func wayRound(content string) string {
	first, _, _ := strings.Cut(content, "\n")
	if estate, _, marked := state.ReadMarker(first); marked {
		return "it is a file of estate " + estate + ": was the Estate renamed? Two estates can't share a directory"
	}
	return "move it away, or choose another directory"
}
