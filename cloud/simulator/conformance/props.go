package conformance

import (
	"net/netip"
	"slices"
)

// The things that scenes are set with.

func (s *scene) group() object {
	s.Helper()
	return s.make(s.operator, "security-groups", object{"name": s.name()})
}

func (s *scene) port(attributes object) object {
	s.Helper()
	all := object{"network_id": s.network, "name": s.name()}
	for k, v := range attributes {
		all[k] = v
	}
	return s.make(s.operator, "ports", all)
}

func (s *scene) floatingIP(attributes object) object {
	s.Helper()
	all := object{"floating_network_id": s.pool}
	for k, v := range attributes {
		all[k] = v
	}
	return s.make(s.operator, "floatingips", all)
}

// net makes a network with one subnet and answers both IDs.
func (s *scene) net(k *client, cidr string) (network, subnet string) {
	s.Helper()
	network = s.make(k, "networks", object{"name": s.name()}).id()
	subnet = s.make(k, "subnets", object{
		"network_id": network, "ip_version": 4, "cidr": cidr, "enable_dhcp": false,
	}).id()
	return network, subnet
}

// addRouter makes a router with the gateway address of a new network.
func (s *scene) addRouter(k *client, cidr string, attributes object) (router, network, subnet string) {
	s.Helper()
	network, subnet = s.net(k, cidr)
	all := object{"name": s.name()}
	for k, v := range attributes {
		all[k] = v
	}
	router = s.make(k, "routers", all).id()
	s.expect(s.plug(k, router, object{"subnet_id": subnet}), 200, "")
	return router, network, subnet
}

// plug adds an interface, and takes it and all routes off at the end.
func (s *scene) plug(k *client, router string, to object) answer {
	s.Helper()
	a := s.put(k, "/routers/"+router+"/add_router_interface", to)
	if a.status == 200 {
		s.Cleanup(func() {
			s.update(k, "routers", router, object{"routes": []object{}})
			s.put(k, "/routers/"+router+"/remove_router_interface", to)
		})
	}
	return a
}

// address is one of the transit subnet that nobody has: outside of the
// allocation pools if possible, so that nobody is given it meanwhile. The last
// host is left alone: an estate's lock may want it.
func (s *scene) address() string {
	s.Helper()
	taken := []string{}
	for _, p := range s.list(s.operator, "ports", "network_id="+s.network) {
		for _, ip := range p.list("fixed_ips") {
			taken = append(taken, ip.text("ip_address"))
		}
	}
	subnet := s.read(s.operator, "subnets", s.subnet)
	free := ""
	prefix := netip.MustParsePrefix(s.cidr)
	for ip := last(prefix).Prev().Prev(); prefix.Contains(ip.Prev()); ip = ip.Prev() {
		if slices.Contains(taken, ip.String()) {
			continue
		}
		if !pooled(subnet, ip) {
			return ip.String()
		}
		if free == "" {
			free = ip.String()
		}
	}
	if free == "" {
		s.Fatal("no free address in ", s.cidr)
	}
	return free
}

func last(p netip.Prefix) netip.Addr {
	ip := p.Masked().Addr().As4()
	for bit := p.Bits(); bit < 32; bit++ {
		ip[bit/8] |= 1 << (7 - bit%8)
	}
	return netip.AddrFrom4(ip)
}

func pooled(subnet object, ip netip.Addr) bool {
	for _, pool := range subnet.list("allocation_pools") {
		start, end := netip.MustParseAddr(pool.text("start")), netip.MustParseAddr(pool.text("end"))
		if start.Compare(ip) <= 0 && ip.Compare(end) <= 0 {
			return true
		}
	}
	return false
}

func at(address string) []object { return []object{{"ip_address": address}} }

func firstAddress(port object) string {
	ips := port.list("fixed_ips")
	if len(ips) == 0 {
		return ""
	}
	return ips[0].text("ip_address")
}
