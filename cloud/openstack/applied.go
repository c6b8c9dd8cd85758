package openstack

import (
	"context"
	"fmt"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/state"
)

// applyApplied records on the ledger which desired state was reached, or that
// none is. With a state that was reached a move is over, and so is a takeover. It is a tag beside the
// ledger's, read just before: all tags are written in one call.
func (v verb) applyApplied(ctx context.Context) error {
	var reached resource.Applied
	switch v.Action {
	case plan.Create, plan.Update, plan.Replace:
		reached = *v.After.Applied
	case plan.Delete:
	default:
		return v.unknown()
	}
	g, found, err := v.ledgerGroup(ctx)
	if err != nil {
		return err
	}
	switch {
	case !found && v.After == nil:
		return nil
	case !found:
		return conflict("%s has no security group", v.Owner)
	case !v.mine(g.Project, g.Tags):
		return v.notMine("security group", g.ID)
	}
	if link(v.Owner) {
		return v.recordLink(ctx, g, reached)
	}
	l, _, err := state.ReadLedger(g.Tags)
	if err != nil {
		return fmt.Errorf("security group %s: reading its ledger: %w", g.ID, err)
	}
	if l.Applied = reached.Hash; l.Applied != "" {
		l.MovingFrom, l.Adopting = nil, ""
	}
	return v.retag(ctx, groupsPath, g.ID, g.Tags, state.LedgerTags(l))
}

// ledgerGroup reads the group that carries the owner's ledger.
func (v verb) ledgerGroup(ctx context.Context) (group, bool, error) {
	id := v.noted(resource.KindSecurityGroup)
	if v.Before != nil {
		id = v.Before.Ref
	}
	if id != "" {
		return read[group](ctx, v.Driver, groupsPath, id)
	}
	all, err := byTags[group](ctx, v, groupsPath)
	if err != nil || len(all) == 0 {
		return group{}, false, err
	}
	oldest := all[0]
	for _, g := range all[1:] {
		if older(g.Created, oldest.Created, g.ID, oldest.ID) < 0 {
			oldest = g
		}
	}
	return oldest, true, nil
}
