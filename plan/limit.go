package plan

import (
	"slices"
	"time"

	"github.com/vpnctl/vpnctl/plan/resource"
)

// limit leaves out the side that Options.Only does not name. What would need it
// is held; the record of what was applied, which belongs to both sides, is written
// only by a run that writes to the cloud and leaves nothing out.
func (d *draft) limit() {
	if d.in.Options.Only == "" {
		return
	}
	out := map[resource.ID]*Change{}
	for _, p := range d.everyone() {
		for _, c := range p.changes {
			if c.ID.Kind != resource.KindApplied && c.ID.Kind.Cloud() != (d.in.Options.Only == OnlyCloud) {
				out[c.ID] = c
				p.leftOut++
				delete(d.changes, c.ID)
			}
		}
		p.changes = slices.DeleteFunc(p.changes, func(c *Change) bool {
			return out[c.ID] != nil || c.ID.Kind == resource.KindApplied && (p.leftOut > 0 || d.in.Options.Only == OnlyKubernetes)
		})
	}
	for _, p := range d.everyone() {
		for _, c := range p.changes {
			c.Needs = slices.DeleteFunc(c.Needs, func(id resource.ID) bool {
				o := out[id]
				if o != nil && essential(o) && !d.announces(c) { // a manifest goes with its side
					c.Held = "needs " + id.String() + ", which --only " + d.in.Options.Only + " leaves out"
				}
				return o != nil
			})
			if p.fate == remove && p.files > 0 && p.leftOut > 0 && !c.HeldUntil.IsZero() { // a hold counts from the end of the files
				c.Held, c.HeldUntil = "the files go first, which --only "+d.in.Options.Only+" leaves out", time.Time{}
			}
		}
	}
	side := map[string]string{OnlyCloud: "of the Kubernetes side", OnlyKubernetes: "of the cloud side"}[d.in.Options.Only]
	if len(out) > 0 {
		d.plan.Notices = append(d.plan.Notices, Notice{Message: "--only " + d.in.Options.Only + " leaves out " + count(len(out), "change ", "changes ") + side})
	}
}

// everyone is every party, the estate itself last.
func (d *draft) everyone() []*party { return append(slices.Clone(d.sorted), d.estate) }

// essential tells whether a change must have happened before what needs it: all
// but a change in place that moves no allocation.
func essential(c *Change) bool {
	if c.Action != Update {
		return true
	}
	was, is := body(c.Before, sg), body(c.After, sg)
	return !slices.Equal(was.Ledger, is.Ledger) || !was.Draining.Equal(is.Draining)
}

// spread holds, before the tree's index is planned, everything that needs something
// held: the index lists what stands after this run.
func (d *draft) spread() {
	for _, c := range d.changes {
		if c.Held != "" {
			done, _ := d.queue().run()
			wait(done)
			return
		}
	}
}

// wait holds everything that needs something held. Changes come in order.
func wait(changes []*Change) {
	held := map[resource.ID]*Change{}
	for _, c := range changes {
		for _, id := range c.Needs {
			if first := held[id]; c.Held == "" && first != nil {
				c.Held, c.HeldUntil = "waits for "+id.String()+", which is held", first.HeldUntil
			}
		}
		if c.Held != "" {
			held[c.ID] = c
		}
	}
}
