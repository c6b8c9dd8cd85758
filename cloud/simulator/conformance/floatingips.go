package conformance

import (
	"net/netip"
	"slices"
)

// unusedPoolAddress is an address of the pool's subnet that nobody holds, taken
// by making a floating IP and giving it back.
func (s *scene) unusedPoolAddress() string {
	s.Helper()
	f := s.floatingIP(nil)
	s.expect(s.delete(s.operator, "/floatingips/"+f.id()), 204, "")
	return f.text("floating_ip_address")
}

func (s *scene) associate(floatingIP, port string) answer {
	s.Helper()
	return s.update(s.operator, "floatingips", floatingIP, object{"port_id": port})
}

var floatingIPs = []behaviour{
	{"a new one has an address, is DOWN and on no port", func(s *scene) {
		f := s.floatingIP(object{"description": "acme/dc1"})
		if _, err := netip.ParseAddr(f.text("floating_ip_address")); err != nil {
			s.Error(err)
		}
		want := object{"status": "DOWN", "port_id": nil, "router_id": nil, "fixed_ip_address": nil, "port_details": nil, "description": "acme/dc1"}
		s.same("floating IP", want, pick(f, "status", "port_id", "router_id", "fixed_ip_address", "port_details", "description"))
	}},
	{"a member may not choose the address", func(s *scene) {
		a := s.try(s.operator, "floatingips", object{"floating_network_id": s.pool, "floating_ip_address": s.unusedPoolAddress()})
		s.expect(a, 403, "PolicyNotAuthorized")
	}},
	{"an admin may, for the project, unless it is taken", func(s *scene) {
		chosen := object{
			"floating_network_id": s.pool, "floating_ip_address": s.unusedPoolAddress(), "project_id": s.operator.project,
		}
		f := s.make(s.admin, "floatingips", chosen)
		s.same("address", chosen.text("floating_ip_address"), f.text("floating_ip_address"))
		s.same("project", s.operator.project, s.read(s.operator, "floatingips", f.id()).text("project_id"))
		s.expect(s.try(s.admin, "floatingips", chosen), 409, "IpAddressAlreadyAllocated")
	}},
	{"an address outside of the pool's subnet is 400", func(s *scene) {
		a := s.try(s.admin, "floatingips", object{"floating_network_id": s.pool, "floating_ip_address": "198.51.100.9"})
		s.expect(a, 400, "InvalidIpForNetwork")
	}},
	{"a network that is not external has none", func(s *scene) {
		s.expect(s.try(s.operator, "floatingips", object{"floating_network_id": s.network}), 400, "BadRequest")
	}},
	{"a delete is 204, then 404", func(s *scene) {
		f := s.floatingIP(nil)
		s.expect(s.delete(s.operator, "/floatingips/"+f.id()), 204, "")
		s.expect(s.delete(s.operator, "/floatingips/"+f.id()), 404, "FloatingIPNotFound")
	}},
	{"its own port is an admin's to see, and in no project", func(s *scene) {
		f := s.floatingIP(nil)
		s.same("member", 0, len(s.list(s.operator, "ports", "device_id="+f.id())))
		got := s.list(s.admin, "ports", "device_id="+f.id())
		s.same("admin", 1, len(got))
		want := object{"device_owner": "network:floatingip", "project_id": ""}
		s.same("port", want, pick(got[0], "device_owner", "project_id"))
	}},
	{"the pool is seen by members as external and not theirs", func(s *scene) {
		pool := s.read(s.operator, "networks", s.pool)
		s.same("external, default", []any{true, false}, []any{pool["router:external"], pool["is_default"]})
		if _, told := s.read(s.operator, "networks", s.network)["is_default"]; told {
			s.Error("is_default is told of a network that is not external")
		}
		if pool.text("project_id") == s.operator.project {
			s.Error("the pool is the operator's own")
		}
	}},
}

var association = []behaviour{
	{"association tells address, router and port", func(s *scene) {
		p, f := s.port(nil), s.floatingIP(nil)
		a := s.associate(f.id(), p.id())
		s.expect(a, 200, "")
		got := a.body().object("floatingip")
		want := object{"port_id": p.id(), "fixed_ip_address": firstAddress(p), "router_id": s.router}
		s.same("floating IP", want, pick(got, "port_id", "fixed_ip_address", "router_id"))
		s.same("port's name", p.text("name"), got.object("port_details").text("name"))
	}},
	{"the status follows later and moves the revision by itself", func(s *scene) {
		p, f := s.port(nil), s.floatingIP(nil)
		a := s.associate(f.id(), p.id())
		s.expect(a, 200, "")
		s.until("ACTIVE", func() bool { return s.read(s.operator, "floatingips", f.id()).text("status") == "ACTIVE" })
		if now := s.read(s.operator, "floatingips", f.id()).revision(); now <= a.body().object("floatingip").revision() {
			s.Errorf("revision is still %d", now)
		}
		s.expect(s.update(s.operator, "floatingips", f.id(), object{"port_id": nil}), 200, "")
		s.until("DOWN", func() bool { return s.read(s.operator, "floatingips", f.id()).text("status") == "DOWN" })
	}},
	{"create and association are one call where the port is known", func(s *scene) {
		p := s.port(nil)
		s.same("port", p.id(), s.floatingIP(object{"port_id": p.id()}).text("port_id"))
	}},
	{"association of what is in use moves it without an error", func(s *scene) {
		p, q, f := s.port(nil), s.port(nil), s.floatingIP(nil)
		s.expect(s.associate(f.id(), p.id()), 200, "")
		a := s.associate(f.id(), q.id())
		s.expect(a, 200, "")
		s.same("port", q.id(), s.read(s.operator, "floatingips", f.id()).text("port_id"))
	}},
	{"association again with the same port is 200", func(s *scene) {
		p, f := s.port(nil), s.floatingIP(nil)
		for range 2 {
			s.expect(s.associate(f.id(), p.id()), 200, "")
		}
	}},
	{"a second one for the same fixed address is 409", func(s *scene) {
		p := s.port(nil)
		s.floatingIP(object{"port_id": p.id()})
		s.expect(s.associate(s.floatingIP(nil).id(), p.id()), 409, "FloatingIPPortAlreadyAssociated")
		a := s.try(s.operator, "floatingips", object{"floating_network_id": s.pool, "port_id": p.id()})
		s.expect(a, 409, "FloatingIPPortAlreadyAssociated")
	}},
	{"an update without port_id keeps the association", func(s *scene) {
		p := s.port(nil)
		f := s.floatingIP(object{"port_id": p.id()})
		s.expect(s.update(s.operator, "floatingips", f.id(), object{"description": "x"}), 200, "")
		s.same("port", p.id(), s.read(s.operator, "floatingips", f.id()).text("port_id"))
	}},
	{"null frees it, again and again", func(s *scene) {
		f := s.floatingIP(object{"port_id": s.port(nil).id()})
		for range 2 {
			a := s.update(s.operator, "floatingips", f.id(), object{"port_id": nil})
			s.expect(a, 200, "")
			want := object{"port_id": nil, "router_id": nil, "fixed_ip_address": nil}
			s.same("floating IP", want, pick(a.body().object("floatingip"), "port_id", "router_id", "fixed_ip_address"))
		}
	}},
	{"deleting the port frees it", func(s *scene) {
		p := s.port(nil)
		f := s.floatingIP(object{"port_id": p.id()})
		s.expect(s.delete(s.operator, "/ports/"+p.id()), 204, "")
		s.same("port", any(nil), s.read(s.operator, "floatingips", f.id())["port_id"])
	}},
	{"a subnet with no router to the pool is 404, which is not about the floating IP", func(s *scene) {
		network, _ := s.net(s.operator, "10.99.0.0/24")
		p := s.port(object{"network_id": network})
		s.expect(s.associate(s.floatingIP(nil).id(), p.id()), 404, "ExternalGatewayForFloatingIPNotFound")
	}},
	{"a port that isn't there is 404", func(s *scene) {
		s.expect(s.associate(s.floatingIP(nil).id(), missing), 404, "PortNotFound")
	}},
	{"a port of another project is 404", func(s *scene) {
		network, _ := s.net(s.customer, "10.96.0.0/24")
		theirs := s.make(s.customer, "ports", object{"network_id": network})
		s.expect(s.associate(s.floatingIP(nil).id(), theirs.id()), 404, "PortNotFound")
	}},
	{"a router's interface under a floating IP cannot be removed", func(s *scene) {
		router, network, subnet := s.addRouter(s.operator, "10.97.0.0/24",
			object{"external_gateway_info": object{"network_id": s.pool}})
		p := s.port(object{"network_id": network})
		s.floatingIP(object{"port_id": p.id()})
		a := s.put(s.operator, "/routers/"+router+"/remove_router_interface", object{"subnet_id": subnet})
		s.expect(a, 409, "RouterInterfaceInUseByFloatingIP")
	}},
	{"another project's floating IP stays out of lists and reach", func(s *scene) {
		f := s.make(s.customer, "floatingips", object{"floating_network_id": s.pool})
		if slices.Contains(s.ids(s.operator, "floatingips", ""), f.id()) {
			s.Error("listed")
		}
		s.expect(s.associate(f.id(), s.port(nil).id()), 404, "FloatingIPNotFound")
	}},
}
