package conformance

import (
	"fmt"
	"slices"
	"strings"
)

// fivePorts makes ports of one description, and answers it and their IDs.
func (s *scene) fivePorts() (description string, ids []string) {
	description = s.name()
	for i := range 5 {
		ids = append(ids, s.port(object{"name": fmt.Sprint("p", i), "description": description}).id())
	}
	return description, sorted(ids...)
}

// next is the link to the page after an answer.
func next(a answer) string {
	for _, link := range a.body().list("ports_links") {
		if link.text("rel") == "next" {
			return link.text("href")
		}
	}
	return ""
}

var lists = []behaviour{
	{"the next links reach every object once, and keep the filter", func(s *scene) {
		description, want := s.fivePorts()
		got, pages := []string{}, 0
		for url := "/ports?limit=2&description=" + description; url != ""; pages++ {
			a := s.get(s.operator, url)
			s.expect(a, 200, "")
			if len(a.body().list("ports")) > 2 {
				s.Fatalf("more than two on a page: %s", a)
			}
			for _, p := range a.body().list("ports") {
				got = append(got, p.id())
			}
			url = next(a)
		}
		s.same("ports", want, sorted(got...))
		s.same("pages", 3, pages)
	}},
	{"a marker asks for what follows it", func(s *scene) {
		description, want := s.fivePorts()
		query := "sort_key=id&sort_dir=asc&limit=3&description=" + description
		first := s.ids(s.operator, "ports", query)
		second := s.ids(s.operator, "ports", query+"&marker="+first[2])
		s.same("both pages", want, append(first, second...))
	}},
	{"an unknown marker is 404", func(s *scene) {
		s.expect(s.get(s.operator, "/ports?limit=2&marker="+missing), 404, "PortNotFound")
	}},
	{"without a limit, or with limit=0, a list is whole and has no links", func(s *scene) {
		description, want := s.fivePorts()
		for _, query := range []string{"", "limit=0&"} {
			a := s.get(s.operator, "/ports?"+query+"description="+description)
			s.same("ports", len(want), len(a.body().list("ports")))
			s.same("next", "", next(a))
		}
	}},
	{"a limit that is no number is 400", func(s *scene) {
		s.expect(s.get(s.operator, "/ports?limit=x"), 400, "")
	}},
	{"sort_key needs sort_dir", func(s *scene) {
		s.expect(s.get(s.operator, "/ports?sort_key=id"), 400, "")
		description, _ := s.fivePorts()
		names := []string{}
		for _, p := range s.list(s.operator, "ports", "sort_key=name&sort_dir=desc&description="+description) {
			names = append(names, p.text("name"))
		}
		s.same("order", []string{"p4", "p3", "p2", "p1", "p0"}, names)
	}},
	{"fields leaves the others out", func(s *scene) {
		p := s.port(nil)
		got := s.list(s.operator, "ports", "fields=id&fields=name&id="+p.id())
		s.same("port", []object{{"id": p.id(), "name": p.text("name")}}, got)
	}},
	{"an unknown field name is no error", func(s *scene) {
		got := s.list(s.operator, "ports", "fields=nonsense&id="+s.port(nil).id())
		s.same("ports", []object{{}}, got)
	}},
	{"a member's list holds no other project's objects", func(s *scene) {
		mine := s.group().id()
		theirs := s.make(s.customer, "security-groups", object{"name": s.name()}).id()
		all := s.ids(s.operator, "security-groups", "")
		s.same("mine, theirs", []bool{true, false}, []bool{slices.Contains(all, mine), slices.Contains(all, theirs)})
		s.same("asked for by project", []string{}, s.ids(s.operator, "security-groups", "project_id="+s.customer.project))
	}},
	{"the admin role lists every project's, unless project_id is given", func(s *scene) {
		theirs := s.make(s.customer, "security-groups", object{"name": s.name()}).id()
		all := s.ids(s.admin, "security-groups", "")
		own := s.ids(s.admin, "security-groups", "project_id="+s.operator.project)
		s.same("in all, in own", []bool{true, false}, []bool{slices.Contains(all, theirs), slices.Contains(own, theirs)})
	}},
	{"subnets are found by their project, and by any of several networks", func(s *scene) {
		first, a := s.net(s.operator, "10.96.0.0/24")
		second, b := s.net(s.operator, "10.97.0.0/24")
		_, theirs := s.net(s.customer, "10.98.0.0/24")
		mine := s.ids(s.operator, "subnets", "ip_version=4&project_id="+s.operator.project)
		s.same("the project's", []bool{true, true, false},
			[]bool{slices.Contains(mine, a), slices.Contains(mine, b), slices.Contains(mine, theirs)})
		s.same("two networks'", sorted(a, b), sorted(s.ids(s.operator, "subnets", "network_id="+first+"&network_id="+second)...))
	}},
	{"a network names its subnets", func(s *scene) {
		network, subnet := s.net(s.operator, "10.99.0.0/24")
		s.same("subnets", []string{subnet}, s.read(s.operator, "networks", network).texts("subnets"))
		got := s.list(s.operator, "subnets", "network_id="+network)
		s.same("found by network", 1, len(got))
		s.same("subnet", object{"id": subnet, "cidr": "10.99.0.0/24", "gateway_ip": "10.99.0.1"}, pick(got[0], "id", "cidr", "gateway_ip"))
	}},
	{"a list of groups has their rules within", func(s *scene) {
		g := s.group()
		got := s.list(s.operator, "security-groups", "id="+g.id())
		s.same("groups", 1, len(got))
		s.same("rules", len(g.list("security_group_rules")), len(got[0].list("security_group_rules")))
	}},
}

var filters = []behaviour{
	{"an unknown filter is 400", func(s *scene) {
		for _, collection := range []string{"ports", "security-groups", "floatingips", "routers", "networks"} {
			s.expect(s.get(s.operator, "/"+collection+"?nonsense=1"), 400, "HTTPBadRequest")
		}
	}},
	{"names are not unique, and the filter finds all", func(s *scene) {
		name := s.name()
		for collection, attributes := range map[string]object{
			"ports": {"network_id": s.network}, "security-groups": {}, "routers": {}, "networks": {},
		} {
			attributes["name"] = name
			a, b := s.make(s.operator, collection, attributes), s.make(s.operator, collection, attributes)
			s.same(collection, sorted(a.id(), b.id()), s.ids(s.operator, collection, "name="+name))
		}
	}},
	{"description is a filter too", func(s *scene) {
		description := s.name()
		for collection, o := range map[string]object{
			"ports":           s.port(object{"description": description}),
			"security-groups": s.make(s.operator, "security-groups", object{"name": "x", "description": description}),
			"floatingips":     s.floatingIP(object{"description": description}),
		} {
			s.same(collection, []string{o.id()}, s.ids(s.operator, collection, "description="+description))
		}
	}},
	{"one filter given twice is OR, two filters are AND", func(s *scene) {
		a, b := s.port(nil), s.port(nil)
		both := "id=" + a.id() + "&id=" + b.id()
		s.same("either", sorted(a.id(), b.id()), s.ids(s.operator, "ports", both))
		s.same("with a name", []string{a.id()}, s.ids(s.operator, "ports", both+"&name="+a.text("name")))
	}},
	{"ports are found by network, by address, and by both", func(s *scene) {
		p := s.port(nil)
		ip := "fixed_ips=ip_address=" + firstAddress(p)
		s.same("address", []string{p.id()}, s.ids(s.operator, "ports", ip+"&network_id="+s.network))
		s.same("elsewhere", []string{}, s.ids(s.operator, "ports", ip+"&network_id="+s.pool))
		if !slices.Contains(s.ids(s.operator, "ports", "fixed_ips=subnet_id="+s.subnet), p.id()) {
			s.Error("not found by its subnet")
		}
	}},
	{"router interfaces are found by device_id and device_owner", func(s *scene) {
		got := s.list(s.operator, "ports", "device_owner=network:router_interface&device_id="+s.router)
		if !slices.ContainsFunc(got, func(p object) bool { return p.text("network_id") == s.network }) {
			s.Errorf("no interface in the network among %d", len(got))
		}
	}},
	{"external networks are found by router:external", func(s *scene) {
		if !slices.Contains(s.ids(s.customer, "networks", "router:external=true"), s.pool) {
			s.Error("the pool is not listed")
		}
		if slices.Contains(s.ids(s.operator, "networks", "router:external=true"), s.network) {
			s.Error("the transit network is listed")
		}
	}},
	{"floating IPs are found by address and by port", func(s *scene) {
		p := s.port(nil)
		f := s.floatingIP(object{"port_id": p.id()})
		s.same("address", []string{f.id()}, s.ids(s.operator, "floatingips", "floating_ip_address="+f.text("floating_ip_address")))
		s.same("port", []string{f.id()}, s.ids(s.operator, "floatingips", "port_id="+p.id()))
	}},
	{"a value that nothing has finds nothing", func(s *scene) {
		s.same("ports", []string{}, s.ids(s.operator, "ports", "name="+strings.Repeat("n", 40)))
		s.same("address", []string{}, s.ids(s.operator, "floatingips", "floating_ip_address=192.0.2.77"))
	}},
}
