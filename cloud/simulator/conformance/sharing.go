package conformance

import "slices"

func policyFor(network, project string) object {
	return object{
		"object_type": "network", "object_id": network,
		"action": "access_as_shared", "target_tenant": project,
	}
}

// share opens an operator's network to the customer.
func (s *scene) share(network string) object {
	s.Helper()
	return s.make(s.operator, "rbac-policies", policyFor(network, s.customer.project))
}

// shared is a new network of the operator's that the customer may use.
func (s *scene) shared() (network, subnet string) {
	s.Helper()
	network, subnet = s.net(s.operator, "10.95.0.0/24")
	s.share(network)
	return network, subnet
}

var sharing = []behaviour{
	{"a network is unseen until it is shared", func(s *scene) {
		network, subnet := s.net(s.operator, "10.95.0.0/24")
		s.expect(s.get(s.customer, "/networks/"+network), 404, "NetworkNotFound")
		s.expect(s.try(s.customer, "ports", object{"network_id": network}), 404, "NetworkNotFound")
		s.share(network)
		s.expect(s.get(s.customer, "/subnets/"+subnet), 200, "")
		s.same("customer's view", any(true), s.read(s.customer, "networks", network)["shared"])
		s.same("owner's view", any(false), s.read(s.operator, "networks", network)["shared"])
	}},
	{"sharing twice is 409", func(s *scene) {
		network, _ := s.shared()
		s.expect(s.try(s.operator, "rbac-policies", policyFor(network, s.customer.project)), 409, "DuplicateRbacPolicy")
	}},
	{"sharing with everybody is the admin's: 403", func(s *scene) {
		network, _ := s.net(s.operator, "10.95.0.0/24")
		s.expect(s.try(s.operator, "rbac-policies", policyFor(network, "*")), 403, "PolicyNotAuthorized")
	}},
	{"sharing with a project that nobody knows is accepted", func(s *scene) {
		network, _ := s.net(s.operator, "10.95.0.0/24")
		s.expect(s.try(s.operator, "rbac-policies", policyFor(network, "no-such-project")), 201, "")
	}},
	{"sharing another's network is 400", func(s *scene) {
		s.expect(s.try(s.customer, "rbac-policies", policyFor(s.network, s.operator.project)), 400, "InvalidInput")
	}},
	{"policies are found by their object, and seen by the owner alone", func(s *scene) {
		network, _ := s.net(s.operator, "10.95.0.0/24")
		policy := s.share(network)
		s.same("owner", []string{policy.id()}, s.ids(s.operator, "rbac-policies", "object_id="+network))
		s.same("customer", []string{}, s.ids(s.customer, "rbac-policies", "object_id="+network))
	}},
	{"the customer may make a port and choose its subnet", func(s *scene) {
		network, subnet := s.shared()
		p := s.make(s.customer, "ports", object{"network_id": network, "fixed_ips": []object{{"subnet_id": subnet}}})
		s.same("project", s.customer.project, p.text("project_id"))
	}},
	{"the customer may not choose address, MAC, pairs or port security", func(s *scene) {
		network, _ := s.shared()
		for _, attributes := range []object{
			{"fixed_ips": at("10.95.0.123")}, {"mac_address": "fa:16:3e:00:00:99"},
			pairs("10.8.0.0/24"), {"port_security_enabled": false},
		} {
			attributes["network_id"] = network
			s.expect(s.try(s.customer, "ports", attributes), 403, "PolicyNotAuthorized")
		}
		p := s.make(s.customer, "ports", object{"network_id": network})
		s.expect(s.update(s.customer, "ports", p.id(), pairs("10.8.0.0/24")), 403, "PolicyNotAuthorized")
	}},
	{"the network's owner sees, tags and deletes the customer's port, but changes nothing", func(s *scene) {
		network, _ := s.shared()
		p := s.make(s.customer, "ports", object{"network_id": network})
		s.same("listed", []string{p.id()}, s.ids(s.operator, "ports", "network_id="+network))
		s.expect(s.update(s.operator, "ports", p.id(), object{"name": "x"}), 403, "PolicyNotAuthorized")
		s.expect(s.tag(s.operator, "ports", p.id(), "mine"), 200, "")
		s.expect(s.delete(s.operator, "/ports/"+p.id()), 204, "")
	}},
	{"the network's owner finds the ports of one project there", func(s *scene) {
		network, _ := s.shared()
		s.port(object{"network_id": network})
		p := s.make(s.customer, "ports", object{"network_id": network})
		s.same("listed", []string{p.id()}, s.ids(s.operator, "ports", "network_id="+network+"&project_id="+s.customer.project+"&project_id="+missing))
	}},
	{"the customer tags its port, and its router's interface goes with the port", func(s *scene) {
		network, subnet := s.shared()
		p := s.make(s.customer, "ports", object{"network_id": network, "fixed_ips": []object{{"subnet_id": subnet}}, "security_groups": []string{}})
		tag := "vpn.bnerd.net/owner=" + s.name()
		s.expect(s.tag(s.customer, "ports", p.id(), tag), 200, "")
		router := s.make(s.customer, "routers", object{"name": s.name()}).id()
		s.expect(s.plug(s.customer, router, object{"port_id": p.id()}), 200, "")
		s.same("found", []string{p.id()}, s.ids(s.customer, "ports", "tags="+tag))
		s.expect(s.unplug(s.customer, router, object{"port_id": p.id()}), 200, "")
		s.expect(s.get(s.customer, "/ports/"+p.id()), 404, "PortNotFound")
	}},
	{"the customer sees no port there but its own", func(s *scene) {
		network, _ := s.shared()
		theirs := s.port(object{"network_id": network})
		own := s.make(s.customer, "ports", object{"network_id": network})
		s.same("listed", []string{own.id()}, s.ids(s.customer, "ports", "network_id="+network))
		s.expect(s.get(s.customer, "/ports/"+theirs.id()), 404, "PortNotFound")
	}},
	{"a member makes no port for another project, an admin does, with address and pairs", func(s *scene) {
		network, _ := s.shared()
		port := object{"network_id": network, "project_id": s.customer.project}
		s.expect(s.try(s.operator, "ports", port), 400, "HTTPBadRequest")
		port["fixed_ips"] = at("10.95.0.150")
		port["allowed_address_pairs"] = pairs("10.8.0.0/24")["allowed_address_pairs"]
		p := s.make(s.admin, "ports", port)
		s.same("project", s.customer.project, p.text("project_id"))
		s.expect(s.update(s.customer, "ports", p.id(), object{"name": "x"}), 200, "")
	}},
	{"a network that the customer has a port in stays shared", func(s *scene) {
		network, _ := s.net(s.operator, "10.95.0.0/24")
		policy := s.share(network)
		p := s.make(s.customer, "ports", object{"network_id": network})
		s.expect(s.delete(s.operator, "/rbac-policies/"+policy.id()), 409, "RbacPolicyInUse")
		s.expect(s.delete(s.customer, "/ports/"+p.id()), 204, "")
		s.expect(s.delete(s.operator, "/rbac-policies/"+policy.id()), 204, "")
		s.expect(s.get(s.customer, "/networks/"+network), 404, "NetworkNotFound")
	}},
	{"the customer plugs its port into its router and routes through the network", func(s *scene) {
		network, _ := s.shared()
		p := s.make(s.customer, "ports", object{"network_id": network})
		router := s.make(s.customer, "routers", object{"name": s.name()}).id()
		s.expect(s.plug(s.customer, router, object{"port_id": p.id()}), 200, "")
		via := object{"destination": "10.77.0.0/24", "nexthop": "10.95.0.1"}
		a := s.put(s.customer, "/routers/"+router+"/add_extraroutes", someRoutes(via))
		s.expect(a, 200, "")
		if !slices.Contains(routesOf(a.body().object("router")), "10.77.0.0/24 via 10.95.0.1") {
			s.Errorf("route missing: %s", a)
		}
	}},
	{"the customer cannot rename or delete the network", func(s *scene) {
		network, _ := s.shared()
		s.expect(s.update(s.customer, "networks", network, object{"name": "x"}), 403, "PolicyNotAuthorized")
		s.expect(s.delete(s.customer, "/networks/"+network), 403, "PolicyNotAuthorized")
	}},
}
