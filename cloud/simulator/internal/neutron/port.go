package neutron

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/cloud/simulator/internal/store"
)

// The owners of ports that no one may delete directly.
const (
	routerInterface = "network:router_interface"
	routerGateway   = "network:router_gateway"
	floatingOwner   = "network:floatingip"
)

func (s *Service) ports() endpoint {
	return &collection[store.Port, *store.Port]{
		one: "port", many: "ports", noun: "Port", table: s.DB.Ports,
		required: []string{"network_id"},
		ignored:  []string{"tags"}, // accepted and lost unless tag-ports-during-bulk-creation is on
		empty: func() *store.Port {
			return &store.Port{AdminStateUp: true, Status: "DOWN", PortSecurity: true, VNICType: "normal", VIFType: "unbound"}
		},
		sees:   ownsNetworkOf,
		mayCut: ownsNetworkOf,
		match:  matchFixedIPs,
		create: createPort,
		update: updatePort,
		remove: func(c *call, p *store.Port) error {
			if slices.Contains([]string{routerInterface, routerGateway, floatingOwner}, p.DeviceOwner) {
				return conflict("ServicePortInUse", "Port %s cannot be deleted directly via the port API: has device owner %s.", p.ID, p.DeviceOwner)
			}
			removePort(c.db, p, c.stamp())
			return nil
		},
	}
}

// ownsNetworkOf: the owner of a network sees and deletes all ports on it.
func ownsNetworkOf(c *call, p *store.Port) bool {
	n, ok := c.db.Networks.Get(p.NetworkID)
	return ok && p.ProjectID != "" && n.ProjectID == c.who.ProjectID
}

func createPort(c *call, p *store.Port, given body) error {
	n, err := c.network(p.NetworkID)
	if err != nil {
		return err
	}
	if err := portPolicy(c, n, p, given, "create_port"); err != nil {
		return err
	}
	if err := c.room("port", p.ProjectID); err != nil {
		return err
	}
	if !given.has("port_security_enabled") {
		p.PortSecurity = n.PortSecurity
	}
	wants, said, err := wishes(given)
	if err != nil {
		return err
	}
	if p.FixedIPs, p.Chosen, err = assign(c.db, n.ID, wants, said, nil); err != nil {
		return err
	}
	if err := giveMAC(c.db, p); err != nil {
		return err
	}
	if !given.has("security_groups") && p.PortSecurity && !strings.HasPrefix(p.DeviceOwner, "network:") {
		p.SecurityGroups = []string{defaultGroup(c.db, p.ProjectID, c.stamp()).ID}
	}
	if err := checkPort(c, p); err != nil {
		return err
	}
	Plug(p, p.HostID)
	c.db.Ports.Put(p)
	return nil
}

func updatePort(c *call, old, next *store.Port, given body) error {
	n, err := c.network(old.NetworkID)
	if err != nil {
		return err
	}
	if err := portPolicy(c, n, next, given, "update_port"); err != nil {
		return err
	}
	wants, said, err := wishes(given)
	if err != nil {
		return err
	}
	if said {
		ips, chosen, err := assign(c.db, n.ID, wants, true, old.FixedIPs)
		if err != nil {
			return err
		}
		next.FixedIPs, next.Chosen = ips, chosen
	}
	if err := checkPort(c, next); err != nil {
		return err
	}
	Plug(next, next.HostID)
	c.db.Ports.Put(next)
	return nil
}

// wishes reads fixed_ips; said is false where the body has none, or null.
func wishes(given body) (list []want, said bool, err error) {
	raw, ok := given["fixed_ips"]
	if !ok || string(raw) == "null" {
		return nil, false, nil
	}
	var in []struct {
		SubnetID  string `json:"subnet_id"`
		IPAddress string `json:"ip_address"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, true, badRequest("Invalid input for fixed_ips. Reason: Invalid data format.")
	}
	for _, x := range in {
		list = append(list, want(x))
	}
	return list, true, nil
}

// portPolicy: on a network of somebody else one may have ports, but not say what they look like.
func portPolicy(c *call, n *store.Network, p *store.Port, given body, rule string) error {
	if c.mine(n.ProjectID) {
		return nil
	}
	if n.External && !shared(c.db, n, c.who.ProjectID) {
		return disallowed(rule)
	}
	for _, name := range []string{"mac_address", "allowed_address_pairs", "port_security_enabled"} {
		if given.has(name) {
			return disallowed(rule + ":" + name)
		}
	}
	if strings.HasPrefix(p.DeviceOwner, "network:") && given.has("device_owner") {
		return disallowed(rule + ":device_owner")
	}
	wants, _, err := wishes(given)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(wants, func(w want) bool { return w.IPAddress != "" }) {
		return disallowed(rule + ":fixed_ips:ip_address")
	}
	return nil
}

func giveMAC(db *store.DB, p *store.Port) error {
	if p.MACAddress == "" {
		p.MACAddress = db.NewMAC()
		return nil
	}
	p.MACAddress = strings.ToLower(p.MACAddress)
	for other := range db.Ports.All() {
		if other.NetworkID == p.NetworkID && other.MACAddress == p.MACAddress && other.ID != p.ID {
			return conflict("MacAddressInUse", "Unable to complete operation for network %s. The mac address %s is in use.", p.NetworkID, p.MACAddress)
		}
	}
	return nil
}

// checkPort holds what must be true of every version of a port.
func checkPort(c *call, p *store.Port) error {
	for _, id := range p.SecurityGroups {
		g, ok := c.db.SecurityGroups.Get(id)
		if !ok || !c.mine(g.ProjectID) && g.ProjectID != p.ProjectID && !seesGroup(c, g) {
			return missing("SecurityGroupNotFound", "Security group %s does not exist", id)
		}
	}
	if err := checkPairs(c, p); err != nil {
		return err
	}
	if p.PortSecurity {
		return nil
	}
	if len(p.SecurityGroups) > 0 {
		return conflict("PortSecurityPortHasSecurityGroup", "Port has security group associated. Cannot disable port security or IP address until security group is removed.")
	}
	if len(p.Pairs) > 0 {
		return conflict("AddressPairAndPortSecurityRequired", "Port Security must be enabled in order to have allowed address pairs on a port.")
	}
	return nil
}

// checkPairs fills in the MAC address of pairs that have none. The address stays as it was given.
func checkPairs(c *call, p *store.Port) error {
	if len(p.Pairs) > c.PairLimit {
		return invalid("AllowedAddressPairExhausted", "The number of allowed address pair exceeds the maximum %d.", c.PairLimit)
	}
	pairs := slices.Clone(p.Pairs)
	for i := range pairs {
		_, err1 := netip.ParsePrefix(pairs[i].IPAddress)
		_, err2 := netip.ParseAddr(pairs[i].IPAddress)
		if err1 != nil && err2 != nil {
			return badRequest("Invalid input for allowed_address_pairs. Reason: '%s' is not a valid IP address or subnet.", pairs[i].IPAddress)
		}
		if pairs[i].MACAddress == "" {
			pairs[i].MACAddress = p.MACAddress
		}
		if slices.Contains(pairs[:i], pairs[i]) {
			return invalid("DuplicateAddressPairInRequest", "Request contains duplicate address pair: mac_address %s ip_address %s.", pairs[i].MACAddress, pairs[i].IPAddress)
		}
	}
	p.Pairs = pairs
	return nil
}
