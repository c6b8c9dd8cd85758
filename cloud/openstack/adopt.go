package openstack

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// rememberTakeovers keeps whose objects are to be taken over, for Apply.
func (d *Driver) rememberTakeovers(all []*takeover) {
	uids := map[vpn.Owner]string{}
	for _, t := range all {
		uids[t.Owner] = t.UID
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.uids = uids
}

// uid is the one that the operator's objects for this change's owner carry.
func (v verb) uid() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.uids[v.Owner]
}

// taken refuses an object that is neither the operator's for this owner any more, and
// nobody else's, nor ours by now.
func (v verb) taken(what, id, project string, tags []string) error {
	theirs := project == v.project && !managedBy(tags) && slices.Equal(state.OperatorUIDs(tags), []string{v.uid()})
	if theirs || v.mine(project, tags) {
		return nil
	}
	return conflict("%s %s does not carry the operator's tag of %s alone any more", what, id, v.Owner)
}

// adoptGroup takes an operator's group over: tags, and the ledger with them, at one
// stroke, then the name, then the rules. From its tags on, the next run goes on with it.
func (v verb) adoptGroup(ctx context.Context) error {
	g, found, err := read[group](ctx, v.Driver, groupsPath, v.Before.Ref)
	switch {
	case err != nil:
		return err
	case !found:
		return conflict("security group %s does not exist any more", v.Before.Ref)
	}
	if err := v.taken("security group", g.ID, g.Project, g.Tags); err != nil {
		return err
	}
	return v.settleGroup(ctx, g, false)
}

// adoptPort takes an operator's port over, and brings it to what is planned.
func (v verb) adoptPort(ctx context.Context) (resource.GatewayFacts, error) {
	p, found, err := read[port](ctx, v.Driver, portsPath, v.Before.Ref)
	switch {
	case err != nil:
		return resource.GatewayFacts{}, err
	case !found:
		return resource.GatewayFacts{}, conflict("port %s does not exist any more", v.Before.Ref)
	}
	if err := v.taken("port", p.ID, p.Project, p.Tags); err != nil {
		return resource.GatewayFacts{}, err
	}
	own, err := v.ownGroup(ctx)
	if err != nil {
		return resource.GatewayFacts{}, err
	}
	if err := v.retag(ctx, portsPath, p.ID, p.Tags, v.tags()); err != nil {
		return p.facts(), err
	}
	if err := v.rename(ctx, portsPath, p.ID, p.Name, p.Description); err != nil {
		return p.facts(), err
	}
	return v.settlePort(ctx, p, own)
}

// adoptFloatingIP takes over an address that an operator allocated. One that a manifest
// pins by now becomes the customer's: it loses the operator's tag and gets none of ours.
func (v verb) adoptFloatingIP(ctx context.Context) (resource.GatewayFacts, error) {
	f, found, err := read[floatingIP](ctx, v.Driver, floatsPath, v.Before.Ref)
	switch {
	case err != nil:
		return resource.GatewayFacts{}, err
	case !found:
		return resource.GatewayFacts{}, conflict("floating IP %s does not exist any more", v.Before.FloatingIP.Address)
	}
	if err := v.taken("floating IP", f.Address, f.Project, f.Tags); err != nil {
		return resource.GatewayFacts{}, err
	}
	if v.After.FloatingIP.Pinned {
		err = v.retag(ctx, floatsPath, f.ID, f.Tags, nil)
	} else if err = v.retag(ctx, floatsPath, f.ID, f.Tags, v.tags()); err == nil && f.Description != v.description() {
		err = v.change(ctx, floatsPath, f.ID, map[string]any{"description": v.description()})
	}
	if err != nil {
		return f.facts(), fmt.Errorf("taking over floating IP %s: %w", f.Address, err)
	}
	return f.facts(), v.associate(ctx, f.ID)
}

// rename gives an object the name and the description that ours have.
func (v verb) rename(ctx context.Context, path, id, name, description string) error {
	if name == v.name() && description == v.description() {
		return nil
	}
	if err := v.change(ctx, path, id, map[string]any{"name": v.name(), "description": v.description()}); err != nil {
		return fmt.Errorf("naming %s %s: %w", singular(path), id, err)
	}
	return nil
}

// replaceRules makes an operator's rules anew, because a rule can't be changed, and what
// it is for says whose it is. Each is away for the moment between two calls; what is
// missing besides comes first, and what isn't planned goes.
func (v verb) replaceRules(ctx context.Context, g group) (group, error) {
	theirs, planned := map[resource.Rule]bool{}, map[resource.Rule]resource.Rule{}
	for _, r := range v.Before.SecurityGroup.Rules {
		theirs[r.Key()] = true
	}
	for _, r := range v.After.SecurityGroup.Rules {
		planned[r.Key()] = r
	}
	if err := v.addRules(ctx, g); err != nil {
		return g, fmt.Errorf("adding rules to security group %s: %w", g.ID, err)
	}
	for _, r := range g.Rules {
		key := canonical(r).Key()
		if ourRule(r) || !theirs[key] {
			continue
		}
		if _, err := v.call(ctx, http.MethodDelete, rulesPath+"/"+r.ID, nil, nil); err != nil && !answered(err, http.StatusNotFound) {
			return g, fmt.Errorf("replacing rule %s of security group %s: %w", r.ID, g.ID, err)
		}
		if again, wanted := planned[key]; wanted {
			if err := v.addRule(ctx, g.ID, again); err != nil {
				return g, fmt.Errorf("replacing rule %s of security group %s: %w", r.ID, g.ID, err)
			}
		}
	}
	again, found, err := read[group](ctx, v.Driver, groupsPath, g.ID)
	if err == nil && !found {
		err = conflict("security group %s does not exist any more", g.ID)
	}
	return again, err
}

// adopts tells whether the change takes something over.
func (v verb) adopts() bool { return v.Action == plan.Adopt }
