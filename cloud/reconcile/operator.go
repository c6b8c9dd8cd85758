package reconcile

import (
	"slices"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// checkOperator refuses gateways whose objects in the cluster an operator made, while
// nothing in the cloud is known of them: their port and address are the operator's as well,
// wherever they stand. Others would be made beside them, and customers dial the old ones.
func (d *decision) checkOperator() {
	for _, g := range d.Estate.Gateways {
		ledger := slices.ContainsFunc(d.seen.Ledgers, func(l alloc.Ledger) bool { return l.Owner == g.Owner })
		refused := slices.ContainsFunc(d.refusals, func(r plan.Refusal) bool { return r.Owner == g.Owner })
		if ledger || refused || !d.operated(g.Owner) {
			continue
		}
		d.note(plan.Refusal{Owner: g.Owner, Message: "an operator has made it, but nothing in this project carries the UID of its manifest: its address and its port can't be taken over",
			Hint: "log in to the project in which the operator made them, or let the operator delete it first: it gets another address then"})
	}
}

// operated tells whether something of a gateway in the cluster is the operator's.
func (d *decision) operated(o vpn.Owner) bool {
	for _, r := range d.seen.Graph {
		if r.Owner == o.String() && r.Adopt == cloud.OperatorMade {
			return true
		}
	}
	return false
}

// operatorsNode is where an operator meant a port to be that is to be taken over, and that
// is attached nowhere.
func (d *decision) operatorsNode(o vpn.Owner) string {
	if d.seen.Graph[gatewayID(resource.KindPort, o)].Adopt == "" {
		return ""
	}
	for _, g := range slices.Concat(d.Options.Operated, d.seen.Operated) {
		if g.Owner == o {
			return g.Node
		}
	}
	return ""
}

// operatorsClaims are the ranges of gateways that an operator made and that no manifest
// asks for, as files tell of them.
func (in Input) operatorsClaims() []alloc.Claim {
	var all []alloc.Claim
	for _, g := range in.Options.Operated {
		written := slices.ContainsFunc(in.Estate.Gateways, func(w vpn.Gateway) bool { return w.Owner == g.Owner })
		if !written && g.ServiceCIDR.IsValid() {
			all = append(all, alloc.Claim{Prefix: g.ServiceCIDR, By: g.Owner.String() + ", which an operator made", Owner: g.Owner})
		}
	}
	return all
}
