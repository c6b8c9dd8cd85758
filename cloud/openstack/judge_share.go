package openstack

import (
	"cmp"
	"slices"

	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

const policiesPath = "rbac-policies"

// asShared is the action of a policy that lets a project make ports on a network.
const asShared = "access_as_shared"

// everybody is the target of a policy for all projects, which only an admin can make.
const everybody = "*"

// policy says which other project may use something.
type policy struct {
	ID      string `json:"id"`
	Project string `json:"project_id"`
	Type    string `json:"object_type"`
	Object  string `json:"object_id"`
	Action  string `json:"action"`
	Target  string `json:"target_tenant"`
}

// shares tells whether the policy lets a project use a network.
func (p policy) shares(network, project string) bool {
	return p.Type == "network" && p.Object == network && p.Action == asShared && p.Target == project
}

// judgeShares makes resources of the policies that links into customers' projects need.
//
//	policy for exactly that project   ledger        → share
//	-                                 any           none
//	there                             its ID        ours
//	there                             pending       a create of ours that was cut off
//	there                             otherwise     another hand's: used, never deleted
//	for everybody                     any           another hand's
func (j *judgement) judgeShares() {
	for _, c := range j.sides {
		id := resource.ID{Kind: resource.KindNetworkShare, Name: c.link.Owner.Name}
		i := slices.IndexFunc(j.policies, func(p policy) bool { return p.shares(j.network.ID, c.link.CustomerProject) })
		all := slices.IndexFunc(j.policies, func(p policy) bool { return p.shares(j.network.ID, everybody) })
		if i < 0 && all < 0 {
			continue
		}
		p, known := j.policies[max(i, 0)], j.owned[c.link.Owner].link.Policy
		if i < 0 {
			p = j.policies[all]
		}
		r := resource.Resource{ID: id, Owner: c.link.Owner.String(), Ref: p.ID, NetworkShare: &resource.NetworkShare{
			Network: j.network.ID, Project: c.link.CustomerProject, By: operators, Users: j.using(c.link),
		}}
		if len(r.NetworkShare.Users) > 0 { // else it is our own, and nobody there needs it
			r.NetworkShare.Left = j.left(c)
		}
		switch {
		case i >= 0 && known == p.ID:
			r.Proof = "ID is in the ledger of " + c.link.Owner.String()
		case i >= 0 && known == alloc.PolicyPending:
			r.Proof, r.CutOff = "the ledger of "+c.link.Owner.String()+" says that it was being made", true
		default:
			r.NetworkShare.Foreign = true
		}
		j.Graph.Add(r)
	}
}

// left says why what stands on the customer's side outlives its link; empty: it goes.
func (j *judgement) left(c *customer) string {
	if c.fault == nil || c.fault.Passing || !j.owned[c.link.Owner].link.Abandoned {
		return ""
	}
	return "left in project " + c.link.CustomerProject + ": the customer's side was given up"
}

// using are the IDs of the customer's ports on the transit network, sorted: as long as
// there is one, Neutron keeps the network shared.
func (v *view) using(l vpn.Link) []string {
	var all []string
	for _, p := range v.theirs {
		if p.Project == l.CustomerProject && p.Network == v.network.ID {
			all = append(all, p.ID)
		}
	}
	slices.SortFunc(all, cmp.Compare)
	return all
}
