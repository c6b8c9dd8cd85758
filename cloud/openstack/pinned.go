package openstack

import (
	"context"
	"fmt"
	"net/url"
	"slices"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/state"
)

// usePinned associates a customer's floating IP.
func (v verb) usePinned(ctx context.Context) (resource.GatewayFacts, error) {
	f, err := v.pinnedByAddress(ctx)
	if err != nil {
		return resource.GatewayFacts{}, err
	}
	if err := v.disown(ctx, f, nil); err != nil {
		return resource.GatewayFacts{}, err
	}
	return f.facts(), v.associate(ctx, f.ID)
}

func (v verb) pinnedByAddress(ctx context.Context) (floatingIP, error) {
	address := v.After.FloatingIP.Address
	all, err := listOwn[floatingIP](ctx, v.Driver, floatsPath, url.Values{"floating_ip_address": {address}})
	if err != nil {
		return floatingIP{}, err
	}
	if len(all) != 1 {
		return floatingIP{}, conflict("the project has %d floating IPs with address %s", len(all), address)
	}
	return all[0], v.notAnothers(all[0])
}

// notAnothers refuses a customer's address that carries the tags of another
// owner or estate.
func (v verb) notAnothers(f floatingIP) error {
	if m := marked(v.estate, f.Tags); m != "" && m != v.Owner.String() {
		return conflict("floating IP %s carries the tags of %s", f.Address, m)
	}
	return nil
}

// disowned tells whether our marks were taken off already by an earlier try.
func (v verb) disowned(f floatingIP) bool {
	return v.After != nil && v.After.FloatingIP.Pinned && !slices.Contains(f.Tags, state.ManagedTag)
}

// releaseFloatingIP frees a customer's address, if it still leads to our port,
// and takes our marks off where they are still on it.
func (v verb) releaseFloatingIP(ctx context.Context) error {
	f, found, err := read[floatingIP](ctx, v.Driver, floatsPath, v.Before.Ref)
	if err != nil || !found {
		return err
	}
	if f.Project != v.project {
		return v.notMine("floating IP", f.Address)
	}
	own, has, err := v.ownPort(ctx)
	if err != nil {
		return err
	}
	free := map[string]any{}
	if has && text(f.Port) == own {
		free["port_id"] = nil
	}
	return v.disown(ctx, f, free)
}

// letGo frees a customer's address that the ledger will no longer name, before
// the ledger says so: afterwards nobody would know that it was ours to free.
func (v verb) letGo(ctx context.Context, id string) error {
	f, found, err := read[floatingIP](ctx, v.Driver, floatsPath, id)
	if err != nil || !found || text(f.Port) == "" || v.mine(f.Project, f.Tags) {
		return err
	}
	return v.disassociate(ctx, f)
}

// disown takes our marks off an address, together with what else is to change.
// The description goes first: with it and without tags the address would look
// like a create that was cut off, which the next create takes.
func (v verb) disown(ctx context.Context, f floatingIP, also map[string]any) error {
	attributes := map[string]any{}
	for k, value := range also {
		attributes[k] = value
	}
	if f.Description == v.description() {
		attributes["description"] = ""
	}
	if len(attributes) > 0 {
		if err := v.change(ctx, floatsPath, f.ID, attributes); err != nil {
			return fmt.Errorf("releasing floating IP %s: %w", f.Address, err)
		}
	}
	if v.mine(f.Project, f.Tags) {
		return v.retag(ctx, floatsPath, f.ID, f.Tags, nil)
	}
	return nil
}
