package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// finish brings all that was found into the plan, in its fixed order.
func (d *draft) finish() {
	done, _ := d.queue().run()
	for _, c := range done {
		slices.SortFunc(c.Needs, resource.ID.Compare)
		c.Needs = slices.Compact(c.Needs)
	}
	wait(done)
	d.access()
	d.sources()
	d.plan.Changes = make([]Change, len(done))
	for i, c := range done {
		d.plan.Changes[i] = *c
	}
	for _, p := range d.sorted {
		if !p.owner.IsZero() {
			d.plan.Owners = append(d.plan.Owners, *p.line)
		}
	}
	d.unselected()
	d.arrange()
}

// unselected turns the refusals of whoever was not asked for into
// notices: this run does nothing of theirs.
func (d *draft) unselected() {
	d.plan.Refusals = slices.DeleteFunc(d.plan.Refusals, func(r Refusal) bool {
		apart := !r.Owner.IsZero() && !d.in.Options.Selects(r.Owner)
		if apart {
			d.plan.Notices = append(d.plan.Notices, Notice{Owner: r.Owner, Message: "would be refused: " + r.Message, Hint: r.Hint})
		}
		return apart
	})
}

// gather leaves one of the refusals of an owner that have the same cause, and counts
// the others. They are sorted.
func (d *draft) gather() {
	type cause struct {
		owner         vpn.Owner
		message, hint string
	}
	first, more := map[cause]int{}, map[int]int{}
	var some []Refusal
	for _, r := range d.plan.Refusals {
		c := cause{r.Owner, strings.ReplaceAll(r.Message, r.ID.String(), ""), r.Hint}
		if o := d.in.Desired[r.ID].Object; o != nil {
			c.message = strings.ReplaceAll(c.message, o.Path, "")
		}
		if i, ok := first[c]; ok && !r.Owner.IsZero() {
			more[i]++
			continue
		}
		first[c] = len(some)
		some = append(some, r)
	}
	for i, n := range more {
		some[i].Message += fmt.Sprintf("; %d more like this", n)
	}
	d.plan.Refusals = some
}

// arrange sorts what has no order of its own, and drops what was said twice.
func (d *draft) arrange() {
	d.plan.Kept = slices.DeleteFunc(d.plan.Kept, func(k Kept) bool {
		c, ok := d.changes[k.ID]
		return ok && c.Action == Delete && k.ID.Kind != resource.KindRoute
	})
	slices.SortFunc(d.plan.Kept, func(a, b Kept) int {
		return cmp.Or(a.Owner.Compare(b.Owner), a.ID.Compare(b.ID), strings.Compare(a.What, b.What), strings.Compare(a.Why, b.Why))
	})
	slices.SortFunc(d.plan.Notices, func(a, b Notice) int {
		return cmp.Or(a.Owner.Compare(b.Owner), strings.Compare(a.Message, b.Message), strings.Compare(a.Hint, b.Hint))
	})
	slices.SortFunc(d.plan.Refusals, func(a, b Refusal) int {
		return cmp.Or(a.Owner.Compare(b.Owner), a.ID.Compare(b.ID), strings.Compare(a.Message, b.Message), strings.Compare(a.Hint, b.Hint))
	})
	d.plan.Kept = slices.Compact(d.plan.Kept)
	d.plan.Notices = slices.Compact(d.plan.Notices)
	d.plan.Refusals = slices.Compact(d.plan.Refusals)
	d.gather()
}

// inTree are the gateways that have objects after this plan.
func (d *draft) inTree() (standing []vpn.Owner) {
	for _, p := range d.sorted {
		n := p.files
		for _, c := range p.changes {
			switch {
			case c.ID.Kind.Cloud() || c.Held != "":
			case c.Action == Create:
				n++
			case c.Action == Delete:
				n--
			}
		}
		if (n > 0 || p.refused && Listed(d.in.Observed, p.owner)) && !p.owner.IsZero() {
			standing = append(standing, p.owner)
		}
	}
	return standing
}

// Listed tells whether the tree's index lists a gateway now. One that is refused
// stays listed, whatever stands in its place: taking it off the list would have a
// running pod pruned.
func Listed(observed resource.Graph, o vpn.Owner) bool {
	index, ok := observed[resource.ID{Kind: resource.KindKustomization, Name: o.Namespace}]
	return ok && index.Owner == "" && index.Object != nil && strings.Contains(index.Object.Content+"\n", "\n- "+o.Name+"\n")
}
