package plan

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// remove plans the end of an owner without a manifest.
//
//	files  draining      target     → files    group      rest of the cloud side
//	yes    -             directory  → deleted  draining   held
//	no     no, deployed  directory  → -        draining   held
//	no     in the future directory  → -        draining   held
//	no     not over      directory  → -        held       held
//	no     over          directory  → -        deleted    deleted
//	any    any           cluster    → deleted  deleted    deleted
//
// --pods-gone and a gateway that was never deployed need no hold.
func (d *draft) remove(p *party) {
	slices.SortFunc(p.extra, func(a, b resource.Resource) int { return a.ID.Compare(b.ID) })
	for i := range p.extra {
		if why, ok := blocker(&p.extra[i]); ok {
			d.refuse(Refusal{Owner: p.owner, ID: p.extra[i].ID, Message: why})
		}
	}
	if p.refused {
		return
	}
	start, until := d.drain(p)
	if heir := d.unselectedHeir(p); heir != nil && !start && until.IsZero() {
		d.refuse(Refusal{
			Owner: p.owner, Message: "nothing of it is removed: its addresses would be lost to " + heir.owner.Path() + ", which takes over its service CIDR",
			Hint: "hand over in the same run: --gateway " + heir.owner.Path(),
		})
		return
	}
	for i := range p.extra {
		have := &p.extra[i]
		switch why := outlives(have); {
		case why != "":
			d.plan.Kept = append(d.plan.Kept, Kept{ID: have.ID, Owner: p.owner, What: what(have), Why: why})
		case have.Applied != nil || absent(have): // the record goes with its group
		case have.SecurityGroup != nil && start:
			d.change(p, draining(have, d.moment()))
		case have.FloatingIP != nil && have.FloatingIP.Holder != "":
			d.notice(p, "floating IP "+have.FloatingIP.Address+" is held by "+have.FloatingIP.Holder+" and left alone", "")
		default:
			d.change(p, d.deletion(p, have, until))
		}
	}
	d.explain(p)
}

// outlives says why something on a customer's side stays when its link goes; empty: it
// goes.
func outlives(have *resource.Resource) string {
	if body(have, share).Foreign {
		return byOthers
	}
	return cmp.Or(body(have, leg).Left, body(have, share).Left)
}

// blocker says what stands against a removal.
func blocker(have *resource.Resource) (string, bool) {
	f := have.FloatingIP
	switch {
	case f != nil && !f.Pinned && f.Holder != "":
		return "floating IP " + f.Address + " is ours, but " + f.Holder + " holds it", true
	case body(have, share).Foreign:
	case have.Proof == "" && (f == nil || !f.Pinned) && have.Applied == nil && !absent(have):
		return have.ID.String() + " does not carry our mark", true
	}
	return "", false
}

// drain tells whether the hold starts with this run, and until when the cloud side
// is held; zero: it is not.
func (d *draft) drain(p *party) (start bool, until time.Time) {
	hold := d.hold()
	began := p.draining
	if began.After(d.in.Now.Add(skew)) { // no run wrote that: the hold begins anew, or it would be no end of it
		began = time.Time{}
	}
	if d.in.Estate.Kubernetes.Target != vpn.TargetDirectory || hold == 0 || !p.owner.Gateway() {
		return false, time.Time{}
	}
	switch {
	case p.files > 0: // pods whose files go in this run can't be gone
		return true, d.moment().Add(hold)
	case d.in.Options.PodsGone:
		return false, time.Time{}
	case began.IsZero() && (p.applied != "" || !p.draining.IsZero() || p.served && p.ledger != nil):
		return true, d.moment().Add(hold)
	case !began.IsZero() && d.in.Now.Before(began.Add(hold)):
		return false, began.Add(hold)
	}
	return false, time.Time{}
}

// skew is how far the clocks of one cloud's servers may be apart.
const skew = time.Minute

// hold keeps a change back until the pods have ended.
func (c *Change) hold(until time.Time) {
	if !until.IsZero() {
		c.Held = "pods may still run: held until " + until.UTC().Format(time.RFC3339) + ", or --pods-gone"
		c.HeldUntil = until
	}
}

// hold is how long the cloud side outlives the files.
func (d *draft) hold() time.Duration {
	switch hold := d.in.Options.Hold; {
	case hold == 0:
		return DefaultHold
	case hold < 0:
		return 0
	default:
		return hold
	}
}

// moment is now, as precise as a tag holds it.
func (d *draft) moment() time.Time { return d.in.Now.UTC().Truncate(time.Second) }

// draining is the change that marks a group whose files go.
func draining(have *resource.Resource, since time.Time) Change {
	after := *have
	group := *have.SecurityGroup
	group.Draining, group.Foreign = since, nil
	after.SecurityGroup = &group
	return Change{
		ID: have.ID, Action: Update, Before: have, After: &after,
		Attributes: attributes(have, &after),
		Reason:     NoManifest + ": the cloud side outlives the pods",
	}
}

func (d *draft) deletion(p *party, have *resource.Resource, until time.Time) Change {
	c := Change{ID: have.ID, Action: Delete, Before: shown(have), Attributes: attributes(have, nil), Proof: have.Proof}
	if f := have.FloatingIP; f != nil {
		if d.letGo(&c, NoManifest); c.Action == Delete && f.Pinned {
			c.Action, c.Reason = Release, NoManifest+"; the address is the customer's"
		}
		if c.Proof == "" {
			c.Proof = ledgerProof(p)
		}
	}
	if body(have, route).Others {
		c.Reason = NoManifest + "; added by someone else, and goes because its next hop, the gateway's port, goes"
	}
	if have.ID.Kind.Cloud() {
		c.hold(until)
	}
	if p.running() && p.ends(have.ID.Kind) {
		c.suffer(d.ending(p))
	}
	c.suffer(d.loss(p, &c))
	if n := foreignParts(have); n > 0 {
		c.Consequence = join(c.Consequence, fmt.Sprintf("%d added by someone else go with it", n))
	}
	return c
}

// ends tells whether the tunnels end with a resource of that kind: with the pod,
// or without one in sight with its port or address.
func (p *party) ends(k resource.Kind) bool {
	if p.deployed {
		return k == kindDeployment
	}
	return k == resource.KindPort || k == resource.KindFloatingIP
}

// foreignParts counts what other hands added and no removal can keep.
func foreignParts(have *resource.Resource) int {
	p := body(have, port)
	return len(body(have, sg).Foreign) + len(p.Foreign) + len(p.ForeignGroups)
}

// letGo makes the deletion of an address that a manifest pins its release: it was
// given out, and is nobody's to delete.
func (d *draft) letGo(c *Change, why string) {
	if by, pinned := d.pinnedBy(body(c.Before, floatingIP).Address); pinned {
		c.Action, c.Reason = Release, why+"; pinned by "+by.Path()+", so the address stays"
	}
}

// vacate says what becomes of the address that a gateway has when another takes its
// place. One that a manifest pins counts as the customer's, and is let go.
func (d *draft) vacate(c *Change) {
	f := body(c.Before, floatingIP)
	by, pinned := d.pinnedBy(f.Address)
	switch {
	case c.Action != Replace || f.Address == "":
	case pinned:
		f.Pinned = true
		before := *c.Before
		before.FloatingIP, c.Before = &f, &before
		c.Consequence = f.Address + " is let go: " + by.Path() + " pins it"
	case f.Pinned:
		c.Consequence = f.Address + " stays the customer's"
	default:
		c.Consequence = f.Address + goesBack
	}
}

// goesBack is what becomes of an address that is deleted.
const goesBack = " goes back to its pool and may never be had again"

// pinnedBy finds the gateway whose manifest pins a floating IP.
func (d *draft) pinnedBy(address string) (vpn.Owner, bool) {
	addr, err := netip.ParseAddr(address)
	if err != nil {
		return vpn.Owner{}, false
	}
	for i := range d.in.Estate.Gateways {
		if g := &d.in.Estate.Gateways[i]; g.FloatingIP == addr {
			return g.Owner, true
		}
	}
	return vpn.Owner{}, false
}
