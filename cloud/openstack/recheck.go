package openstack

import (
	"context"
	"fmt"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Recheck looks, in one list, whether anybody else claimed what the owners'
// ledgers say, at the same moment: another group for the same owner, or the same
// range for another. The older group wins, by the server's time of its creation
// and then its ID, so that every run comes to the same result; a range goes to the
// owner for whom it is programmed already. It returns why,
// for each owner that lost; a loser's group, if this process made it, is deleted
// again.
func (d *Driver) Recheck(ctx context.Context, owners []vpn.Owner) (map[vpn.Owner]string, error) {
	s, err := d.here()
	if err != nil {
		return nil, err
	}
	groups, err := d.ledgers(ctx)
	if err != nil {
		return nil, err
	}
	losers := map[vpn.Owner]string{}
	for _, o := range owners {
		own, found := d.claimOf(s.estate, o, groups)
		if !found {
			losers[o] = fmt.Sprintf("the security group of %s is gone", o)
			continue
		}
		why := lostClaim(own, groups)
		if why == "" {
			continue
		}
		losers[o] = why
		if err := d.withdraw(ctx, o, own); err != nil {
			return losers, err
		}
	}
	return losers, nil
}

// claimOf is the group that this process wrote for an owner: the one it made, or
// else the oldest.
func (d *Driver) claimOf(estate string, o vpn.Owner, groups []ledgered) (ledgered, bool) {
	made := verb{Driver: d}
	made.Owner = o
	id := made.noted(resource.KindSecurityGroup)
	var own ledgered
	for _, g := range groups {
		if g.Estate != estate || g.Owner != o {
			continue
		}
		if g.ID == id {
			return g, true
		}
		if own.ID == "" || g.before(own) {
			own = g
		}
	}
	return own, own.ID != ""
}

func (l ledgered) before(o ledgered) bool {
	return older(l.group.Created, o.group.Created, l.ID, o.ID) < 0
}

// lostClaim says who claimed the same before; empty: nobody.
func lostClaim(own ledgered, groups []ledgered) string {
	for _, g := range groups {
		switch {
		case g.ID == own.ID:
			continue
		case g.Estate == own.Estate && g.Owner == own.Owner:
			if g.before(own) {
				return fmt.Sprintf("another run made security group %s for %s before", g.ID, own.Owner)
			}
			continue
		}
		for _, p := range g.Ranges() { // what an invalid one overlaps is nothing
			if p.Overlaps(own.ServiceCIDR) && g.Ahead(own.Ledger, p) {
				return fmt.Sprintf("%s was claimed before, by %s of estate %s", own.ServiceCIDR, g.Owner, g.Estate)
			}
		}
	}
	return ""
}

// withdraw deletes the group that this process made for a claim it lost. Another
// one stays: it was there before, and says what is programmed.
func (d *Driver) withdraw(ctx context.Context, o vpn.Owner, own ledgered) error {
	made := verb{Driver: d}
	made.Owner = o
	if made.noted(resource.KindSecurityGroup) != own.ID {
		return nil
	}
	made.forget(resource.KindSecurityGroup)
	if err := d.remove(ctx, groupsPath, own.ID); err != nil {
		return fmt.Errorf("withdrawing the claim of %s: %w", o, err)
	}
	return nil
}
