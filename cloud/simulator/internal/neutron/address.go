package neutron

import (
	"net/netip"

	"github.com/vpnctl/vpnctl/cloud/simulator/internal/store"
)

// network returns a network that the caller may see.
func (c *call) network(id string) (*store.Network, error) {
	n, ok := c.db.Networks.Get(id)
	if !ok || !c.mine(n.ProjectID) && !seesNetwork(c, n) {
		return nil, missing("NetworkNotFound", "Network %s could not be found.", id)
	}
	return n, nil
}

func subnetsOf(db *store.DB, network string) []*store.Subnet {
	var out []*store.Subnet
	for s := range db.Subnets.All() {
		if s.NetworkID == network {
			out = append(out, s)
		}
	}
	return out
}

// want is an address that a port shall get: in a subnet, of a value, or both.
type want struct {
	SubnetID  string
	IPAddress string
}

// assign makes the fixed IPs of a port on a network: those asked for, or one from the first IPv4 subnet where
// nothing was said. have are addresses that the port holds already, which it may keep. chosen lists those that
// were asked for by value.
func assign(db *store.DB, network string, wants []want, said bool, have []store.FixedIP) (ips []store.FixedIP, chosen []string, err error) {
	subnets := subnetsOf(db, network)
	if !said {
		for _, s := range subnets {
			if s.IPVersion == 4 {
				wants = []want{{SubnetID: s.ID}}
				break
			}
		}
	}
	taken := map[netip.Addr]bool{}
	for _, w := range wants {
		s, a, err := place(db, network, subnets, w, have, taken)
		if err != nil {
			return nil, nil, err
		}
		taken[a] = true
		ips = append(ips, store.FixedIP{SubnetID: s.ID, IPAddress: a.String()})
		if w.IPAddress != "" {
			chosen = append(chosen, a.String())
		}
	}
	return ips, chosen, nil
}

// place finds the subnet and the address for one wish.
func place(db *store.DB, network string, subnets []*store.Subnet, w want, have []store.FixedIP, taken map[netip.Addr]bool) (*store.Subnet, netip.Addr, error) {
	if w.IPAddress == "" {
		s, err := pick(subnets, network, w.SubnetID)
		if err != nil {
			return nil, netip.Addr{}, err
		}
		a, err := free(db, s, network, taken)
		return s, a, err
	}
	a, err := netip.ParseAddr(w.IPAddress)
	if err != nil {
		return nil, a, badRequest("Invalid input for fixed_ips. Reason: '%s' is not a valid IP address.", w.IPAddress)
	}
	s, err := containing(subnets, network, w, a)
	if err != nil {
		return nil, a, err
	}
	_, held := db.Holder(s.ID, a)
	for _, h := range have {
		if h.SubnetID == s.ID && h.IPAddress == a.String() {
			held = false
		}
	}
	if held || taken[a] {
		return nil, a, conflict("IpAddressAlreadyAllocated", "IP address %s already allocated in subnet %s", a, s.ID)
	}
	return s, a, nil
}

func pick(subnets []*store.Subnet, network, id string) (*store.Subnet, error) {
	for _, s := range subnets {
		if s.ID == id {
			return s, nil
		}
	}
	return nil, invalid("InvalidInput", "Invalid input for operation: Failed to create port on network %s, because fixed_ips included invalid subnet %s.", network, id)
}

func containing(subnets []*store.Subnet, network string, w want, a netip.Addr) (*store.Subnet, error) {
	for _, s := range subnets {
		prefix, err := netip.ParsePrefix(s.CIDR)
		if err != nil || w.SubnetID != "" && w.SubnetID != s.ID || !prefix.Contains(a) {
			continue
		}
		if first, last := Hosts(prefix); !a.Less(first) && !last.Less(a) {
			return s, nil
		}
	}
	if w.SubnetID == "" {
		return nil, invalid("InvalidIpForNetwork", "IP address %s is not a valid IP for any of the subnets on the specified network.", a)
	}
	if _, err := pick(subnets, network, w.SubnetID); err != nil {
		return nil, err
	}
	return nil, invalid("InvalidIpForSubnet", "IP address %s is not a valid IP for the specified subnet.", a)
}

// free is the lowest address of the subnet's pools that nobody has. A real Neutron picks at random among some
// of them; here equal runs shall give equal addresses.
func free(db *store.DB, s *store.Subnet, network string, taken map[netip.Addr]bool) (netip.Addr, error) {
	for _, p := range s.AllocationPools {
		start, err1 := netip.ParseAddr(p.Start)
		end, err2 := netip.ParseAddr(p.End)
		if err1 != nil || err2 != nil {
			continue
		}
		a, ok := db.Lowest(s.ID, start, end)
		if ok {
			db.FullBelow(s.ID, a)
		}
		for ok && taken[a] {
			a, ok = db.Lowest(s.ID, a.Next(), end)
		}
		if ok {
			return a, nil
		}
	}
	return netip.Addr{}, conflict("IpAddressGenerationFailure", "No more IP addresses available on network %s.", network)
}
