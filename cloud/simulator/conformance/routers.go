package conformance

import (
	"fmt"
	"slices"
)

func (s *scene) unplug(k *client, router string, from object) answer {
	s.Helper()
	return s.put(k, "/routers/"+router+"/remove_router_interface", from)
}

var routers = []behaviour{
	{"an interface by port makes the port the router's", func(s *scene) {
		network, subnet := s.net(s.operator, "10.97.0.0/24")
		router := s.make(s.operator, "routers", object{"name": s.name()}).id()
		p := s.port(object{"network_id": network, "fixed_ips": at("10.97.0.254")})
		a := s.plug(s.operator, router, object{"port_id": p.id()})
		s.expect(a, 200, "")
		s.same("answer", object{"id": router, "port_id": p.id(), "subnet_id": subnet}, pick(a.body(), "id", "port_id", "subnet_id"))
		now := s.read(s.operator, "ports", p.id())
		s.same("device", []string{router, "network:router_interface"}, []string{now.text("device_id"), now.text("device_owner")})
	}},
	{"an interface by subnet has the subnet's gateway address", func(s *scene) {
		router, _, subnet := s.addRouter(s.operator, "10.97.0.0/24", nil)
		p := s.list(s.operator, "ports", "device_id="+router)
		s.same("ports", 1, len(p))
		s.same("address", []object{{"subnet_id": subnet, "ip_address": "10.97.0.1"}}, p[0].list("fixed_ips"))
	}},
	{"a port in use is no interface, here or elsewhere", func(s *scene) {
		router, network, _ := s.addRouter(s.operator, "10.97.0.0/24", nil)
		p := s.port(object{"network_id": network})
		other := s.make(s.operator, "routers", object{"name": s.name()}).id()
		s.expect(s.plug(s.operator, other, object{"port_id": p.id()}), 200, "")
		s.expect(s.put(s.operator, "/routers/"+other+"/add_router_interface", object{"port_id": p.id()}), 409, "PortInUse")
		s.expect(s.put(s.operator, "/routers/"+router+"/add_router_interface", object{"port_id": p.id()}), 409, "PortInUse")
	}},
	{"a subnet that the router is on already takes no second interface", func(s *scene) {
		router, network, subnet := s.addRouter(s.operator, "10.97.0.0/24", nil)
		p := s.port(object{"network_id": network})
		s.expect(s.plug(s.operator, router, object{"port_id": p.id()}), 400, "BadRequest")
		s.expect(s.plug(s.operator, router, object{"subnet_id": subnet}), 400, "BadRequest")
		s.same("device", "", s.read(s.operator, "ports", p.id()).text("device_id"))
	}},
	{"a subnet that overlaps one of the router's takes no interface", func(s *scene) {
		router, _, _ := s.addRouter(s.operator, "10.97.0.0/24", nil)
		network, _ := s.net(s.operator, "10.97.0.0/16")
		p := s.port(object{"network_id": network})
		s.expect(s.plug(s.operator, router, object{"port_id": p.id()}), 400, "BadRequest")
	}},
	{"removing an interface deletes its port, also one that we made", func(s *scene) {
		network, _ := s.net(s.operator, "10.97.0.0/24")
		router := s.make(s.operator, "routers", object{"name": s.name()}).id()
		p := s.port(object{"network_id": network})
		s.expect(s.plug(s.operator, router, object{"port_id": p.id()}), 200, "")
		s.expect(s.unplug(s.operator, router, object{"port_id": p.id()}), 200, "")
		s.expect(s.get(s.operator, "/ports/"+p.id()), 404, "PortNotFound")
	}},
	{"removing an interface that isn't there is 404", func(s *scene) {
		router, network, _ := s.addRouter(s.operator, "10.97.0.0/24", nil)
		p := s.port(object{"network_id": network})
		s.expect(s.unplug(s.operator, router, object{"port_id": p.id()}), 404, "RouterInterfaceNotFound")
	}},
	{"an interface that a route goes through stays", func(s *scene) {
		router, _, subnet := s.addRouter(s.operator, "10.97.0.0/24", nil)
		s.expect(s.setRoutes(router, route(1)), 200, "")
		s.expect(s.unplug(s.operator, router, object{"subnet_id": subnet}), 409, "RouterInterfaceInUseByRoute")
	}},
	{"a router with an interface cannot be deleted", func(s *scene) {
		router, _, _ := s.addRouter(s.operator, "10.97.0.0/24", nil)
		s.expect(s.delete(s.operator, "/routers/"+router), 409, "RouterInUse")
	}},
	{"a router shows its owner the gateway and its address", func(s *scene) {
		gateway := s.read(s.operator, "routers", s.router).object("external_gateway_info")
		s.same("network", s.pool, gateway.text("network_id"))
		s.same("addresses", 1, len(gateway.list("external_fixed_ips")))
	}},
	{"another project's router takes no interface and no route", func(s *scene) {
		network, subnet := s.net(s.customer, "10.96.0.0/24")
		p := s.make(s.customer, "ports", object{"network_id": network})
		s.expect(s.put(s.customer, "/routers/"+s.router+"/add_router_interface", object{"port_id": p.id()}), 404, "RouterNotFound")
		s.expect(s.put(s.customer, "/routers/"+s.router+"/add_router_interface", object{"subnet_id": subnet}), 404, "RouterNotFound")
		s.expect(s.put(s.customer, "/routers/"+s.router+"/add_extraroutes", someRoutes(route(1))), 404, "RouterNotFound")
	}},
}

// route is a route through 10.97.0.20, or through another address.
func route(n int, nexthop ...string) object {
	hop := "10.97.0.20"
	if len(nexthop) > 0 {
		hop = nexthop[0]
	}
	return object{"destination": fmt.Sprintf("10.50.%d.0/24", n), "nexthop": hop}
}

func someRoutes(list ...object) object {
	return object{"router": object{"routes": list}}
}

func (s *scene) setRoutes(router string, list ...object) answer {
	s.Helper()
	return s.put(s.operator, "/routers/"+router, someRoutes(list...))
}

func (s *scene) addRoutes(router string, list ...object) answer {
	s.Helper()
	return s.put(s.operator, "/routers/"+router+"/add_extraroutes", someRoutes(list...))
}

func (s *scene) removeRoutes(router string, list ...object) answer {
	s.Helper()
	return s.put(s.operator, "/routers/"+router+"/remove_extraroutes", someRoutes(list...))
}

// routesOf is a router's routes as sorted text.
func routesOf(router object) []string {
	list := []string{}
	for _, r := range router.list("routes") {
		list = append(list, r.text("destination")+" via "+r.text("nexthop"))
	}
	slices.Sort(list)
	return list
}

func (s *scene) sameRoutes(router string, want ...object) {
	s.Helper()
	s.same("routes", routesText(want), routesOf(s.read(s.operator, "routers", router)))
}

func routesText(list []object) []string {
	text := []string{}
	for _, r := range list {
		text = append(text, r.text("destination")+" via "+r.text("nexthop"))
	}
	slices.Sort(text)
	return text
}

// plainRouter is a router with 10.97.0.0/24 on it.
func (s *scene) plainRouter() string {
	s.Helper()
	router, _, _ := s.addRouter(s.operator, "10.97.0.0/24", nil)
	return router
}

var routes = []behaviour{
	{"a PUT of routes replaces all", func(s *scene) {
		router := s.plainRouter()
		s.expect(s.setRoutes(router, route(1), route(2)), 200, "")
		s.expect(s.setRoutes(router, route(3)), 200, "")
		s.sameRoutes(router, route(3))
	}},
	{"add_extraroutes keeps the others and answers the whole router", func(s *scene) {
		router := s.plainRouter()
		s.expect(s.setRoutes(router, route(1)), 200, "")
		a := s.addRoutes(router, route(2), route(3))
		s.expect(a, 200, "")
		s.same("answer", routesText([]object{route(1), route(2), route(3)}), routesOf(a.body().object("router")))
		s.same("id", router, a.body().object("router").id())
	}},
	{"adding what is there, and removing what isn't, is 200", func(s *scene) {
		router := s.plainRouter()
		for range 2 {
			s.expect(s.addRoutes(router, route(1)), 200, "")
		}
		s.expect(s.removeRoutes(router, route(7)), 200, "")
		s.sameRoutes(router, route(1))
	}},
	{"remove_extraroutes takes only what it names, next hop included", func(s *scene) {
		router := s.plainRouter()
		s.expect(s.addRoutes(router, route(1), route(2)), 200, "")
		s.expect(s.removeRoutes(router, route(1, "10.97.0.21")), 200, "")
		s.sameRoutes(router, route(1), route(2))
		s.expect(s.removeRoutes(router, route(1)), 200, "")
		s.sameRoutes(router, route(2))
	}},
	{"one destination through two next hops stays twice", func(s *scene) {
		router := s.plainRouter()
		s.expect(s.addRoutes(router, route(1)), 200, "")
		s.expect(s.addRoutes(router, route(1, "10.97.0.21")), 200, "")
		s.sameRoutes(router, route(1), route(1, "10.97.0.21"))
	}},
	{"a next hop in no subnet of the router, or its own address, is 400", func(s *scene) {
		router := s.plainRouter()
		for _, hop := range []string{"192.0.2.1", "10.97.0.1"} {
			s.expect(s.setRoutes(router, route(1, hop)), 400, "InvalidRoutes")
			s.expect(s.addRoutes(router, route(1, hop)), 400, "InvalidRoutes")
		}
	}},
	{"a destination with host bits, or a route twice, is 400", func(s *scene) {
		router := s.plainRouter()
		bits := object{"destination": "10.50.1.5/24", "nexthop": "10.97.0.20"}
		s.expect(s.setRoutes(router, bits), 400, "HTTPBadRequest")
		s.expect(s.setRoutes(router, route(1), route(1)), 400, "HTTPBadRequest")
	}},
	{"thirty routes are the most", func(s *scene) {
		router, all := s.plainRouter(), []object{}
		for n := range 30 {
			all = append(all, route(n))
		}
		s.expect(s.setRoutes(router, all...), 200, "")
		s.expect(s.addRoutes(router, route(30)), 400, "RoutesExhausted")
		s.expect(s.setRoutes(router, append(all, route(30))...), 400, "RoutesExhausted")
		s.sameRoutes(router, all...)
	}},
	{"of six add_extraroutes at once none is lost", func(s *scene) {
		router, want := s.plainRouter(), []object{}
		for n := range 6 {
			want = append(want, route(n))
		}
		answers := together(6, func(n int) answer { return s.addRoutes(router, route(n)) })
		s.same("statuses", []int{200, 200, 200, 200, 200, 200}, statuses(answers))
		s.sameRoutes(router, want...)
	}},
	{"a stale If-Match stops both ways of writing routes", func(s *scene) {
		router := s.plainRouter()
		stale := ifMatch(s.read(s.operator, "routers", router).revision() - 1)
		path := "/routers/" + router
		s.expect(s.put(s.operator, path, someRoutes(route(1)), stale...), 412, "RevisionNumberConstraintFailed")
		s.expect(s.put(s.operator, path+"/add_extraroutes", someRoutes(route(1)), stale...), 412, "RevisionNumberConstraintFailed")
		s.sameRoutes(router)
	}},
}
