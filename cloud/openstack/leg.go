package openstack

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
)

// routerPort begins the device owner of a port that is a router's interface.
const routerPort = "network:router_interface"

// joins is the router whose interface a port is; empty: none's.
func (p port) joins() string {
	if strings.HasPrefix(p.DeviceOwner, routerPort) || strings.HasPrefix(p.DeviceOwner, "network:ha_router_replicated_interface") {
		return p.Device
	}
	return ""
}

// applyLeg makes, joins, takes over or deletes a link's transit leg.
func (v verb) applyLeg(ctx context.Context) (resource.GatewayFacts, error) {
	switch v.Action {
	case plan.Create:
		return v.createLeg(ctx)
	case plan.Update:
		p, err := v.ownLeg(ctx)
		if err != nil {
			return resource.GatewayFacts{}, err
		}
		return p.facts(), v.join(ctx, p)
	case plan.Adopt:
		return v.adoptLeg(ctx)
	case plan.Delete:
		return resource.GatewayFacts{}, v.deleteLeg(ctx)
	}
	return resource.GatewayFacts{}, v.unknown()
}

// createLeg makes the port on the address that the ledger holds, and then the interface.
// Neutron gives an address once: that is the claim. On a network that is shared with a
// customer Neutron chooses the address, which the customer may not.
func (v verb) createLeg(ctx context.Context) (resource.GatewayFacts, error) {
	p, justMade, err := create(ctx, v.Driver,
		func() (port, bool, error) { return v.findLeg(ctx) },
		func() (port, error) { return v.postLeg(ctx) })
	if typed(err, "IpAddressAlreadyAllocated") {
		err = fmt.Errorf("somebody took %s meanwhile: %w", v.After.TransitLeg.Address, err)
	}
	if err != nil {
		return resource.GatewayFacts{}, fmt.Errorf("creating transit leg %s: %w", v.Owner.Path(), err)
	}
	v.note(resource.KindTransitLeg, p.ID)
	if err := v.brand(ctx, portsPath, p.ID, p.Tags, v.tags(), justMade); err != nil {
		return resource.GatewayFacts{}, err
	}
	return p.facts(), v.join(ctx, p)
}

func (v verb) postLeg(ctx context.Context) (port, error) {
	var body struct {
		Port port `json:"port"`
	}
	at := fixedIP{Subnet: v.subnet.ID}
	if v.After.TransitLeg.Project == "" {
		at.Address = v.After.TransitLeg.Address
	}
	_, err := v.call(ctx, http.MethodPost, portsPath, map[string]any{"port": map[string]any{
		"network_id": v.network.ID, "fixed_ips": []fixedIP{at},
		"name": v.name(), "description": v.description(), "security_groups": []string{},
	}}, &body)
	return body.Port, err
}

// findLeg finds the leg that an earlier run made, whole or cut off.
//
//	our tags, the wanted address        ours: go on with it
//	no tags, no device, that address    a create that was cut off: complete it
//	a customer's, which chooses none    as with the wanted address
//	our name and description, otherwise refused
func (v verb) findLeg(ctx context.Context) (port, bool, error) {
	all, err := lookAlikes[port](ctx, v, portsPath)
	if err != nil {
		return port{}, false, err
	}
	slices.SortFunc(all, func(a, b port) int { return older(a.Created, b.Created, a.ID, b.ID) })
	for _, p := range all {
		ours := v.mine(p.Project, p.Tags)
		at := p.facts().PortAddress
		fits := at.String() == v.After.TransitLeg.Address || v.After.TransitLeg.Project != "" && v.prefix.Contains(at)
		switch wanted := p.Network == v.network.ID && fits; {
		case ours && wanted, wanted && p.Device == "" && looseFor(v.estate, v.Owner, p.Name, p.Description, p.Tags):
			return p, true, nil
		case ours:
			return port{}, false, conflict("port %s of %s has another address or network", p.ID, v.Owner)
		case !looseFor(v.estate, v.Owner, p.Name, p.Description, p.Tags):
			return port{}, false, v.notMine("port", p.ID)
		case p.Device != "":
			return port{}, false, v.lostTags("port", p.ID)
		}
	}
	return port{}, false, nil
}

// ownLeg reads the leg that the plan saw, which must be ours still.
func (v verb) ownLeg(ctx context.Context) (port, error) {
	p, found, err := read[port](ctx, v.Driver, portsPath, v.Before.Ref)
	switch {
	case err != nil:
		return port{}, err
	case !found:
		return port{}, conflict("port %s does not exist any more", v.Before.Ref)
	case !v.mine(p.Project, p.Tags):
		return port{}, v.notMine("port", p.ID)
	}
	return p, nil
}

// join makes the port an interface of the planned router. After an error the port itself
// tells whether it is one.
func (v verb) join(ctx context.Context, p port) error {
	router := v.After.TransitLeg.Router
	doing := fmt.Sprintf("joining port %s to router %s", p.ID, v.After.TransitLeg.RouterName)
	switch {
	case p.joins() == router:
		return nil
	case p.Device != "":
		return cloud.During(cloud.StepJoin, fmt.Errorf("%s: %w", doing, conflict("it is used as %s by %s", p.DeviceOwner, p.Device)))
	}
	_, err := v.call(ctx, http.MethodPut, routersPath+"/"+router+"/add_router_interface", map[string]any{"port_id": p.ID}, nil)
	if err == nil {
		return nil
	}
	now, found, reading := read[port](ctx, v.Driver, portsPath, p.ID)
	switch {
	case reading != nil:
		err = fmt.Errorf("%w; %w", err, reading)
	case found && now.joins() == router:
		return nil
	}
	return cloud.During(cloud.StepJoin, fmt.Errorf("%s: %w", doing, err))
}

// adoptLeg puts our tags on a leg that somebody else has made, as long as it is nobody's
// and still the interface of the planned router.
func (v verb) adoptLeg(ctx context.Context) (resource.GatewayFacts, error) {
	p, found, err := read[port](ctx, v.Driver, portsPath, v.Before.Ref)
	switch {
	case err != nil:
		return resource.GatewayFacts{}, err
	case !found:
		return resource.GatewayFacts{}, conflict("port %s does not exist any more", v.Before.Ref)
	case v.mine(p.Project, p.Tags):
	case claimed(p.Tags):
		return resource.GatewayFacts{}, v.notMine("port", p.ID)
	case p.Project != v.project || p.joins() != v.After.TransitLeg.Router:
		return resource.GatewayFacts{}, conflict("port %s is no interface of router %s in this project any more", p.ID, v.After.TransitLeg.RouterName)
	}
	v.note(resource.KindTransitLeg, p.ID)
	return p.facts(), v.retag(ctx, portsPath, p.ID, p.Tags, v.tags())
}

// deleteLeg takes the interface from its router, with which Neutron deletes the port. A
// port without one is deleted by itself, and so is one whose router can't be found.
func (v verb) deleteLeg(ctx context.Context) error {
	p, found, err := read[port](ctx, v.Driver, portsPath, v.Before.Ref)
	if err != nil || !found {
		return err
	}
	switch {
	case v.Before.CutOff && (p.Device != "" || !looseFor(v.estate, v.Owner, p.Name, p.Description, p.Tags)):
		return conflict("port %s is no cut-off create any more", p.ID)
	case !v.Before.CutOff && !v.mine(p.Project, p.Tags):
		return v.notMine("port", p.ID)
	case p.Device != "" && p.joins() == "":
		return conflict("port %s is used as %s by %s", p.ID, p.DeviceOwner, p.Device)
	}
	v.forget(resource.KindTransitLeg)
	if router := p.joins(); router != "" {
		_, err := v.call(ctx, http.MethodPut, routersPath+"/"+router+"/remove_router_interface", map[string]any{"port_id": p.ID}, nil)
		if err != nil && !answered(err, http.StatusNotFound) {
			return fmt.Errorf("taking port %s from router %s: %w", p.ID, v.Before.TransitLeg.RouterName, err)
		}
	}
	return v.remove(ctx, portsPath, p.ID)
}
