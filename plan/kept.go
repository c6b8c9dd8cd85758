package plan

import (
	"strings"

	"github.com/vpnctl/vpnctl/plan/resource"
)

const (
	byOthers = "added by someone else"
	byNobody = "perhaps its own, which only the ledger tells"
)

// keep notes what of a resource is another hand's.
func (d *draft) keep(p *party, have *resource.Resource) {
	note := func(what, why string) {
		d.plan.Kept = append(d.plan.Kept, Kept{ID: have.ID, Owner: p.owner, What: what, Why: why})
	}
	others := byOthers
	if p.ledger == nil && !p.owner.IsZero() {
		others = byNobody
	}
	switch {
	case have.SecurityGroup != nil:
		for _, r := range have.SecurityGroup.Foreign {
			note("rule "+r.String(), byOthers)
		}
	case have.Port != nil:
		for _, pair := range have.Port.Foreign {
			note("allowed address pair "+pair, others)
		}
		for _, group := range have.Port.ForeignGroups {
			note("security group "+group+" on the port", others)
		}
	case body(have, share).Foreign:
		note(what(have), byOthers)
	case have.Route != nil:
		for _, hop := range have.Route.Foreign {
			note("route "+have.Route.Destination.String()+" via "+hop, others)
		}
	}
}

// what names a resource that stays in words.
func what(r *resource.Resource) string {
	switch {
	case r.Route != nil:
		return "route " + r.Route.Destination.String() + " via " + r.Route.NextHop
	case r.TransitLeg != nil:
		return "transit leg " + r.TransitLeg.Address + ", port " + r.Ref
	case r.NetworkShare != nil:
		return "RBAC policy " + r.Ref + " for project " + r.NetworkShare.Project
	case r.Object != nil:
		return r.Object.Kind + " " + r.Object.Name
	}
	return r.ID.Kind.Short()
}

// second tells whether an ID names one more resource of an owner that has one of
// the kind: what was left by a change that was cut off, or a route on another
// router. Such a name has an "@", which no gateway's name can have.
func second(id resource.ID) bool { return strings.Contains(id.Name, "@") }

// elsewhere tells whether a route leads to a living gateway on a router that is
// not the estate's and no link's: somebody joined that router's networks to it.
func (d *draft) elsewhere(p *party, have *resource.Resource) bool {
	if have.Route == nil || !second(have.ID) || d.linkOn(have.Route.Router) != nil {
		return false
	}
	group := d.in.Desired[resource.ID{Kind: resource.KindSecurityGroup, Namespace: p.owner.Namespace, Name: p.owner.Name}]
	return have.Route.Destination.String() == serviceCIDR(body(&group, sg).Ledger)
}

// ledgerProof is the proof for what our ledger names and no tag can: a
// customer's floating IP.
func ledgerProof(p *party) string { return "ledger of " + p.text }
