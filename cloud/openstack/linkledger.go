package openstack

import (
	"context"
	"fmt"

	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// entriesOf are the entries of the ledger that an owner's group carries.
func entriesOf(o vpn.Owner, tags []string) ([]resource.Entry, error) {
	if link(o) {
		l, _, err := state.ReadLink(tags)
		return l.Entries(), err
	}
	l, _, err := state.ReadLedger(tags)
	return l.Entries(), err
}

// settleLink brings a link's ledger to what is planned. What was done so far stays on it.
// The group has Neutron's default rules alone, and no port is in it.
func (v verb) settleLink(ctx context.Context, g group, justMade bool) error {
	now, err := alloc.ParseLinkEntries(v.After.SecurityGroup.Ledger)
	if err != nil {
		return fmt.Errorf("writing the ledger of %s: %w", v.Owner.Path(), err)
	}
	before, _, err := state.ReadLink(g.Tags)
	if err != nil { // written over, it would lose what is on record
		return fmt.Errorf("security group %s: reading its ledger: %w", g.ID, err)
	}
	now.Estate, now.Owner = v.estate, v.Owner
	now.Applied, now.Leg, now.LegAddress = before.Applied, before.Leg, before.LegAddress
	now.Policy, now.Abandoned = before.Policy, before.Abandoned
	if err := v.brand(ctx, groupsPath, g.ID, g.Tags, state.LinkTags(now), justMade); err != nil {
		return err
	}
	return v.settleRules(ctx, g)
}

// recordLink records on a link's ledger which desired state was reached, which port the
// leg is, and whether the customer's side may be left behind. Where that can't be reached
// what is known of the leg stays.
func (v verb) recordLink(ctx context.Context, g group, reached resource.Applied) error {
	l, _, err := state.ReadLink(g.Tags)
	if err != nil {
		return fmt.Errorf("security group %s: reading its ledger: %w", g.ID, err)
	}
	l.Abandoned = reached.Abandoned
	side := v.across(v.Owner)
	if l.Applied = reached.Hash; l.Applied != "" && (side == nil || side.Driver != nil) {
		w := v
		if side != nil {
			w.Driver = side.Driver
		}
		leg, found, err := w.leg(ctx)
		if err != nil {
			return err
		}
		if !found {
			return conflict("%s has no transit leg", v.Owner)
		}
		l.Leg, l.LegAddress = leg.ID, leg.facts().PortAddress
	}
	return v.retag(ctx, groupsPath, g.ID, g.Tags, state.LinkTags(l))
}

// recordLeg puts on record which port the leg of a link is that was made anew; that of a
// new link is recorded with all the rest.
func (v verb) recordLeg(ctx context.Context, leg resource.GatewayFacts) error {
	g, l, err := v.linkLedger(ctx)
	if err != nil || l.Leg == "" || l.Leg == leg.PortID {
		return err
	}
	l.Leg, l.LegAddress = leg.PortID, leg.PortAddress
	return v.retag(ctx, groupsPath, g.ID, g.Tags, state.LinkTags(l))
}

// leg is the link's port: the one that this process made, or the oldest that carries our
// tags.
func (v verb) leg(ctx context.Context) (port, bool, error) {
	if id := v.noted(resource.KindTransitLeg); id != "" {
		return read[port](ctx, v.Driver, portsPath, id)
	}
	all, err := byTags[port](ctx, v, portsPath)
	if err != nil || len(all) == 0 {
		return port{}, false, err
	}
	oldest := all[0]
	for _, p := range all[1:] {
		if older(p.Created, oldest.Created, p.ID, oldest.ID) < 0 {
			oldest = p
		}
	}
	return oldest, true, nil
}
