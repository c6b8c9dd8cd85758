package neutron

import (
	"encoding/json"
	"net/http"
	"net/netip"

	"github.com/vpnctl/vpnctl/cloud/simulator/internal/store"
	"github.com/vpnctl/vpnctl/cloud/simulator/internal/wire"
)

// routerAction is PUT /v2.0/routers/<id>/<what>.
func (c *call) routerAction(id, what string) (*wire.Answer, error) {
	old, ok := c.db.Routers.Get(id)
	if !ok || c.req.Hidden(id) || !c.mine(old.ProjectID) {
		return nil, missing("RouterNotFound", "Router %s could not be found", id)
	}
	if err := c.guard(&old.Standard); err != nil {
		return nil, err
	}
	next := *old
	c.bump(&next.Standard)
	var a *wire.Answer
	err := c.db.Try(func() (err error) {
		switch what {
		case "add_extraroutes":
			a, err = c.extraRoutes(&next, addRoutes)
		case "remove_extraroutes":
			a, err = c.extraRoutes(&next, removeRoutes)
		case "add_router_interface":
			a, err = c.addInterface(&next)
		case "remove_router_interface":
			a, err = c.removeInterface(&next)
		default:
			err = errNoResource
		}
		return err
	})
	return a, err
}

// target is the body of both interface calls.
type target struct {
	PortID   string `json:"port_id"`
	SubnetID string `json:"subnet_id"`
}

func (c *call) target() (target, error) {
	var t target
	if err := json.Unmarshal(c.req.Body, &t); err != nil || t.PortID == "" && t.SubnetID == "" {
		return t, invalid("BadRequest", "Bad router request: Either subnet_id or port_id must be specified.")
	}
	return t, nil
}

func (c *call) addInterface(r *store.Router) (*wire.Answer, error) {
	t, err := c.target()
	if err != nil {
		return nil, err
	}
	if t.PortID != "" && t.SubnetID != "" {
		return nil, invalid("BadRequest", "Bad router request: Cannot specify both subnet-id and port-id.")
	}
	var p *store.Port
	if t.PortID != "" {
		p, err = c.portForRouter(t.PortID)
	} else {
		p, err = c.portOnSubnet(r, t.SubnetID)
	}
	if err != nil {
		return nil, err
	}
	if err := c.fits(r, p.FixedIPs); err != nil {
		return nil, err
	}
	next := *p
	next.DeviceID, next.DeviceOwner = r.ID, routerInterface
	c.bump(&next.Standard)
	c.db.Ports.Put(&next)
	c.db.Routers.Put(r)
	return interfaceAnswer(r, &next), nil
}

// portForRouter is a port that was made for the purpose.
func (c *call) portForRouter(id string) (*store.Port, error) {
	p, ok := c.db.Ports.Get(id)
	if !ok || !c.mine(p.ProjectID) {
		return nil, missing("PortNotFound", "Port %s could not be found.", id)
	}
	if p.DeviceID != "" {
		return nil, conflict("PortInUse", "Unable to complete operation on port %s for network %s. Port already has an attached device %s.", p.ID, p.NetworkID, p.DeviceID)
	}
	if len(p.FixedIPs) == 0 {
		return nil, invalid("BadRequest", "Bad router request: Router port must have at least one fixed IP.")
	}
	return p, nil
}

// portOnSubnet makes a port with the subnet's gateway address.
func (c *call) portOnSubnet(r *store.Router, id string) (*store.Port, error) {
	s, ok := c.db.Subnets.Get(id)
	if !ok {
		return nil, missing("SubnetNotFound", "Subnet %s could not be found.", id)
	}
	n, err := c.network(s.NetworkID)
	if err != nil {
		return nil, missing("SubnetNotFound", "Subnet %s could not be found.", id)
	}
	if s.GatewayIP == nil {
		return nil, invalid("BadRequest", "Bad router request: Subnet for router interface must have a gateway IP.")
	}
	if !c.mine(n.ProjectID) {
		return nil, disallowed("create_port:fixed_ips:ip_address")
	}
	if err := c.fits(r, []store.FixedIP{{SubnetID: s.ID}}); err != nil {
		return nil, err
	}
	ips, _, err := assign(c.db, s.NetworkID, []want{{s.ID, *s.GatewayIP}}, true, nil)
	if err != nil {
		return nil, err
	}
	p := &store.Port{Owned: store.Owned{ID: c.db.NewID(), ProjectID: r.ProjectID, TenantID: r.ProjectID}, NetworkID: s.NetworkID,
		MACAddress: c.db.NewMAC(), AdminStateUp: true, Status: "DOWN", FixedIPs: ips, Chosen: []string{*s.GatewayIP},
		VNICType: "normal", VIFType: "unbound"}
	c.born(&p.Standard)
	return p, nil
}

// fits refuses a subnet that the router is on already, or whose addresses it has elsewhere.
func (c *call) fits(r *store.Router, ips []store.FixedIP) error {
	have := connected(c.db, r)
	for _, ip := range ips {
		s, ok := c.db.Subnets.Get(ip.SubnetID)
		if !ok {
			continue
		}
		prefix, err := netip.ParsePrefix(s.CIDR)
		if err != nil {
			return err
		}
		for other := range have {
			if other.Overlaps(prefix) {
				return invalid("BadRequest", "Bad router request: Cidr %s of subnet %s overlaps with cidr %s of another subnet of the router.", prefix, s.ID, other)
			}
		}
	}
	return nil
}

func (c *call) removeInterface(r *store.Router) (*wire.Answer, error) {
	t, err := c.target()
	if err != nil {
		return nil, err
	}
	for _, p := range interfaces(c.db, r.ID) {
		on := false
		for _, ip := range p.FixedIPs {
			on = on || ip.SubnetID == t.SubnetID
		}
		if t.PortID != "" && t.PortID != p.ID || t.SubnetID != "" && !on {
			continue
		}
		if err := c.spare(r, p); err != nil {
			return nil, err
		}
		removePort(c.db, p, c.stamp())
		c.db.Routers.Put(r)
		return interfaceAnswer(r, p), nil
	}
	if t.PortID != "" {
		return nil, missing("RouterInterfaceNotFound", "Router %s does not have an interface with id %s", r.ID, t.PortID)
	}
	return nil, missing("RouterInterfaceNotFoundForSubnet", "Router %s has no interface on subnet %s", r.ID, t.SubnetID)
}

// spare refuses to take away what floating IPs or routes need.
func (c *call) spare(r *store.Router, p *store.Port) error {
	for _, ip := range p.FixedIPs {
		s, ok := c.db.Subnets.Get(ip.SubnetID)
		if !ok {
			continue
		}
		prefix, err := netip.ParsePrefix(s.CIDR)
		if err != nil {
			return err
		}
		inside := func(address string) bool {
			a, err := netip.ParseAddr(address)
			return err == nil && prefix.Contains(a)
		}
		for f := range c.db.FloatingIPs.All() {
			if f.RouterID != nil && *f.RouterID == r.ID && f.FixedIPAddress != nil && inside(*f.FixedIPAddress) {
				return conflict("RouterInterfaceInUseByFloatingIP", "Router interface for subnet %s on router %s cannot be deleted, as it is required by one or more floating IPs.", s.ID, r.ID)
			}
		}
		for _, route := range r.Routes {
			if inside(route.NextHop) {
				return conflict("RouterInterfaceInUseByRoute", "Router interface for subnet %s on router %s cannot be deleted, as it is required by one or more routes.", s.ID, r.ID)
			}
		}
	}
	return nil
}

func interfaceAnswer(r *store.Router, p *store.Port) *wire.Answer {
	subnets := []string{}
	for _, ip := range p.FixedIPs {
		subnets = append(subnets, ip.SubnetID)
	}
	first := ""
	if len(subnets) > 0 {
		first = subnets[0]
	}
	return wire.JSON(http.StatusOK, map[string]any{"id": r.ID, "tenant_id": r.ProjectID, "project_id": r.ProjectID,
		"port_id": p.ID, "network_id": p.NetworkID, "subnet_id": first, "subnet_ids": subnets})
}
