package reconcile

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/cloud"
	ipsecv1alpha1 "github.com/vpnctl/vpnctl/crds/ipsec/v1alpha1"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render"
)

// giveUp is what to do where a customer's credential will never work again.
const giveUp = "mend the credential, or annotate the link with " + ipsecv1alpha1.AnnotationAbandon + ": \"true\" and apply it, to leave behind what is in the customer's project"

// checkCross refuses a link into a customer's project that nobody has attested, or whose
// credential can't be used. One whose customer's side may be left behind is let be, so that
// this can go on record.
func (d *decision) checkCross(l vpn.Link) {
	if _, err := l.Attested(); err != nil {
		reason := ipsecv1alpha1.ReasonAttestationMalformed
		if errors.Is(err, vpn.ErrNotAttested) {
			reason = ipsecv1alpha1.ReasonAttestationMissing
		}
		d.note(plan.Refusal{Owner: l.Owner, Message: err.Error(), Reason: reason})
		d.doubted[l.Owner] = true
	}
	side, looked := d.seen.Sides[l.Owner]
	switch fault := side.Fault; {
	case !looked || fault == nil:
	case l.Abandons() && d.ledgered(l.Owner) && !fault.Passing:
		d.lost[l.Owner] = fault
		d.notices = append(d.notices, plan.Notice{Owner: l.Owner, Message: told(side) + ": left as it is", Hint: "its customer's side may be left behind: " + ipsecv1alpha1.AnnotationAbandon + " says so"})
	default:
		d.note(plan.Refusal{Owner: l.Owner, Message: told(side), Hint: fault.Hint, Reason: fault.Reason})
	}
}

// told says why a customer's side can't be looked at, and with which credential.
func told(s cloud.Side) string {
	return "customer credential (" + s.Credential + "): " + s.Fault.Message
}

// ledgered tells whether a link has a ledger.
func (d *decision) ledgered(o vpn.Owner) bool {
	return slices.ContainsFunc(d.seen.Links, func(l alloc.LinkLedger) bool { return l.Owner == o })
}

// crossing completes what a link into a customer's project is rendered from.
func (d *decision) crossing(in render.LinkInput) render.LinkInput {
	side, cross := d.seen.Sides[in.Link.Owner]
	if !cross {
		return in
	}
	share := d.seen.Graph[resource.ID{Kind: resource.KindNetworkShare, Name: in.Link.Owner.Name}].NetworkShare
	in.Shared = share != nil && share.Foreign
	in.Customers, in.Operators = "the customer's credential, "+side.Credential, "the operator's credential"
	return in
}

// keepLost has everything of a link stay as it is that can't be reached, but for its
// manifest, and the record that its customer's side may be left behind.
func (d *decision) keepLost() {
	for _, l := range d.Estate.Links {
		if d.lost[l.Owner] == nil {
			continue
		}
		manifest, err := render.LinkManifest(render.LinkInput{Estate: d.Estate, Link: l})
		if err != nil {
			d.note(plan.Refusal{Owner: l.Owner, Message: err.Error(), Reason: vpnv1alpha1.ReasonInvalidSpec})
			continue
		}
		d.desired.Merge(manifest)
	}
	for o := range d.lost {
		applied := resource.ID{Kind: resource.KindApplied, Name: o.Name}
		for id, have := range d.seen.Graph {
			adrift := have.Route != nil && have.Route.Adrift // it leads to nobody, and goes
			if have.Owner == o.String() && id != applied && !id.Kind.Manifest() && !adrift {
				d.desired.Add(have)
			}
		}
		record := resource.Applied{Abandoned: true}
		if have := d.seen.Graph[applied].Applied; have != nil {
			record.Hash = have.Hash
		}
		d.desired.Add(resource.Resource{ID: applied, Owner: o.String(), Applied: &record})
	}
}

// withLost is the estate with the links that go once it is on record that their customer's
// side is left behind: until then they are no less there than others.
func (d *decision) withLost() vpn.Estate {
	e, written := d.Estate, d.written()
	for o := range d.lost {
		if !written[o] {
			e.Links = append(slices.Clone(e.Links), vpn.Link{Owner: o})
		}
	}
	return e
}

// checkParting refuses to remove a link whose customer's side can't be reached, and
// gateways that may have a route there: their ports' addresses would be given to others
// while traffic for them is still led there. What was given up is no reason any more.
func (d *decision) checkParting() {
	leaving := d.Input.leaving(d.seen)
	for _, o := range leaving {
		side, cross := d.seen.Sides[o]
		switch {
		case !cross, side.Fault == nil, d.givenUp(o):
		case side.Fault.Passing:
			d.note(plan.Refusal{Owner: o, Message: told(side) + ": nothing of the link is removed", Hint: "it passes by itself: try again", Reason: ipsecv1alpha1.ReasonCustomerSideUnreachable})
		case d.Conceded[o] && d.ledgered(o):
			d.lost[o] = side.Fault
			d.notices = append(d.notices, plan.Notice{Owner: o, Message: told(side) + ": the customer's side is left behind", Hint: "that goes on record first: " + ipsecv1alpha1.AnnotationAbandon + " says so"})
		default:
			d.note(plan.Refusal{Owner: o, Message: told(side) + ": nothing of the link is removed", Hint: giveUp, Reason: ipsecv1alpha1.ReasonCustomerSideUnreachable})
		}
	}
	unseen := d.unseen()
	if len(unseen) == 0 {
		return
	}
	for _, o := range leaving {
		id := gatewayID(resource.KindPort, o)
		if port := d.seen.Graph[id].Port; o.Gateway() && port != nil && len(port.Pairs) > 0 {
			d.note(plan.Refusal{Owner: o, ID: id, Hint: giveUp,
				Message: fmt.Sprintf("whether a customer's router leads to its port can't be seen, so it stays: %s", strings.Join(unseen, "; "))})
		}
	}
}

// unseen are the links whose routers may lead to gateways, unknown to us, sorted.
func (d *decision) unseen() []string {
	var all []string
	for _, l := range d.seen.Links {
		side := d.seen.Sides[l.Owner]
		_, leg := d.seen.Graph[render.LegID(l.Owner)]
		if side.Fault != nil && (leg || l.Leg != "") && !d.givenUp(l.Owner) {
			all = append(all, "link "+l.Owner.Name+", "+told(side))
		}
	}
	slices.Sort(all)
	return all
}

// givenUp tells whether it is on record, or in the manifest, that a link's customer's side
// may be left behind, and that it can't be reached for a reason that stays.
func (d *decision) givenUp(o vpn.Owner) bool {
	if fault := d.seen.Sides[o].Fault; fault != nil && fault.Passing {
		return false
	}
	return d.lost[o] != nil || slices.ContainsFunc(d.seen.Links, func(l alloc.LinkLedger) bool { return l.Owner == o && l.Abandoned })
}

// LeftBehind says of a link that goes what stays of it in the customer's project, and why;
// empty: nothing.
func (r *Result) LeftBehind(o vpn.Owner) string {
	side := r.Seen.Sides[o]
	applied := r.Desired[resource.ID{Kind: resource.KindApplied, Name: o.Name}].Applied
	conceded := applied != nil && applied.Abandoned || slices.ContainsFunc(r.Seen.Links, func(l alloc.LinkLedger) bool { return l.Owner == o && l.Abandoned })
	if side.Fault == nil || side.Fault.Passing || !conceded {
		return ""
	}
	return told(side) + ": what it has in the customer's project stays there"
}
