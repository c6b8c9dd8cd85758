package loop

import (
	"context"
	"time"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/reconcile"
	"github.com/vpnctl/vpnctl/cloud/reconcile/standing"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Farewell says of the gateways and links that a plan removes that they are being deleted, before
// anything of them goes. It returns how many calls to the cluster failed; the log says
// which.
func (c *Controller) Farewell(ctx context.Context, result *reconcile.Result) (failures int, err error) {
	r, err := c.pass(ctx, result)
	if err != nil {
		return 0, err
	}
	for o, goes := range r.deleted {
		m := r.owners[o]
		c := parting(result, o, "")
		if before, _ := condition(m, vpnv1alpha1.ConditionReady); goes && before.Reason != c.Reason {
			r.sayStanding(ctx, m, standing.Gateway{Owner: o, Conditions: []cloud.Condition{c}})
		}
	}
	return r.failures, nil
}

// Tell says how every gateway and link stands after a single run: what became of the plan, and
// whether the pods run by now. Without a report nothing was to be done. It returns how
// many calls to the cluster failed; the log says which.
func (c *Controller) Tell(ctx context.Context, result *reconcile.Result, report *cloud.Report, rollouts map[string]cloud.Rollout) (failures int, err error) {
	r, err := c.pass(ctx, result)
	if err != nil {
		return 0, err
	}
	r.tell(ctx, turn{Result: result, report: report, left: excluded(result.Plan), seen: rollouts})
	return r.failures, nil
}

// pass is the round of a run that is none of a loop: of the manifests in the cluster it
// knows those that the run has read, or removes.
func (c *Controller) pass(ctx context.Context, result *reconcile.Result) (*round, error) {
	c.prepare()
	all, err := c.Cluster.Manifests(ctx)
	if err != nil {
		return nil, err
	}
	stays, goes := map[vpn.Owner]bool{}, map[vpn.Owner]bool{}
	for _, g := range result.Gateways {
		stays[g.Owner] = true
	}
	for _, l := range result.Linked {
		stays[l.Owner] = true
	}
	for _, change := range result.Plan.Changes {
		if change.Action == plan.Delete && change.ID.Kind.Manifest() && !stays[change.Owner] {
			goes[change.Owner] = true
		}
	}
	r := &round{Controller: c, began: time.Now(), owners: map[vpn.Owner]cloud.Manifest{}, peers: map[string]cloud.Manifest{}, deleted: map[vpn.Owner]bool{}}
	for _, m := range all {
		switch o := ownerOf(m); {
		case m.Kind == vpnv1alpha1.KindVPNPeer:
			r.peers[m.Namespace+"/"+m.Name] = m
		case stays[o], goes[o]:
			r.owners[o], r.deleted[o] = m, goes[o]
		}
	}
	r.assign()
	for _, g := range result.Gateways { // of other peers that name it this run knows nothing
		r.names[g.Owner] = nil
		for _, p := range g.Peers {
			r.names[g.Owner] = append(r.names[g.Owner], p.Name)
		}
	}
	return r, nil
}
