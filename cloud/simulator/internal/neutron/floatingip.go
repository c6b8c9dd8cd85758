package neutron

import (
	"encoding/json"
	"net/netip"

	"github.com/vpnctl/vpnctl/cloud/simulator/internal/store"
)

func (s *Service) floatingIPs() endpoint {
	return &collection[store.FloatingIP, *store.FloatingIP]{
		one: "floatingip", many: "floatingips", noun: "FloatingIP", table: s.DB.FloatingIPs,
		required: []string{"floating_network_id"},
		prepare:  func(given body) { delete(given, "subnet_id") },
		empty:    func() *store.FloatingIP { return &store.FloatingIP{Status: "DOWN"} },
		extra:    &extra[*store.FloatingIP]{name: "port_details", text: portDetails},
		create:   createFloatingIP,
		update:   updateFloatingIP,
		remove:   removeFloatingIP,
	}
}

// portDetails is what a floating IP shows of its port.
func portDetails(c *call, f *store.FloatingIP) []byte {
	if f.PortID == nil {
		return []byte("null")
	}
	p, ok := c.db.Ports.Get(*f.PortID)
	if !ok {
		return []byte("null")
	}
	raw, err := json.Marshal(map[string]any{"name": p.Name, "network_id": p.NetworkID, "mac_address": p.MACAddress,
		"admin_state_up": p.AdminStateUp, "status": p.Status, "device_id": p.DeviceID, "device_owner": p.DeviceOwner})
	if err != nil {
		return []byte("null")
	}
	return raw
}

func createFloatingIP(c *call, f *store.FloatingIP, _ body) error {
	n, err := c.network(f.FloatingNetworkID)
	if err != nil {
		return err
	}
	if !n.External {
		return invalid("BadRequest", "Bad floatingip request: Network %s is not a valid external network.", n.ID)
	}
	if err := c.room("floatingip", f.ProjectID); err != nil {
		return err
	}
	var wants []want
	if f.FloatingIPAddress != "" {
		f.Chosen, wants = true, []want{{IPAddress: f.FloatingIPAddress}}
	}
	p, err := devicePort(c, n, f.ID, floatingOwner, wants, len(wants) > 0)
	if err != nil {
		return err
	}
	if len(p.FixedIPs) == 0 {
		return conflict("ExternalIpAddressExhausted", "Unable to find any IP address on external network %s.", n.ID)
	}
	f.FloatingIPAddress = p.FixedIPs[0].IPAddress
	return associate(c, f)
}

func updateFloatingIP(c *call, old, next *store.FloatingIP, given body) error {
	if !given.has("port_id") && !given.has("fixed_ip_address") {
		c.db.FloatingIPs.Put(next)
		return nil
	}
	if !given.has("fixed_ip_address") {
		next.FixedIPAddress = nil
	}
	return associate(c, next)
}

// associate makes the association what f's port says, and puts f. A floating IP that is on another port moves
// without an error, as it does on a real cloud.
func associate(c *call, f *store.FloatingIP) error {
	if f.PortID == nil || *f.PortID == "" {
		f.PortID, f.FixedIPAddress, f.RouterID = nil, nil, nil
	} else if err := c.reach(f); err != nil {
		return err
	}
	c.db.FloatingIPs.Put(f)
	if (f.PortID != nil) != (f.Status == "ACTIVE") {
		schedule(c.db, store.PendingStatus, f.ID, c.req.Now, c.Later.Status)
	}
	return nil
}

// reach finds the fixed IP and the router for the port that f names.
func (c *call) reach(f *store.FloatingIP) error {
	p, ok := c.db.Ports.Get(*f.PortID)
	if !ok || !c.mine(p.ProjectID) {
		return missing("PortNotFound", "Port %s could not be found.", *f.PortID)
	}
	if p.ProjectID != f.ProjectID {
		return invalid("BadRequest", "Bad floatingip request: Port %s is associated with a different tenant than Floating IP %s and therefore cannot be bound.", p.ID, f.ID)
	}
	fixed, err := fixedFor(p, f.FixedIPAddress)
	if err != nil {
		return err
	}
	for _, other := range c.db.FloatingIPsOn(p.ID) {
		if other.ID != f.ID && other.FixedIPAddress != nil && *other.FixedIPAddress == fixed.IPAddress && other.FloatingNetworkID == f.FloatingNetworkID {
			return conflict("FloatingIPPortAlreadyAssociated", "Cannot associate floating IP %s (%s) with port %s using fixed IP %s, as that fixed IP already has a floating IP on external network %s.",
				f.FloatingIPAddress, f.ID, p.ID, fixed.IPAddress, f.FloatingNetworkID)
		}
	}
	router, ok := c.routerBetween(fixed.SubnetID, f.FloatingNetworkID)
	if !ok {
		return missing("ExternalGatewayForFloatingIPNotFound", "External network %s is not reachable from subnet %s.  Therefore, cannot associate Port %s with a Floating IP.",
			f.FloatingNetworkID, fixed.SubnetID, p.ID)
	}
	f.FixedIPAddress, f.RouterID = &fixed.IPAddress, &router
	return nil
}

// fixedFor chooses the fixed IP of a port that the floating IP stands for.
func fixedFor(p *store.Port, asked *string) (store.FixedIP, error) {
	var v4 []store.FixedIP
	for _, ip := range p.FixedIPs {
		if a, err := netip.ParseAddr(ip.IPAddress); err == nil && a.Is4() {
			v4 = append(v4, ip)
		}
		if asked != nil && *asked == ip.IPAddress {
			return ip, nil
		}
	}
	switch {
	case asked != nil:
		return store.FixedIP{}, invalid("BadRequest", "Bad floatingip request: Port %s does not have fixed ip %s.", p.ID, *asked)
	case len(v4) == 0:
		return store.FixedIP{}, invalid("BadRequest", "Bad floatingip request: Cannot add floating IP to port %s that has no fixed IPv4 addresses.", p.ID)
	case len(v4) > 1:
		return store.FixedIP{}, invalid("BadRequest", "Bad floatingip request: Port %s has multiple fixed IPv4 addresses. Must provide a specific IPv4 address when assigning a floating IP.", p.ID)
	}
	return v4[0], nil
}

// routerBetween finds a router with an interface on the subnet and its gateway on the external network.
func (c *call) routerBetween(subnet, external string) (string, bool) {
	for r := range c.db.Routers.All() {
		if r.Gateway == nil || r.Gateway.NetworkID != external {
			continue
		}
		for _, p := range interfaces(c.db, r.ID) {
			for _, ip := range p.FixedIPs {
				if ip.SubnetID == subnet {
					return r.ID, true
				}
			}
		}
	}
	return "", false
}

func removeFloatingIP(c *call, f *store.FloatingIP) error {
	for _, p := range portsOf(c.db, f.ID, floatingOwner) {
		c.db.Ports.Delete(p.ID)
	}
	c.db.FloatingIPs.Delete(f.ID)
	c.db.Pendings.Delete(store.PendingStatus + "/" + f.ID)
	return nil
}
