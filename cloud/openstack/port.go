package openstack

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"slices"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
)

const portsPath = "ports"

// applyPort makes, changes or deletes a gateway's port and its attachment.
func (v verb) applyPort(ctx context.Context) (resource.GatewayFacts, error) {
	switch v.Action {
	case plan.Create:
		return v.createPort(ctx)
	case plan.Update:
		return v.updatePort(ctx)
	case plan.Adopt:
		return v.adoptPort(ctx)
	case plan.Replace:
		if err := v.deletePort(ctx); err != nil {
			return resource.GatewayFacts{}, err
		}
		return v.createPort(ctx)
	case plan.Delete:
		return resource.GatewayFacts{}, v.deletePort(ctx)
	}
	return resource.GatewayFacts{}, v.unknown()
}

func (v verb) createPort(ctx context.Context) (resource.GatewayFacts, error) {
	own, err := v.ownGroup(ctx)
	if err != nil {
		return resource.GatewayFacts{}, err
	}
	p, justMade, err := create(ctx, v.Driver,
		func() (port, bool, error) { return v.findPort(ctx) },
		func() (port, error) { return v.postPort(ctx, own) })
	if err != nil {
		return resource.GatewayFacts{}, fmt.Errorf("creating port %s: %w", v.Owner.Path(), err)
	}
	v.note(resource.KindPort, p.ID)
	if err := v.brand(ctx, portsPath, p.ID, p.Tags, v.tags(), justMade); err != nil {
		return resource.GatewayFacts{}, err
	}
	if p.Device == "" { // made by this run, or by one that was cut off, or is at it
		if err := v.yield(ctx, p); err != nil {
			return resource.GatewayFacts{}, err
		}
	}
	return v.settlePort(ctx, p, own)
}

func (v verb) postPort(ctx context.Context, own string) (port, error) {
	pairs := []pair{}
	for _, p := range v.After.Port.Pairs {
		pairs = append(pairs, pair{Address: p.String()})
	}
	var body struct {
		Port port `json:"port"`
	}
	_, err := v.call(ctx, http.MethodPost, portsPath, map[string]any{"port": map[string]any{
		"network_id": v.network.ID, "fixed_ips": []fixedIP{{Subnet: v.subnet.ID}},
		"name": v.name(), "description": v.description(),
		"security_groups": []string{own}, "allowed_address_pairs": pairs,
	}}, &body)
	return body.Port, err
}

// findPort finds the port that an earlier run made, whole or cut off.
//
//	our tags                        ours: go on with it
//	no tags, no device              a create that was cut off: complete it
//	no tags, otherwise              it lost them: refused
func (v verb) findPort(ctx context.Context) (port, bool, error) {
	all, err := lookAlikes[port](ctx, v, portsPath)
	if err != nil {
		return port{}, false, err
	}
	slices.SortFunc(all, func(a, b port) int { return older(a.Created, b.Created, a.ID, b.ID) })
	for _, p := range all {
		if v.mine(p.Project, p.Tags) && p.Network == v.network.ID {
			return p, true, nil
		}
	}
	for _, p := range all {
		switch {
		case v.mine(p.Project, p.Tags):
			return port{}, false, conflict("port %s of %s is on another network", p.ID, v.Owner)
		case !looseFor(v.estate, v.Owner, p.Name, p.Description, p.Tags):
			return port{}, false, v.notMine("port", p.ID)
		case p.Device != "":
			return port{}, false, v.lostTags("port", p.ID)
		}
	}
	for _, p := range all {
		if p.Network == v.network.ID {
			return p, true, nil
		}
	}
	return port{}, false, nil
}

func (v verb) updatePort(ctx context.Context) (resource.GatewayFacts, error) {
	p, found, err := read[port](ctx, v.Driver, portsPath, v.Before.Ref)
	switch {
	case err != nil:
		return resource.GatewayFacts{}, err
	case !found:
		return resource.GatewayFacts{}, conflict("port %s does not exist any more", v.Before.Ref)
	case !v.mine(p.Project, p.Tags):
		return resource.GatewayFacts{}, v.notMine("port", p.ID)
	}
	own, err := v.ownGroup(ctx)
	if err != nil {
		return resource.GatewayFacts{}, err
	}
	return v.settlePort(ctx, p, own)
}

// settlePort brings groups, pairs and attachment to what is planned.
func (v verb) settlePort(ctx context.Context, p port, own string) (resource.GatewayFacts, error) {
	if err := v.expected(p); err != nil {
		return p.facts(), err
	}
	if err := v.destination(ctx, p); err != nil {
		return p.facts(), err
	}
	attributes := map[string]any{}
	if !slices.Contains(p.Groups, own) {
		attributes["security_groups"] = append(slices.Clone(p.Groups), own)
	}
	pairs := v.pairs(p)
	repaired := !samePairs(pairs, p.Pairs)
	if repaired {
		attributes["allowed_address_pairs"] = pairs
	}
	if off(p.Security) { // with the groups and pairs that it was stripped of
		attributes["port_security_enabled"] = true
	}
	if off(p.Up) {
		attributes["admin_state_up"] = true
	}
	if len(attributes) > 0 {
		if err := v.change(ctx, portsPath, p.ID, attributes); err != nil {
			err = fmt.Errorf("updating port %s: %w", p.ID, err)
			if repaired {
				err = cloud.During(cloud.StepPairs, err)
			}
			return p.facts(), err
		}
	}
	err := cloud.During(cloud.StepAttach, v.settleAttachment(ctx, p))
	facts := p.facts()
	if err == nil {
		facts.ServerID = v.After.Port.Server
	}
	return facts, err
}

// pairs are the planned ones, those of other hands before them as they are.
func (v verb) pairs(p port) []pair {
	ours := map[netip.Prefix]bool{}
	for _, x := range v.After.Port.Pairs {
		ours[x] = true
	}
	if v.Before != nil && v.Before.Port != nil {
		for _, x := range v.Before.Port.Pairs {
			ours[x] = true
		}
	}
	kept := []pair{}
	there := map[netip.Prefix]bool{}
	for _, x := range p.Pairs {
		prefix, ok := p.prefix(x)
		if !ok || !ours[prefix] || slices.Contains(v.After.Port.Pairs, prefix) {
			kept = append(kept, x)
			there[prefix] = there[prefix] || ok
		}
	}
	for _, x := range v.After.Port.Pairs {
		if !there[x] {
			kept = append(kept, pair{Address: x.String()})
		}
	}
	return kept
}

func samePairs(a, b []pair) bool {
	return slices.EqualFunc(a, b, func(x, y pair) bool { return x == y })
}

// deletePort detaches a port that is ours, waits until it is free, and deletes
// it; a create that was cut off has no device.
func (v verb) deletePort(ctx context.Context) error {
	p, found, err := read[port](ctx, v.Driver, portsPath, v.Before.Ref)
	if err != nil || !found {
		return err
	}
	switch {
	case v.Before.CutOff && (p.Device != "" || !looseFor(v.estate, v.Owner, p.Name, p.Description, p.Tags)):
		return conflict("port %s is no cut-off create any more", p.ID)
	case !v.Before.CutOff && !v.mine(p.Project, p.Tags):
		return v.notMine("port", p.ID)
	}
	if v.After != nil { // it is made anew elsewhere
		if err := v.destination(ctx, p); err != nil {
			return err
		}
		if err := v.withdraw(ctx, p); err != nil {
			return err
		}
	}
	if err := v.detach(ctx, p); err != nil {
		return err
	}
	v.forget(resource.KindPort)
	return v.remove(ctx, portsPath, p.ID)
}

// ownPort is the ID of the gateway's port, which floating IPs lead to.
func (v verb) ownPort(ctx context.Context) (string, bool, error) {
	if id := v.noted(resource.KindPort); id != "" {
		return id, true, nil
	}
	all, err := byTags[port](ctx, v, portsPath)
	if err != nil {
		return "", false, err
	}
	all = slices.DeleteFunc(all, func(p port) bool { return !v.mine(p.Project, p.Tags) })
	if len(all) == 0 {
		return "", false, nil
	}
	first := slices.MinFunc(all, func(a, b port) int {
		if a.attached() != b.attached() {
			return b.attached() - a.attached()
		}
		return older(a.Created, b.Created, a.ID, b.ID)
	})
	return first.ID, true, nil
}
