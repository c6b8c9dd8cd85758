package openstack

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"slices"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
)

const floatsPath = "floatingips"

// applyFloatingIP makes, changes, replaces, releases or deletes a gateway's floating IP. A
// pinned one is the customer's: it is associated and disassociated, never tagged
// and never deleted.
func (v verb) applyFloatingIP(ctx context.Context) (resource.GatewayFacts, error) {
	switch v.Action {
	case plan.Create:
		if v.After.FloatingIP.Pinned {
			return v.usePinned(ctx)
		}
		return v.createFloatingIP(ctx)
	case plan.Update:
		if v.After.FloatingIP.Pinned && v.After.FloatingIP.Address != v.Before.FloatingIP.Address {
			return v.replaceFloatingIP(ctx)
		}
		return v.updateFloatingIP(ctx)
	case plan.Adopt:
		return v.adoptFloatingIP(ctx)
	case plan.Replace:
		return v.replaceFloatingIP(ctx)
	case plan.Release:
		return resource.GatewayFacts{}, v.releaseFloatingIP(ctx)
	case plan.Delete:
		return resource.GatewayFacts{}, v.deleteFloatingIP(ctx)
	}
	return resource.GatewayFacts{}, v.unknown()
}

func (v verb) createFloatingIP(ctx context.Context) (resource.GatewayFacts, error) {
	f, justMade, err := create(ctx, v.Driver,
		func() (floatingIP, bool, error) { return v.findFloatingIP(ctx) },
		func() (floatingIP, error) { return v.postFloatingIP(ctx) })
	if err != nil {
		return resource.GatewayFacts{}, fmt.Errorf("creating floating IP %s: %w", v.Owner.Path(), err)
	}
	v.note(resource.KindFloatingIP, f.ID)
	if err := v.brand(ctx, floatsPath, f.ID, f.Tags, v.tags(), justMade); err != nil {
		return resource.GatewayFacts{}, err
	}
	return f.facts(), v.associate(ctx, f.ID)
}

func (v verb) postFloatingIP(ctx context.Context) (floatingIP, error) {
	pool, err := v.pool(v.After.FloatingIP.Pool)
	if err != nil {
		return floatingIP{}, fmt.Errorf("floating IP pool %w", err)
	}
	var body struct {
		FloatingIP floatingIP `json:"floatingip"`
	}
	_, err = v.call(ctx, http.MethodPost, floatsPath, map[string]any{"floatingip": map[string]any{
		"floating_network_id": pool, "description": v.description()}}, &body)
	return body.FloatingIP, err
}

// findFloatingIP finds the address that an earlier run took, whole or cut off.
//
//	our tags               ours: go on with it
//	no tags, no port       a create that was cut off: complete it
//	no tags, otherwise     it lost them: refused
//	another on the port    refused: a second one would lead nowhere
func (v verb) findFloatingIP(ctx context.Context) (floatingIP, bool, error) {
	all, err := lookAlikes[floatingIP](ctx, v, floatsPath)
	if err != nil {
		return floatingIP{}, false, err
	}
	slices.SortFunc(all, func(a, b floatingIP) int { return older(a.Created, b.Created, a.ID, b.ID) })
	for _, f := range all {
		if v.mine(f.Project, f.Tags) {
			return f, true, nil
		}
	}
	for _, f := range all {
		switch {
		case !looseFor(v.estate, v.Owner, v.name(), f.Description, f.Tags):
			return floatingIP{}, false, v.notMine("floating IP", f.Address)
		case text(f.Port) != "":
			return floatingIP{}, false, v.lostTags("floating IP", f.Address)
		}
	}
	if f, found, err := v.onOwnPort(ctx); err != nil || found {
		return f, found, err
	}
	if len(all) == 0 {
		return floatingIP{}, false, nil
	}
	return all[0], true, nil
}

func (f floatingIP) facts() resource.GatewayFacts {
	address, _ := netip.ParseAddr(f.Address)
	return resource.GatewayFacts{FloatingIP: address}
}

// updateFloatingIP associates, and takes our marks off an address that became
// the customer's. The ledger says so already: it was written before.
func (v verb) updateFloatingIP(ctx context.Context) (resource.GatewayFacts, error) {
	f, err := v.readFloatingIP(ctx)
	if err != nil {
		return resource.GatewayFacts{}, err
	}
	if v.After.FloatingIP.Pinned {
		if err := v.disown(ctx, f, nil); err != nil {
			return f.facts(), err
		}
	}
	if v.After.FloatingIP.Port.IsZero() {
		return f.facts(), v.disassociate(ctx, f)
	}
	return f.facts(), v.associate(ctx, f.ID)
}

// readFloatingIP reads the planned address and refuses one that is neither ours
// nor pinned.
func (v verb) readFloatingIP(ctx context.Context) (floatingIP, error) {
	f, found, err := read[floatingIP](ctx, v.Driver, floatsPath, v.Before.Ref)
	switch {
	case err != nil:
		return f, err
	case !found:
		return f, conflict("floating IP %s does not exist any more", v.Before.FloatingIP.Address)
	case f.Project != v.project, !v.Before.FloatingIP.Pinned && !v.mine(f.Project, f.Tags) && !v.disowned(f):
		return f, v.notMine("floating IP", f.Address)
	}
	return f, v.notAnothers(f)
}

// deleteFloatingIP deletes an address that we took, or a create that was cut
// off. Deleting it frees it as well. One that another hand moved to its own port
// is in use and stays.
func (v verb) deleteFloatingIP(ctx context.Context) error {
	if v.Before.FloatingIP.Pinned {
		return fmt.Errorf("deleting floating IP %s: it is the customer's", v.Before.FloatingIP.Address)
	}
	f, found, err := read[floatingIP](ctx, v.Driver, floatsPath, v.Before.Ref)
	if err != nil || !found {
		return err
	}
	switch {
	case v.Before.CutOff && (text(f.Port) != "" || !looseFor(v.estate, v.Owner, v.name(), f.Description, f.Tags)):
		return conflict("floating IP %s is no cut-off create any more", f.Address)
	case !v.Before.CutOff && !v.mine(f.Project, f.Tags):
		return v.notMine("floating IP", f.Address)
	}
	if text(f.Port) != "" {
		if _, _, err := v.vacant(ctx, f); err != nil {
			return err
		}
	}
	v.forget(resource.KindFloatingIP)
	return v.remove(ctx, floatsPath, f.ID)
}

// associate leads an address to the gateway's port. Neutron would move one that
// is in use without a word, so it is read just before.
func (v verb) associate(ctx context.Context, id string) error {
	f, found, err := read[floatingIP](ctx, v.Driver, floatsPath, id)
	if err != nil {
		return err
	}
	if !found {
		return conflict("floating IP %s does not exist any more", id)
	}
	own, has, err := v.vacant(ctx, f)
	switch {
	case err != nil:
		return err
	case !has:
		return conflict("%s has no port that floating IP %s could lead to", v.Owner, f.Address)
	case text(f.Port) == own:
		return nil
	}
	err = v.change(ctx, floatsPath, f.ID, map[string]any{"port_id": own})
	if typed(err, "ExternalGatewayForFloatingIPNotFound") {
		return fmt.Errorf("associating floating IP %s: no router joins the transit subnet to the pool's network: %w", f.Address, err)
	}
	if typed(err, "FloatingIPPortAlreadyAssociated") {
		if _, _, looking := v.onOwnPort(ctx); looking != nil {
			err = fmt.Errorf("%w; %w", looking, err)
		}
	}
	if err != nil {
		return fmt.Errorf("associating floating IP %s: %w", f.Address, err)
	}
	return nil
}

// vacant refuses an address that leads to a port which is not the gateway's, by
// name. It gives the gateway's port, where there is one.
func (v verb) vacant(ctx context.Context, f floatingIP) (own string, has bool, err error) {
	own, has, err = v.ownPort(ctx)
	at := text(f.Port)
	if err != nil || at == "" || has && at == own {
		return own, has, err
	}
	p, _, err := read[port](ctx, v.Driver, portsPath, at)
	if err != nil {
		return own, has, err
	}
	return own, has, conflict("floating IP %s is held by %s", f.Address, holder(p, at))
}

func (v verb) disassociate(ctx context.Context, f floatingIP) error {
	own, has, err := v.ownPort(ctx)
	if err != nil || !has || text(f.Port) != own {
		return err // it is free, or another hand moved it
	}
	if err := v.change(ctx, floatsPath, f.ID, map[string]any{"port_id": nil}); err != nil {
		return fmt.Errorf("disassociating floating IP %s: %w", f.Address, err)
	}
	return nil
}
