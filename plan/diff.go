package plan

import (
	"cmp"
	"slices"

	"github.com/vpnctl/vpnctl/plan/resource"
)

// build plans the changes of every owner, as the policy decided.
func (d *draft) build() {
	for _, p := range d.sorted {
		switch {
		case p.refused, p.fate == stay:
			d.strand(p)
		case p.fate == remove:
			d.remove(p)
		case p.fate == build:
			d.diff(p)
		}
	}
}

// diff plans what leads from the observed to the desired side of one owner.
//
//	desired   observed        → change
//	port a    -               → create
//	port a    same            → none
//	port a    other           → update; replace where it can't be changed in place
//	port a    unmarked        → adopt, under the rule that it carries
//	port a    of another      → refused
//	object a  being deleted   → replace, once it is gone
//	-         route, object   → delete, with its proof
//	-         a second one    → delete: left over from a change that was cut off
//	-         anything else   → refused: a living gateway keeps its group, port and address
func (d *draft) diff(p *party) {
	slices.SortFunc(p.differs, func(a, b pair) int { return a.want.ID.Compare(b.want.ID) })
	slices.SortFunc(p.extra, func(a, b resource.Resource) int { return a.ID.Compare(b.ID) })
	for _, x := range p.differs {
		if why, ok := obstacle(x); ok && !d.barred(x) {
			p.refused = true
			d.refuse(Refusal{Owner: p.owner, ID: x.want.ID, Message: why, Hint: wayPast(x)})
		}
	}
	for i := range p.extra {
		if id := p.extra[i].ID; !p.gone() && !spare(&p.extra[i]) {
			d.refuse(Refusal{Owner: p.owner, ID: id, Message: id.String() + " is there, but nothing was rendered for it"})
		}
	}
	if p.refused {
		return
	}
	for _, x := range p.differs {
		d.compare(p, x)
	}
	d.reassociate(p)
	for i := range p.extra {
		d.shed(p, &p.extra[i])
	}
	d.explain(p)
}

// spare tells whether a living gateway can lose a resource.
func spare(have *resource.Resource) bool {
	k := have.ID.Kind
	return !k.Cloud() || k == resource.KindRoute || k == resource.KindApplied || second(have.ID) || have.CutOff
}

// obstacle says why a difference must not be settled.
func obstacle(x pair) (string, bool) {
	if x.have == nil {
		return "", false
	}
	if f := x.have.FloatingIP; f != nil && f.Holder != "" {
		return "floating IP " + f.Address + " is held by " + f.Holder, true
	}
	if dying(x.have) && x.have.Proof == "" {
		return "it is being deleted, and does not carry our mark: whoever deletes it has to end that first", true
	}
	if why, ok := immovable(x); ok {
		return why, true
	}
	if r := x.have.Route; r != nil && r.NextHop == "" && len(r.Foreign) > 0 {
		return "route " + r.Destination.String() + " leads to " + r.Foreign[0] + ", which is not ours", true
	}
	return "", false
}

// wayPast is what to do about an obstacle; empty: that is clear, or not known.
func wayPast(x pair) string {
	if r := x.have.Route; r != nil {
		return "take it off router " + cmp.Or(r.RouterName, r.Router) + ", if nobody needs it there"
	}
	return ""
}

// compare plans one desired resource that is missing or differs.
func (d *draft) compare(p *party, x pair) {
	c := Change{ID: x.want.ID, Before: shown(x.have), After: shown(&x.want)}
	if x.have != nil && !absent(x.have) {
		c.Attributes = attributes(x.have, &x.want)
		c.Action = action(x, c.Attributes)
	} else {
		c.Before = nil
		c.Attributes = attributes(nil, &x.want)
		c.Action = Create
	}
	switch {
	case c.Action == "":
		return
	case c.Action == Replace:
		c.Proof = cmp.Or(x.have.Proof, ledgerProof(p))
		d.vacate(&c)
	}
	if d.barred(x) {
		why, _ := obstacle(x)
		c.Held, c.Barred = why+"; "+wayPast(x), true
	}
	c.Drift = p.drift() && c.Action != Adopt && !d.reworded(c) && !conceded(&c)
	if d.retired(p, x.have) {
		c.retire(d.nodeOf(p, x.have))
	}
	d.change(p, c)
}

// reworded tells whether a manifest in a cluster is written otherwise than it was applied,
// and means the same: that is its file's doing, unless someone else has written there.
func (d *draft) reworded(c Change) bool {
	return c.Action == Update && d.announces(&c) && c.Before.Object != nil && len(c.Before.Object.ChangedBy) == 0
}

// reassociate plans the association of a floating IP whose port is made anew
// under it.
func (d *draft) reassociate(p *party) {
	for _, c := range p.changes {
		if c.Action != Replace || c.After.Port == nil {
			continue
		}
		id := c.ID
		id.Kind = resource.KindFloatingIP
		want, wanted := d.in.Desired[id]
		have, there := d.in.Observed[id]
		if _, planned := d.changes[id]; wanted && there && !planned {
			d.change(p, Change{
				ID: id, Action: Update, Before: &have, After: &want, Drift: c.Drift,
				Attributes: []Attribute{{Name: attrPort, Before: c.Before.Ref, After: c.ID.String()}},
			})
		}
		return
	}
}

// action tells what settles a difference; empty where nothing differs after all.
func action(x pair, differences []Attribute) Action {
	moved := func(name string) bool {
		return slices.ContainsFunc(differences, func(a Attribute) bool { return a.Name == name && a.Before != "" })
	}
	switch {
	case dying(x.have):
		return Replace
	case x.have.Adopt != "":
		return Adopt
	case len(differences) == 0:
		return ""
	case x.want.Port != nil && moved(attrNetwork), x.want.FloatingIP != nil && moved(attrAddress):
		return Replace
	}
	return Update
}

// dying tells whether an object in a cluster was deleted and still stands. What writes it
// again would be lost with it.
func dying(have *resource.Resource) bool {
	return have.Object != nil && have.Object.Live != nil && have.Object.Live.Deleting
}

// shed plans the removal of what a living owner no longer wants.
func (d *draft) shed(p *party, have *resource.Resource) {
	switch {
	case have.Applied != nil || absent(have):
	case have.Proof == "":
		d.plan.Kept = append(d.plan.Kept, Kept{ID: have.ID, Owner: p.owner, What: what(have), Why: "nobody asks for it, and it does not carry our mark"})
	case p.gateway != nil && d.stays(p, have): // its link goes, or is refused
	case p.gateway != nil && d.elsewhere(p, have):
		d.plan.Kept = append(d.plan.Kept, Kept{ID: have.ID, Owner: p.owner, What: what(have), Why: "on another router than the estate's: it goes when the gateway goes"})
	default:
		c := Change{
			ID: have.ID, Action: Delete, Before: shown(have), Attributes: attributes(have, nil),
			Drift: p.drift() && !second(have.ID) && !have.CutOff, Proof: have.Proof,
		}
		d.letGo(&c, cutOffChange)
		d.change(p, c)
	}
}
