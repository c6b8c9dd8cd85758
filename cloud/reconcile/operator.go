package reconcile

import (
	"slices"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// checkOperator refuses gateways whose objects an operator made and that have no ledger:
// their port and address are the operator's as well. Others would be made beside them, and
// customers dial the old ones.
func (d *decision) checkOperator() {
	for _, g := range d.Estate.Gateways {
		ledger := slices.ContainsFunc(d.seen.Ledgers, func(l alloc.Ledger) bool { return l.Owner == g.Owner })
		if ledger || !d.operated(g.Owner) {
			continue
		}
		d.note(plan.Refusal{Owner: g.Owner, Message: "an operator has made it, with an address and a range in the cloud: taking those over is not supported by this version",
			Hint: "leave the gateway to the operator, or let the operator delete it first: it gets another address then"})
	}
}

// operated tells whether something of a gateway is the operator's.
func (d *decision) operated(o vpn.Owner) bool {
	for _, r := range d.seen.Graph {
		if r.Owner == o.String() && r.Adopt == cloud.OperatorMade {
			return true
		}
	}
	return false
}
