package conformance

var ports = []behaviour{
	{"a new port is DOWN, nobody's, and has an address of the subnet", func(s *scene) {
		p := s.port(nil)
		s.same("status, device", []string{"DOWN", "", ""}, []string{p.text("status"), p.text("device_id"), p.text("device_owner")})
		ips := p.list("fixed_ips")
		s.same("addresses", 1, len(ips))
		s.same("subnet", s.subnet, ips[0].text("subnet_id"))
		if p.text("mac_address") == "" {
			s.Error("no MAC address")
		}
		s.same("DHCP options", any([]any{}), p["extra_dhcp_opts"])
	}},
	{"a chosen address is given", func(s *scene) {
		ip := s.address()
		p := s.port(object{"fixed_ips": []object{{"subnet_id": s.subnet, "ip_address": ip}}})
		s.same("address", ip, firstAddress(p))
	}},
	{"an address that is taken is 409", func(s *scene) {
		p := s.port(nil)
		a := s.try(s.operator, "ports", object{"network_id": s.network, "fixed_ips": at(firstAddress(p))})
		s.expect(a, 409, "IpAddressAlreadyAllocated")
	}},
	{"an address outside of the subnet is 400", func(s *scene) {
		a := s.try(s.operator, "ports", object{"network_id": s.network, "fixed_ips": at("192.0.2.9")})
		s.expect(a, 400, "InvalidIpForNetwork")
	}},
	{"of four creates of one address at once, one wins", func(s *scene) {
		ip := s.address()
		answers := together(4, func(int) answer {
			return s.try(s.operator, "ports", object{"network_id": s.network, "fixed_ips": at(ip)})
		})
		s.same("statuses", []int{201, 409, 409, 409}, statuses(answers))
	}},
	{"an address is free as soon as its port is deleted", func(s *scene) {
		ip := s.address()
		for range 2 {
			p := s.port(object{"fixed_ips": at(ip)})
			s.expect(s.delete(s.operator, "/ports/"+p.id()), 204, "")
		}
	}},
	{"a subnet without a free address is 409", func(s *scene) {
		network, _ := s.net(s.operator, "10.99.0.0/30")
		s.same("the one address", "10.99.0.2", firstAddress(s.port(object{"network_id": network})))
		s.expect(s.try(s.operator, "ports", object{"network_id": network}), 409, "IpAddressGenerationFailure")
	}},
	{"a port in a network that isn't there is 404", func(s *scene) {
		s.expect(s.try(s.operator, "ports", object{"network_id": missing}), 404, "NetworkNotFound")
	}},
	{"a port without fixed_ips may be asked for", func(s *scene) {
		s.same("addresses", 0, len(s.port(object{"fixed_ips": []object{}}).list("fixed_ips")))
	}},
	{"a port is in the default group unless it says otherwise", func(s *scene) {
		groups := s.ids(s.operator, "security-groups", "name=default&project_id="+s.operator.project)
		s.same("unsaid", groups, s.port(nil).texts("security_groups"))
		s.same("none", []string{}, s.port(object{"security_groups": []string{}}).texts("security_groups"))
	}},
	{"a group that isn't there is 404, in a create and in an update", func(s *scene) {
		unknown := object{"network_id": s.network, "security_groups": []string{missing}}
		s.expect(s.try(s.operator, "ports", unknown), 404, "SecurityGroupNotFound")
		a := s.update(s.operator, "ports", s.port(nil).id(), object{"security_groups": []string{missing}})
		s.expect(a, 404, "SecurityGroupNotFound")
	}},
	{"a port is up unless it says otherwise, and is set down and up again", func(s *scene) {
		p := s.port(nil)
		s.same("made", any(true), p["admin_state_up"])
		for _, up := range []bool{false, true} {
			s.expect(s.update(s.operator, "ports", p.id(), object{"admin_state_up": up}), 200, "")
			s.same("up", any(up), s.read(s.operator, "ports", p.id())["admin_state_up"])
		}
	}},
	{"an attached port that is set down stays attached", func(s *scene) {
		p := s.attached(0)
		s.expect(s.update(s.operator, "ports", p.id(), object{"admin_state_up": false}), 200, "")
		s.same("device", s.nodes[0], s.deviceOf(p))
	}},
	{"groups are replaced by an update", func(s *scene) {
		g, p := s.group(), s.port(nil)
		a := s.update(s.operator, "ports", p.id(), object{"security_groups": []string{g.id()}})
		s.expect(a, 200, "")
		s.same("groups", []string{g.id()}, s.read(s.operator, "ports", p.id()).texts("security_groups"))
	}},
	{"a group of another project is 404", func(s *scene) {
		network, _ := s.net(s.customer, "10.96.0.0/24")
		a := s.try(s.customer, "ports", object{"network_id": network, "security_groups": []string{s.group().id()}})
		s.expect(a, 404, "SecurityGroupNotFound")
	}},
	{"a member sees of a port's binding only the vnic_type, an admin sees all", func(s *scene) {
		p := s.port(nil)
		whole := s.read(s.admin, "ports", p.id())
		for _, field := range []string{"host_id", "vif_type", "vif_details", "profile"} {
			_, member := p["binding:"+field]
			_, admin := whole["binding:"+field]
			s.same(field+": member, admin", []bool{false, true}, []bool{member, admin})
		}
		s.same("vnic_type", "normal", p.text("binding:vnic_type"))
		s.same("details, profile", []object{{}, {}}, []object{whole.object("binding:vif_details"), whole.object("binding:profile")})
	}},
	{"a second delete is 404", func(s *scene) {
		p := s.port(nil)
		s.expect(s.delete(s.operator, "/ports/"+p.id()), 204, "")
		s.expect(s.delete(s.operator, "/ports/"+p.id()), 404, "PortNotFound")
	}},
	{"a router's interface cannot be deleted as a port", func(s *scene) {
		router, _, _ := s.addRouter(s.operator, "10.97.0.0/24", nil)
		p := s.ids(s.operator, "ports", "device_id="+router)
		s.expect(s.delete(s.operator, "/ports/"+p[0]), 409, "ServicePortInUse")
	}},
	{"a network with ports cannot be deleted", func(s *scene) {
		network, subnet := s.net(s.operator, "10.97.0.0/24")
		s.port(object{"network_id": network})
		s.expect(s.delete(s.operator, "/networks/"+network), 409, "NetworkInUse")
		s.expect(s.delete(s.operator, "/subnets/"+subnet), 409, "SubnetInUse")
	}},
}

func pairs(addresses ...string) object {
	list := []object{}
	for _, ip := range addresses {
		list = append(list, object{"ip_address": ip})
	}
	return object{"allowed_address_pairs": list}
}

var addressPairs = []behaviour{
	{"pairs come back with the port's MAC address", func(s *scene) {
		p := s.port(nil)
		a := s.update(s.operator, "ports", p.id(), pairs("10.8.0.0/24", "10.9.0.7"))
		s.expect(a, 200, "")
		got := []string{}
		for _, pair := range a.body().object("port").list("allowed_address_pairs") {
			s.same("MAC address", p.text("mac_address"), pair.text("mac_address"))
			got = append(got, pair.text("ip_address"))
		}
		s.same("addresses", sorted("10.8.0.0/24", "10.9.0.7"), sorted(got...))
	}},
	{"pairs may be given in the create, and be everything", func(s *scene) {
		p := s.port(pairs("0.0.0.0/0"))
		s.same("pair", "0.0.0.0/0", p.list("allowed_address_pairs")[0].text("ip_address"))
	}},
	{"host bits stay as they were given", func(s *scene) {
		p := s.port(pairs("10.8.0.5/24"))
		s.same("pair", "10.8.0.5/24", p.list("allowed_address_pairs")[0].text("ip_address"))
	}},
	{"an update replaces the pairs", func(s *scene) {
		p := s.port(pairs("10.8.0.0/24"))
		s.expect(s.update(s.operator, "ports", p.id(), pairs("10.9.0.0/24")), 200, "")
		got := s.read(s.operator, "ports", p.id()).list("allowed_address_pairs")
		s.same("pairs", 1, len(got))
		s.same("pair", "10.9.0.0/24", got[0].text("ip_address"))
	}},
	{"one pair twice is 400", func(s *scene) {
		s.expect(s.update(s.operator, "ports", s.port(nil).id(), pairs("10.8.0.0/24", "10.8.0.0/24")), 400, "DuplicateAddressPairInRequest")
	}},
	{"ten pairs are the most", func(s *scene) {
		p, list := s.port(nil), []string{}
		for i := range 10 {
			list = append(list, "10.20."+string(rune('0'+i))+".0/24")
		}
		s.expect(s.update(s.operator, "ports", p.id(), pairs(list...)), 200, "")
		s.expect(s.update(s.operator, "ports", p.id(), pairs(append(list, "10.21.0.0/24")...)), 400, "AllowedAddressPairExhausted")
	}},
	{"port security goes off only without groups and pairs", func(s *scene) {
		p := s.port(pairs("10.8.0.0/24"))
		off := object{"port_security_enabled": false, "security_groups": []string{}}
		s.expect(s.update(s.operator, "ports", p.id(), off), 409, "AddressPairAndPortSecurityRequired")
		off["allowed_address_pairs"] = []object{}
		s.expect(s.update(s.operator, "ports", p.id(), off), 200, "")
		s.expect(s.update(s.operator, "ports", p.id(), pairs("10.8.0.0/24")), 409, "AddressPairAndPortSecurityRequired")
	}},
	{"port security comes on with groups and pairs in one call", func(s *scene) {
		g := s.group() // before the port, so that it goes after it
		p := s.port(object{"port_security_enabled": false})
		s.same("security, groups", []any{false, []any{}}, []any{p["port_security_enabled"], p["security_groups"]})
		on := pairs("10.8.0.0/24")
		on["port_security_enabled"], on["security_groups"] = true, []string{g.id()}
		s.expect(s.update(s.operator, "ports", p.id(), on), 200, "")
		now := s.read(s.operator, "ports", p.id())
		s.same("security, groups, pairs", []any{true, []any{g.id()}, 1},
			[]any{now["port_security_enabled"], now["security_groups"], len(now.list("allowed_address_pairs"))})
	}},
}
