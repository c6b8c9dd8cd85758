package openstack

import (
	"context"
	"fmt"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/state"
)

// replaceFloatingIP leads another address, which a manifest pins, to the
// gateway's port. A port has one address of a pool, so the old one is taken off
// first. It is given up last, once the new one is known to lead to the port: where
// that can't be had, the old one is put back. A run that dies in between leaves an
// old address of ours tagged, so that the next one finds it.
func (v verb) replaceFloatingIP(ctx context.Context) (resource.GatewayFacts, error) {
	if !v.After.FloatingIP.Pinned {
		return resource.GatewayFacts{}, fmt.Errorf("%s: an address is only replaced by a pinned one", v.ID)
	}
	f, err := v.takeOver(ctx)
	undo, done := undoing(ctx)
	defer done()
	holds, reading := v.holds(undo, f)
	switch {
	case holds:
		return f.facts(), v.giveUp(ctx)
	case reading != nil && err == nil:
		return resource.GatewayFacts{}, reading
	case reading != nil:
		return resource.GatewayFacts{}, err // what leads to the port is not known: the next run sees it
	case err == nil:
		err = conflict("floating IP %s does not lead to the port of %s", f.Address, v.Owner)
	}
	return resource.GatewayFacts{}, v.putBack(undo, err)
}

// takeOver leads the new address to the port. Whether it can be had is looked at
// before the old one is taken off.
func (v verb) takeOver(ctx context.Context) (floatingIP, error) {
	f, err := v.pinnedByAddress(ctx)
	if err == nil {
		_, _, err = v.vacant(ctx, f)
	}
	if err == nil {
		err = v.takeOff(ctx)
	}
	if err == nil {
		err = v.disown(ctx, f, nil)
	}
	if err == nil {
		err = v.associate(ctx, f.ID)
	}
	return f, err
}

// takeOff frees the old address, if it still leads to the port.
func (v verb) takeOff(ctx context.Context) error {
	old, found, err := read[floatingIP](ctx, v.Driver, floatsPath, v.Before.Ref)
	switch {
	case err != nil || !found:
		return err
	case old.Project != v.project, !v.Before.FloatingIP.Pinned && !v.mine(old.Project, old.Tags):
		return v.notMine("floating IP", old.Address)
	}
	return v.disassociate(ctx, old)
}

// holds tells whether an address leads to the gateway's port.
func (v verb) holds(ctx context.Context, f floatingIP) (bool, error) {
	if f.ID == "" {
		return false, nil
	}
	own, has, err := v.ownPort(ctx)
	if err != nil || !has {
		return false, err
	}
	now, found, err := read[floatingIP](ctx, v.Driver, floatsPath, f.ID)
	return found && text(now.Port) == own, err
}

// giveUp lets the old address go as its nature says.
func (v verb) giveUp(ctx context.Context) error {
	if v.Before.FloatingIP.Pinned {
		return v.releaseFloatingIP(ctx)
	}
	return v.deleteFloatingIP(ctx)
}

// putBack leads the old address to the port again where it led there before, and
// lets the ledger name it again if it is the customer's: a manifest that goes back
// to it finds all as it was.
func (v verb) putBack(ctx context.Context, why error) error {
	old, found, err := read[floatingIP](ctx, v.Driver, floatsPath, v.Before.Ref)
	if err == nil && found {
		if err = v.recordPin(ctx, old); err == nil && !v.Before.FloatingIP.Port.IsZero() {
			err = v.associate(ctx, old.ID)
		}
	}
	switch {
	case err != nil:
		return fmt.Errorf("%w; putting back floating IP %s: %w", why, v.Before.FloatingIP.Address, err)
	case !found:
		return fmt.Errorf("%w; floating IP %s, which was there before, does not exist any more", why, v.Before.FloatingIP.Address)
	}
	return fmt.Errorf("%w; floating IP %s is kept", why, v.Before.FloatingIP.Address)
}

// recordPin writes on the ledger that an address is the customer's, unless it is
// ours: then that none is.
func (v verb) recordPin(ctx context.Context, f floatingIP) error {
	id := f.ID
	if v.mine(f.Project, f.Tags) {
		id = ""
	}
	own, err := v.ownGroup(ctx)
	if err != nil {
		return err
	}
	g, found, err := read[group](ctx, v.Driver, groupsPath, own)
	if err != nil || !found || !v.mine(g.Project, g.Tags) {
		return err
	}
	l, _, err := state.ReadLedger(g.Tags)
	if err != nil {
		return fmt.Errorf("security group %s: reading its ledger: %w", g.ID, err)
	}
	l.FloatingIP = id
	return v.retag(ctx, groupsPath, g.ID, g.Tags, state.LedgerTags(l))
}
