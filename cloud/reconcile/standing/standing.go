package standing

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/reconcile"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Of tells how every gateway and link stands after a run, sorted by owner. The report is
// that of applying the plan; nil: nothing was applied. Rollouts say whose pod runs.
func Of(r *reconcile.Result, report *cloud.Report, rollouts map[vpn.Owner]cloud.Rollout, missing map[vpn.Owner][]vpn.SecretRef) []Gateway {
	accounts := map[vpn.Owner]*account{}
	for _, g := range r.Gateways {
		accounts[g.Owner] = &account{gateway: g, rollout: rollouts[g.Owner], missing: missing[g.Owner]}
	}
	for _, l := range r.Linked {
		accounts[l.Owner] = &account{link: true, crossing: crossingOf(r, l)}
	}
	w := waysOf(r)
	for _, line := range r.Plan.Owners {
		if a := accounts[line.Owner]; a != nil {
			a.fresh, a.blocked = line.New, blocked(line)
		}
	}
	for _, refusal := range r.Plan.Refusals {
		for o, a := range accounts {
			if refusal.Owner == o || refusal.Owner.IsZero() {
				a.refusals = append(a.refusals, refusal)
			}
		}
	}
	for _, c := range r.LeftOut {
		if c = w.as(c); accounts[c.Owner] != nil {
			c.Held = "left out by --only kubernetes"
			accounts[c.Owner].note(c)
		}
	}
	for _, c := range r.Plan.Changes {
		if c = w.as(c); accounts[c.Owner] != nil {
			accounts[c.Owner].note(c)
		}
	}
	if report != nil {
		for _, o := range report.Outcomes {
			if o.Change = w.as(o.Change); accounts[o.Change.Owner] != nil {
				accounts[o.Change.Owner].tried(o)
			}
		}
	}
	for o, gateways := range Awaited(r) {
		if a := accounts[o]; a != nil {
			a.await(gateways)
		}
	}
	all, ledgers, now := make([]Gateway, 0, len(accounts)), ledgersAfter(r, report), after(r, report, w)
	for o, a := range accounts {
		if a.link {
			a.unrouted = !now.stands(resource.ID{Kind: resource.KindRoute, Name: o.Name})
			all = append(all, Gateway{Owner: o, Conditions: a.linkConditions(), Link: now.link(o)})
		} else {
			all = append(all, standingOf(r, o, a, ledgers, report))
		}
	}
	slices.SortFunc(all, func(a, b Gateway) int { return a.Owner.Compare(b.Owner) })
	return all
}

// blocked says of a gateway that is left as it is why, and how much waits.
func blocked(o plan.Owner) string {
	switch {
	case o.Blocked == "":
		return ""
	case o.Waiting == 1:
		return "1 change waits: " + o.Blocked
	case o.Waiting > 1:
		return fmt.Sprintf("%d changes wait: %s", o.Waiting, o.Blocked)
	}
	return "left as it is: " + o.Blocked
}

func (a *account) note(c plan.Change) {
	if a.changes == nil {
		a.changes = map[resource.ID]plan.Change{}
	}
	a.changes[c.ID] = c
}

func (a *account) tried(o cloud.Outcome) {
	if a.outcomes == nil {
		a.outcomes = map[resource.ID]cloud.Outcome{}
	}
	a.outcomes[o.Change.ID] = o
	a.note(o.Change)
}

func standingOf(r *reconcile.Result, o vpn.Owner, a *account, ledgers map[vpn.Owner]alloc.Ledger, report *cloud.Report) Gateway {
	facts := r.Seen.Facts.Gateway(o.String())
	if report != nil {
		facts = facts.Complete(report.Learnt[o])
	}
	s := Gateway{Owner: o, Conditions: a.conditions(), Peers: authorized(a.gateway)}
	s.PeersReady = a.peersReady(s.Peers)
	if facts.FloatingIP.IsValid() {
		s.FloatingIP = facts.FloatingIP.String()
	}
	if facts.PortAddress.IsValid() {
		s.PortFixedIP = facts.PortAddress.String()
	}
	if l, known := ledgers[o]; known {
		s.ServiceCIDR, s.VirtualIPs = l.ServiceCIDR.String(), virtualIPs(a.gateway, l)
		s.Addresses = roadWarriors(a.gateway, l)
	}
	s.NodeName = plan.NodeOn(facts.ServerID, r.Seen.Facts.Nodes, func() []string {
		return []string{plan.ToldNode(r.Seen.Graph, o), r.Inputs[o].Node.Name}
	})
	return s
}

// ledgersAfter are the ledgers as they stand in the cloud by now: what was only planned has
// been promised to nobody.
func ledgersAfter(r *reconcile.Result, report *cloud.Report) map[vpn.Owner]alloc.Ledger {
	all := map[vpn.Owner]alloc.Ledger{}
	for _, l := range r.Seen.Ledgers {
		if _, another := all[l.Owner]; !another && l.ServiceCIDR.IsValid() {
			all[l.Owner] = l
		}
	}
	if report == nil {
		return all
	}
	for _, out := range report.With(cloud.Done) {
		if out.Change.ID.Kind == resource.KindSecurityGroup && out.Change.After != nil {
			all[out.Change.Owner] = r.Ledgers[out.Change.Owner]
		}
	}
	return all
}

func virtualIPs(g vpn.Gateway, l alloc.Ledger) []VirtualIP {
	all := []VirtualIP{}
	for _, list := range []struct {
		exposures []vpn.Exposure
		reverse   bool
	}{{g.Exposures, false}, {g.ReverseExposures, true}} {
		for _, x := range list.exposures {
			if ip := l.VirtualIP(x.Name); ip.IsValid() {
				all = append(all, VirtualIP{x.Name, ip.String(), list.reverse})
			}
		}
	}
	slices.SortFunc(all, func(a, b VirtualIP) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// roadWarriors are the addresses that a gateway's road warriors have inside the tunnel.
func roadWarriors(g vpn.Gateway, l alloc.Ledger) map[string]string {
	all := map[string]string{}
	for _, p := range g.Peers {
		if a := l.Address(p.Name); p.RoadWarrior && a.IsValid() {
			all[p.Name] = a.String()
		}
	}
	return all
}

// authorized says of each VPNPeer whether it may reach anything.
func authorized(g vpn.Gateway) map[string]cloud.Condition {
	if g.Owner.Kind != vpn.KindVPNGateway {
		return nil
	}
	peers := map[string]cloud.Condition{}
	for _, p := range g.Peers {
		c := cloud.Condition{Type: vpnv1alpha1.ConditionAuthorized, Status: True, Reason: vpnv1alpha1.ReasonAuthorized}
		switch access := g.Access(p); {
		case access.Default:
			c.Reason, c.Message = vpnv1alpha1.ReasonDefaultAllow, "the gateway's only peer, without an authorization block, reaches everything"
		case len(access.Exposures)+len(access.ReverseExposures) == 0:
			c.Status, c.Reason, c.Message = False, vpnv1alpha1.ReasonNoGrants, "add spec.authorization: a gateway with several peers, or with a block, lets in only what is granted"
		}
		peers[p.Name] = c
	}
	return peers
}
