package neutron

import (
	"net/netip"
	"slices"

	"github.com/vpnctl/vpnctl/cloud/simulator/internal/store"
)

func (s *Service) subnets() endpoint {
	return &collection[store.Subnet, *store.Subnet]{
		one: "subnet", many: "subnets", noun: "Subnet", table: s.DB.Subnets,
		required: []string{"network_id", "ip_version", "cidr"},
		empty:    func() *store.Subnet { return &store.Subnet{EnableDHCP: true} },
		sees: func(c *call, s *store.Subnet) bool {
			n, ok := c.db.Networks.Get(s.NetworkID)
			return ok && !n.External && (n.ProjectID == c.who.ProjectID || shared(c.db, n, c.who.ProjectID))
		},
		create: createSubnet,
		update: updateSubnet,
		remove: removeSubnet,
	}
}

func createSubnet(c *call, s *store.Subnet, given body) error {
	n, err := c.network(s.NetworkID)
	if err != nil {
		return err
	}
	if !c.mine(n.ProjectID) {
		return disallowed("create_subnet")
	}
	if err := c.room("subnet", s.ProjectID); err != nil {
		return err
	}
	prefix, err := netip.ParsePrefix(s.CIDR)
	if err != nil || s.IPVersion == 4 != prefix.Addr().Is4() {
		return badRequest("Invalid input for cidr. Reason: '%s' is not a valid IP subnet.", s.CIDR)
	}
	if prefix != prefix.Masked() {
		return badRequest("Invalid input for cidr. Reason: '%s' isn't a recognized IP subnet cidr, '%s' is recommended.", s.CIDR, prefix.Masked())
	}
	for other := range c.db.Subnets.All() {
		if p, err := netip.ParsePrefix(other.CIDR); err == nil && other.NetworkID == s.NetworkID && p.Overlaps(prefix) {
			return invalid("InvalidInput", "Invalid input for operation: Requested subnet with cidr: %s for network: %s overlaps with another subnet.", s.CIDR, s.NetworkID)
		}
	}
	if !given.has("gateway_ip") {
		first := prefix.Addr().Next().String()
		s.GatewayIP = &first
	}
	if len(s.AllocationPools) == 0 {
		s.AllocationPools = Pools(prefix, s.GatewayIP)
	}
	if err := checkSubnet(s, prefix); err != nil {
		return err
	}
	c.db.Subnets.Put(s)
	return nil
}

func updateSubnet(c *call, _, next *store.Subnet, _ body) error {
	prefix, err := netip.ParsePrefix(next.CIDR)
	if err != nil {
		return err
	}
	if err := checkSubnet(next, prefix); err != nil {
		return err
	}
	c.db.FullBelow(next.ID, prefix.Addr())
	c.db.Subnets.Put(next)
	return nil
}

func checkSubnet(s *store.Subnet, prefix netip.Prefix) error {
	inside := func(text string) bool {
		a, err := netip.ParseAddr(text)
		return err == nil && prefix.Contains(a)
	}
	if s.GatewayIP != nil && !inside(*s.GatewayIP) {
		return invalid("InvalidInput", "Invalid input for operation: Gateway is not valid on subnet.")
	}
	s.AllocationPools = slices.SortedFunc(slices.Values(s.AllocationPools), func(a, b store.Pool) int {
		x, _ := netip.ParseAddr(a.Start)
		y, _ := netip.ParseAddr(b.Start)
		return x.Compare(y)
	})
	for _, p := range s.AllocationPools {
		if !inside(p.Start) || !inside(p.End) {
			return invalid("OutOfBoundsAllocationPool", "The allocation pool %s-%s spans beyond the subnet cidr %s.", p.Start, p.End, s.CIDR)
		}
		if s.GatewayIP != nil && inPool(p, *s.GatewayIP) {
			return conflict("GatewayConflictWithAllocationPools", "Gateway ip %s conflicts with allocation pool %s-%s.", *s.GatewayIP, p.Start, p.End)
		}
	}
	return nil
}

func inPool(p store.Pool, address string) bool {
	start, err1 := netip.ParseAddr(p.Start)
	end, err2 := netip.ParseAddr(p.End)
	a, err3 := netip.ParseAddr(address)
	return err1 == nil && err2 == nil && err3 == nil && !a.Less(start) && !end.Less(a)
}

// Pools are the ranges that Neutron gives addresses from unless something else is said: all hosts but the
// gateway.
func Pools(prefix netip.Prefix, gateway *string) []store.Pool {
	first, last := Hosts(prefix)
	var pools []store.Pool
	between := func(a, b netip.Addr) {
		if a.IsValid() && b.IsValid() && !b.Less(a) {
			pools = append(pools, store.Pool{Start: a.String(), End: b.String()})
		}
	}
	gw := netip.Addr{}
	if gateway != nil {
		gw, _ = netip.ParseAddr(*gateway)
	}
	if !gw.IsValid() || gw.Less(first) || last.Less(gw) {
		between(first, last)
		return pools
	}
	between(first, gw.Prev())
	between(gw.Next(), last)
	return pools
}

// Hosts returns the first and the last address of a subnet that a host can have.
func Hosts(prefix netip.Prefix) (first, last netip.Addr) {
	raw := prefix.Addr().AsSlice()
	for bit := prefix.Bits(); bit < len(raw)*8; bit++ {
		raw[bit/8] |= 1 << (7 - bit%8)
	}
	last, _ = netip.AddrFromSlice(raw)
	if prefix.Addr().Is4() && prefix.Bits() < 31 {
		last = last.Prev()
	}
	first = prefix.Addr()
	if prefix.Bits() < prefix.Addr().BitLen()-1 {
		first = first.Next()
	}
	return first, last
}

func removeSubnet(c *call, s *store.Subnet) error {
	for p := range c.db.Ports.All() {
		for _, ip := range p.FixedIPs {
			if ip.SubnetID == s.ID {
				return conflict("SubnetInUse", "Unable to complete operation on subnet %s: One or more ports have an IP allocation from this subnet.", s.ID)
			}
		}
	}
	c.db.Subnets.Delete(s.ID)
	return nil
}
