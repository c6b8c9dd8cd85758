package directory

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// Obstacles names what stands where a desired file should, without being one that
// Observe saw as ours: a plan refuses it before anything is written.
func (d *Driver) Obstacles(desired, observed resource.Graph) ([]plan.Refusal, error) {
	root, err := d.open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the directory: %w", err)
	}
	defer root.Close()
	var refusals []plan.Refusal
	for id, r := range desired {
		if r.Object == nil || observed[id].Object != nil {
			continue
		}
		found, err := lookAt(root, r.Object.Path)
		if err == nil && !found.there {
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

// wayRound says what to do about a file that isn't ours.
func wayRound(content string) string {
	first, _, _ := strings.Cut(content, "\n")
	if estate, _, marked := state.ReadMarker(first); marked {
		return "it is a file of estate " + estate + ": was the Estate renamed? Two estates can't share a directory"
	}
	return "move it away, or choose another directory"
}
