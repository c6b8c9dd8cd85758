package openstack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/state"
)

const groupsPath = "security-groups"

// applyGroup makes, changes or deletes a gateway's group. The ledger, on its
// tags, is written before the rules, and the rules before any that go.
func (v verb) applyGroup(ctx context.Context) error {
	switch v.Action {
	case plan.Create:
		return v.createGroup(ctx)
	case plan.Update:
		g, found, err := read[group](ctx, v.Driver, groupsPath, v.Before.Ref)
		switch {
		case err != nil:
			return err
		case !found:
			return conflict("security group %s does not exist any more", v.Before.Ref)
		case !v.mine(g.Project, g.Tags):
			return v.notMine("security group", g.ID)
		}
		return v.settleGroup(ctx, g, false)
	case plan.Adopt:
		return v.adoptGroup(ctx)
	case plan.Delete:
		return v.deleteGroup(ctx)
	}
	return v.unknown()
}

func (v verb) createGroup(ctx context.Context) error {
	g, justMade, err := create(ctx, v.Driver,
		func() (group, bool, error) { return v.findGroup(ctx) },
		func() (group, error) {
			var body struct {
				Group group `json:"security_group"`
			}
			_, err := v.call(ctx, http.MethodPost, groupsPath, map[string]any{"security_group": map[string]any{
				"name": v.name(), "description": v.description()}}, &body)
			return body.Group, err
		})
	if err != nil {
		return fmt.Errorf("creating security group %s: %w", v.Owner.Path(), err)
	}
	v.note(resource.KindSecurityGroup, g.ID)
	return v.settleGroup(ctx, g, justMade)
}

// findGroup finds the group that an earlier run made, whole or cut off.
//
//	our tags                        ours: go on with it
//	no tags, default rules, unused  a create that was cut off: complete it
//	no tags, otherwise              it lost them: refused
func (v verb) findGroup(ctx context.Context) (group, bool, error) {
	all, err := lookAlikes[group](ctx, v, groupsPath)
	if err != nil {
		return group{}, false, err
	}
	slices.SortFunc(all, func(a, b group) int { return older(a.Created, b.Created, a.ID, b.ID) })
	for _, g := range all {
		if v.mine(g.Project, g.Tags) {
			return g, true, v.sameLedger(g)
		}
	}
	for _, g := range all {
		if !looseFor(v.estate, v.Owner, g.Name, g.Description, g.Tags) {
			return group{}, false, v.notMine("security group", g.ID)
		}
		users, err := v.users(ctx, g.ID)
		if err != nil {
			return group{}, false, err
		}
		if len(users) > 0 || !untouched(g.Rules) {
			return group{}, false, v.lostTags("security group", g.ID)
		}
	}
	if len(all) == 0 {
		return group{}, false, nil
	}
	return all[0], true, nil
}

// sameLedger refuses a group that another run made meanwhile for something else.
func (v verb) sameLedger(g group) error {
	entries, err := entriesOf(v.Owner, g.Tags)
	if err == nil && slices.Equal(entries, v.After.SecurityGroup.Ledger) {
		return nil
	}
	return conflict("another run made security group %s meanwhile, with another ledger", g.ID)
}

// users are the ports that are in the group.
func (v verb) users(ctx context.Context, id string) ([]port, error) {
	return list[port](ctx, v.Driver, "ports", url.Values{"security_groups": {id}})
}

// settleGroup brings tags and rules to what is planned.
func (v verb) settleGroup(ctx context.Context, g group, justMade bool) error {
	if link(v.Owner) {
		return v.settleLink(ctx, g, justMade)
	}
	before, _, _ := state.ReadLedger(g.Tags)
	now, err := v.ledger(before)
	if err != nil {
		return err
	}
	if id := before.FloatingIP; id != "" && id != now.FloatingIP {
		if err := v.letGo(ctx, id); err != nil {
			return err
		}
	}
	tags := state.LedgerTags(now)
	if err := v.brand(ctx, groupsPath, g.ID, g.Tags, tags, justMade); err != nil {
		return err
	}
	if v.adopts() {
		if err := v.rename(ctx, groupsPath, g.ID, g.Name, g.Description); err != nil {
			return err
		}
		if g, err = v.replaceRules(ctx, g); err != nil {
			return err
		}
	}
	return v.settleRules(ctx, g)
}

// ledger is what the group's tags should say: what is planned, the record of the
// state that was reached last, which a gateway that drains or moves has left, the
// ranges that it moves from, and whose objects it takes over.
func (v verb) ledger(before alloc.Ledger) (alloc.Ledger, error) {
	l, err := alloc.ParseEntries(v.After.SecurityGroup.Ledger)
	if err != nil {
		return l, fmt.Errorf("writing the ledger of %s: %w", v.Owner.Path(), err)
	}
	l.Estate, l.Owner = v.estate, v.Owner
	l.Draining = v.After.SecurityGroup.Draining
	if l.Draining.IsZero() {
		l.Applied = before.Applied
	}
	if l.Adopting = before.Adopting; v.adopts() {
		l.Adopting = v.uid()
	}
	return l.Move(before), nil
}

// deleteGroup deletes a group that is ours, or a create that was cut off, unless
// a port is in it.
func (v verb) deleteGroup(ctx context.Context) error {
	g, found, err := read[group](ctx, v.Driver, groupsPath, v.Before.Ref)
	if err != nil || !found {
		return err
	}
	if v.Before.CutOff {
		if !looseFor(v.estate, v.Owner, g.Name, g.Description, g.Tags) || !untouched(g.Rules) {
			return conflict("security group %s is no cut-off create any more", g.ID)
		}
	} else if !v.mine(g.Project, g.Tags) {
		return v.notMine("security group", g.ID)
	}
	v.forget(resource.KindSecurityGroup)
	err = v.remove(ctx, groupsPath, g.ID)
	if errors.Is(err, cloud.ErrConflict) {
		if users, reading := v.users(ctx, g.ID); reading == nil && len(users) > 0 {
			return fmt.Errorf("%w; port %q is in it", err, users[0].Name)
		}
	}
	return err
}

// ownGroup is the ID of the gateway's group, which ports are put into.
func (v verb) ownGroup(ctx context.Context) (string, error) {
	if id := v.noted(resource.KindSecurityGroup); id != "" {
		return id, nil
	}
	all, err := byTags[group](ctx, v, groupsPath)
	if err != nil {
		return "", err
	}
	slices.SortFunc(all, func(a, b group) int { return older(a.Created, b.Created, a.ID, b.ID) })
	for _, g := range all {
		if v.mine(g.Project, g.Tags) {
			return g.ID, nil
		}
	}
	return "", conflict("%s has no security group", v.Owner)
}
