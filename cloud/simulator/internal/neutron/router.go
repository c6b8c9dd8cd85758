package neutron

import (
	"net/netip"
	"slices"

	"github.com/vpnctl/vpnctl/cloud/simulator/internal/store"
)

func (s *Service) routers() endpoint {
	return &collection[store.Router, *store.Router]{
		one: "router", many: "routers", noun: "Router", table: s.DB.Routers,
		empty: func() *store.Router {
			return &store.Router{AdminStateUp: true, Status: "ACTIVE", AvailabilityZones: []string{}}
		},
		create: func(c *call, r *store.Router, _ body) error {
			if err := c.room("router", r.ProjectID); err != nil {
				return err
			}
			return connect(c, nil, r)
		},
		update: updateRouter,
		remove: removeRouter,
	}
}

func updateRouter(c *call, old, next *store.Router, given body) error {
	if given.has("routes") {
		if err := checkRoutes(c, next); err != nil {
			return err
		}
	}
	if given.has("external_gateway_info") {
		return connect(c, old, next)
	}
	c.db.Routers.Put(next)
	return nil
}

func removeRouter(c *call, r *store.Router) error {
	if len(interfaces(c.db, r.ID)) > 0 {
		return conflict("RouterInUse", "Router %s still has ports", r.ID)
	}
	dropGateway(c, r.ID)
	c.db.Routers.Delete(r.ID)
	return nil
}

// portsOf are the ports of a device with that owner.
func portsOf(db *store.DB, device, owner string) []*store.Port {
	return slices.DeleteFunc(db.PortsOf(device), func(p *store.Port) bool { return p.DeviceOwner != owner })
}

func interfaces(db *store.DB, router string) []*store.Port {
	return portsOf(db, router, routerInterface)
}

func dropGateway(c *call, router string) {
	for _, p := range portsOf(c.db, router, routerGateway) {
		removePort(c.db, p, c.stamp())
	}
}

// connect makes the router's connection to the external network what next says, and puts next.
func connect(c *call, old, next *store.Router) error {
	if old != nil && old.Gateway != nil && (next.Gateway == nil || next.Gateway.NetworkID != old.Gateway.NetworkID) {
		for f := range c.db.FloatingIPs.All() {
			if f.RouterID != nil && *f.RouterID == old.ID {
				return conflict("RouterExternalGatewayInUseByFloatingIp", "Gateway cannot be updated for router %s, since a gateway to external network %s is required by one or more floating IPs.", old.ID, old.Gateway.NetworkID)
			}
		}
		dropGateway(c, old.ID)
	}
	if next.Gateway == nil || next.Gateway.NetworkID == "" {
		next.Gateway = nil
		c.db.Routers.Put(next)
		return nil
	}
	n, err := c.network(next.Gateway.NetworkID)
	if err != nil {
		return err
	}
	if !n.External {
		return invalid("BadRequest", "Bad router request: Network %s is not an external network.", n.ID)
	}
	gw := &store.Gateway{NetworkID: n.ID, EnableSNAT: true}
	if old != nil && old.Gateway != nil && old.Gateway.NetworkID == n.ID {
		gw.ExternalFixedIPs = old.Gateway.ExternalFixedIPs
	} else if gw.ExternalFixedIPs, err = gatewayPort(c, next.ID, n, next.Gateway.ExternalFixedIPs); err != nil {
		return err
	}
	next.Gateway = gw
	c.db.Routers.Put(next)
	return nil
}

func gatewayPort(c *call, router string, n *store.Network, asked []store.FixedIP) ([]store.FixedIP, error) {
	var wants []want
	for _, ip := range asked {
		wants = append(wants, want(ip))
	}
	p, err := devicePort(c, n, router, routerGateway, wants, len(wants) > 0)
	if err != nil {
		return nil, err
	}
	return p.FixedIPs, nil
}

// devicePort makes a port that belongs to nobody, for a router's gateway or a floating IP.
func devicePort(c *call, n *store.Network, device, owner string, wants []want, said bool) (*store.Port, error) {
	ips, chosen, err := assign(c.db, n.ID, wants, said, nil)
	if err != nil {
		return nil, err
	}
	p := &store.Port{Owned: store.Owned{ID: c.db.NewID()}, NetworkID: n.ID, MACAddress: c.db.NewMAC(), AdminStateUp: true,
		Status: "DOWN", DeviceID: device, DeviceOwner: owner, FixedIPs: ips, Chosen: chosen, VNICType: "normal", VIFType: "unbound"}
	c.born(&p.Standard)
	c.db.Ports.Put(p)
	return p, nil
}

// connected returns the subnets that a router reaches directly, with its own address in each.
func connected(db *store.DB, r *store.Router) map[netip.Prefix]string {
	out := map[netip.Prefix]string{}
	add := func(ips []store.FixedIP) {
		for _, ip := range ips {
			if s, ok := db.Subnets.Get(ip.SubnetID); ok {
				if p, err := netip.ParsePrefix(s.CIDR); err == nil {
					out[p] = ip.IPAddress
				}
			}
		}
	}
	for _, p := range interfaces(db, r.ID) {
		add(p.FixedIPs)
	}
	for _, p := range portsOf(db, r.ID, routerGateway) {
		add(p.FixedIPs)
	}
	return out
}
