package openstack

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/state"
)

// applyShare lets a customer's project use the transit network, or ends that.
//
// A policy carries no tag and no text of ours, so the ledger says which one is ours. It
// says "pending" before the policy is made: found after that, it is ours.
func (v verb) applyShare(ctx context.Context) error {
	switch v.Action {
	case plan.Create:
		return v.createShare(ctx)
	case plan.Delete:
		return v.deleteShare(ctx)
	}
	return v.unknown()
}

func (v verb) createShare(ctx context.Context) error {
	g, l, err := v.linkLedger(ctx)
	if err != nil {
		return err
	}
	doing := fmt.Sprintf("sharing network %s with project %s", v.network.label(), v.After.NetworkShare.Project)
	p, there, err := v.sharing(ctx, v.After.NetworkShare.Project)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", doing, err)
	case there && l.Policy != alloc.PolicyPending: // ours already, or another hand's, which serves
		return nil
	case !there && l.Policy != alloc.PolicyPending:
		if err := v.recordPolicy(ctx, g, alloc.PolicyPending); err != nil {
			return err
		}
	}
	known := "" // by the ledger, though it wasn't seen
	if l.Policy != alloc.PolicyPending {
		known = l.Policy
	}
	begun, silent := l.Policy == alloc.PolicyPending, false // by an earlier run; by a call whose answer was lost
	p, made, err := create(ctx, v.Driver,
		func() (policy, bool, error) { return v.sharing(ctx, v.After.NetworkShare.Project) },
		func() (policy, error) {
			p, err := v.postShare(ctx)
			silent = silent || lost(err)
			return p, err
		})
	if typed(err, "DuplicateRbacPolicy") {
		if p, err = v.duplicate(ctx, err); err != nil && begun {
			return fmt.Errorf("%s: %w", doing, err) // it may be ours
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", doing, v.unmark(ctx, err, known, silent))
	}
	now, l, err := v.linkLedger(ctx)
	if err != nil || l.Policy != alloc.PolicyPending { // another run of this estate has written it
		return err
	}
	if !made && !begun && !silent && p.ID != known {
		p.ID = "" // somebody else's, who came first
	}
	return v.recordPolicy(ctx, now, p.ID)
}

func (v verb) postShare(ctx context.Context) (policy, error) {
	var body struct {
		Policy policy `json:"rbac_policy"`
	}
	_, err := v.call(ctx, http.MethodPost, policiesPath, map[string]any{"rbac_policy": map[string]any{
		"object_type": "network", "object_id": v.network.ID, "action": asShared, "target_tenant": v.After.NetworkShare.Project,
	}}, &body)
	return body.Policy, err
}

// unmark takes back the mark of a policy whose creation was refused, leaves what was known
// before, and tells why it was refused: one that somebody else makes after that must not be
// taken for ours. After a call without an answer, which may have made one, the mark stays.
func (v verb) unmark(ctx context.Context, met error, known string, silent bool) error {
	if !refused(met) || silent {
		return met
	}
	g, l, err := v.linkLedger(ctx)
	if err == nil && l.Policy == alloc.PolicyPending {
		err = v.recordPolicy(ctx, g, known)
	}
	if err != nil {
		return fmt.Errorf("%w; taking its mark off the ledger: %w", met, err)
	}
	return met
}

// duplicate finds the policy that a create has met. One that can't be seen yet is left to
// the next run.
func (v verb) duplicate(ctx context.Context, met error) (policy, error) {
	p, there, err := v.sharing(ctx, v.After.NetworkShare.Project)
	if err == nil && !there {
		err = met
	}
	return p, err
}

// sharing is the policy by which exactly that project uses the transit network.
func (v verb) sharing(ctx context.Context, project string) (policy, bool, error) {
	all, err := list[policy](ctx, v.Driver, policiesPath, url.Values{"object_id": {v.network.ID}})
	i := slices.IndexFunc(all, func(p policy) bool { return p.shares(v.network.ID, project) })
	if err != nil || i < 0 {
		return policy{}, false, err
	}
	return all[i], true, nil
}

// deleteShare ends it, once none of that project's ports is left on the network. Only the
// policy that the ledger names is deleted, or the one that was being made.
func (v verb) deleteShare(ctx context.Context) error {
	share := v.Before.NetworkShare
	_, l, err := v.linkLedger(ctx)
	if err != nil {
		return err
	}
	p, there, err := v.sharing(ctx, share.Project)
	switch {
	case err != nil || !there:
		return err
	case l.Policy != p.ID && l.Policy != alloc.PolicyPending:
		return conflict("RBAC policy %s is not the one that the ledger of %s names", p.ID, v.Owner)
	}
	left, err := list[port](ctx, v.Driver, portsPath, url.Values{"network_id": {share.Network}, "project_id": {share.Project}})
	if err != nil {
		return err
	}
	if len(left) > 0 {
		return conflict("project %s still has %s on network %s", share.Project, portNames(left), v.network.label())
	}
	return v.remove(ctx, policiesPath, p.ID)
}

func portNames(ports []port) string {
	var names []string
	for _, p := range ports {
		names = append(names, "port "+p.ID)
	}
	return strings.Join(names, ", ")
}

// linkLedger reads the link's group and what its tags say.
func (v verb) linkLedger(ctx context.Context) (group, alloc.LinkLedger, error) {
	id, err := v.ownGroup(ctx)
	if err != nil {
		return group{}, alloc.LinkLedger{}, err
	}
	g, found, err := read[group](ctx, v.Driver, groupsPath, id)
	switch {
	case err != nil:
		return group{}, alloc.LinkLedger{}, err
	case !found || !v.mine(g.Project, g.Tags):
		return group{}, alloc.LinkLedger{}, v.notMine("security group", id)
	}
	l, _, err := state.ReadLink(g.Tags)
	if err != nil {
		return g, l, fmt.Errorf("security group %s: reading its ledger: %w", g.ID, err)
	}
	return g, l, nil
}

// recordPolicy writes on the ledger which policy is ours.
func (v verb) recordPolicy(ctx context.Context, g group, id string) error {
	l, _, err := state.ReadLink(g.Tags)
	if err != nil {
		return fmt.Errorf("security group %s: reading its ledger: %w", g.ID, err)
	}
	l.Policy = id
	return v.retag(ctx, groupsPath, g.ID, g.Tags, state.LinkTags(l))
}
