package conformance

import "slices"

func (s *scene) interfacePath(node int) string { return "/servers/" + s.nodes[node] + "/os-interface" }

func (s *scene) attach(k *client, node int, port string) answer {
	s.Helper()
	return s.do(k, "POST", "compute", s.interfacePath(node), object{"interfaceAttachment": object{"port_id": port}})
}

func (s *scene) detach(node int, port string) answer {
	s.Helper()
	return s.do(s.operator, "DELETE", "compute", s.interfacePath(node)+"/"+port, nil)
}

// attached makes a port that is attached to a node, and detaches it at the end.
func (s *scene) attached(node int) object {
	s.Helper()
	p := s.port(nil)
	s.Cleanup(func() { s.freed(node, p.id()) })
	s.expect(s.attach(s.operator, node, p.id()), 200, "")
	return p
}

// freed detaches a port, if it is attached, and waits for it.
func (s *scene) freed(node int, port string) {
	s.Helper()
	s.expect(s.detach(node, port), 202, "")
	s.until("detached", func() bool {
		a := s.get(s.operator, "/ports/"+port)
		return a.status == 404 || a.body().object("port").text("device_id") == ""
	})
	s.until("off the server", func() bool { return !slices.Contains(s.interfacesOf(node), port) })
}

func (s *scene) interfacesOf(node int) []string {
	s.Helper()
	a := s.do(s.operator, "GET", "compute", s.interfacePath(node), nil)
	s.expect(a, 200, "")
	list := []string{}
	for _, i := range a.body().list("interfaceAttachments") {
		list = append(list, i.text("port_id"))
	}
	return list
}

// act locks or unlocks a node.
func (s *scene) act(node int, what string) {
	s.Helper()
	s.expect(s.do(s.operator, "POST", "compute", "/servers/"+s.nodes[node]+"/action", object{what: nil}), 202, "")
}

func (s *scene) deviceOf(port object) string {
	s.Helper()
	return s.read(s.operator, "ports", port.id()).text("device_id")
}

func (s *scene) expectNova(a answer, status int, kind string) {
	s.Helper()
	s.expect(a, status, "")
	if code := a.body().object(kind)["code"]; code != float64(status) {
		s.Fatalf("want %s with code %d, got %s", kind, status, a)
	}
}

var interfaces = []behaviour{
	{"servers are listed with name and status, to their project alone", func(s *scene) {
		for k, want := range map[*client]bool{s.operator: true, s.customer: false} {
			a := s.do(k, "GET", "compute", "/servers/detail", nil)
			s.expect(a, 200, "")
			found := slices.ContainsFunc(a.body().list("servers"), func(server object) bool {
				return server.id() == s.nodes[0] && server.text("status") == "ACTIVE" && server.text("name") == s.cloud.Nodes[0]
			})
			s.same("found", want, found)
		}
		s.expectNova(s.do(s.customer, "GET", "compute", "/servers/"+s.nodes[0], nil), 404, "itemNotFound")
		s.expectNova(s.do(s.operator, "GET", "compute", "/servers/"+missing, nil), 404, "itemNotFound")
	}},
	{"servers are listed in brief, by pages", func(s *scene) {
		found := map[string]bool{}
		for path := "/servers?limit=1"; path != ""; {
			a := s.do(s.operator, "GET", "compute", path, nil)
			s.expect(a, 200, "")
			page := a.body().list("servers")
			if len(page) > 1 {
				s.Fatalf("%d servers on a page of one", len(page))
			}
			path = ""
			for _, server := range page {
				if _, told := server["status"]; found[server.id()] || told {
					s.Fatalf("%v a second time, or not in brief", server)
				}
				found[server.id()] = true
				path = "/servers?limit=1&marker=" + server.id()
			}
			if more := len(a.body().list("servers_links")) > 0; !more {
				path = ""
			}
		}
		for _, id := range s.nodes {
			s.same("found", true, found[id])
		}
	}},
	{"servers are listed with the newest first", func(s *scene) {
		a := s.do(s.operator, "GET", "compute", "/servers/detail", nil)
		s.expect(a, 200, "")
		created := []string{}
		for _, server := range a.body().list("servers") {
			created = append(created, server.text("created"))
		}
		newest := sorted(slices.Clone(created)...)
		slices.Reverse(newest)
		s.same("times of creation", newest, created)
	}},
	{"an attached port is the server's and ACTIVE", func(s *scene) {
		p := s.attached(0)
		now := s.read(s.operator, "ports", p.id())
		s.same("device, status", []string{s.nodes[0], "ACTIVE"}, []string{now.text("device_id"), now.text("status")})
		if len(s.read(s.admin, "ports", p.id()).object("binding:vif_details")) == 0 {
			s.Error("the binding has no details")
		}
		if owner := now.text("device_owner"); owner != "compute:nova" {
			s.Errorf("device_owner %q", owner)
		}
		if !slices.Contains(s.interfacesOf(0), p.id()) {
			s.Error("not among the server's interfaces")
		}
		a := s.do(s.operator, "GET", "compute", s.interfacePath(0)+"/"+p.id(), nil)
		s.expect(a, 200, "")
		i := a.body().object("interfaceAttachment")
		s.same("interface", object{"port_id": p.id(), "net_id": s.network, "mac_addr": p.text("mac_address")},
			pick(i, "port_id", "net_id", "mac_addr"))
	}},
	{"a port that is attached cannot be attached, here or elsewhere", func(s *scene) {
		p := s.attached(0)
		for node := range 2 {
			s.expectNova(s.attach(s.operator, node, p.id()), 409, "conflictingRequest")
		}
		s.same("device", s.nodes[0], s.read(s.operator, "ports", p.id()).text("device_id"))
	}},
	{"a detach is 202 and done later; the port stays with its address", func(s *scene) {
		p := s.attached(0)
		s.freed(0, p.id())
		now := s.read(s.operator, "ports", p.id())
		want := []string{"", "", "DOWN", firstAddress(p)}
		s.same("port", want, []string{now.text("device_id"), now.text("device_owner"), now.text("status"), firstAddress(now)})
		s.expect(s.attach(s.operator, 1, p.id()), 200, "")
		s.freed(1, p.id())
	}},
	{"a detach of what isn't attached, or isn't there, is 202 too", func(s *scene) {
		s.expect(s.detach(0, s.port(nil).id()), 202, "")
		s.expect(s.detach(0, missing), 202, "")
	}},
	{"a server that is locked neither takes a port nor lets one go", func(s *scene) {
		on, off := s.attached(1), s.port(nil)
		s.act(1, "lock")
		s.Cleanup(func() { s.act(1, "unlock") })
		s.expectNova(s.attach(s.operator, 1, off.id()), 409, "conflictingRequest")
		s.expectNova(s.detach(1, on.id()), 409, "conflictingRequest")
		s.same("devices", []string{s.nodes[1], ""}, []string{s.deviceOf(on), s.deviceOf(off)})
	}},
	{"a port that names a server which isn't there is cleared by its owner", func(s *scene) {
		p := s.port(object{"device_id": missing, "device_owner": "compute:nova"})
		a := s.do(s.operator, "DELETE", "compute", "/servers/"+missing+"/os-interface/"+p.id(), nil)
		s.expectNova(a, 404, "itemNotFound")
		s.expect(s.update(s.operator, "ports", p.id(), object{"device_id": "", "device_owner": ""}), 200, "")
		s.same("device", "", s.deviceOf(p))
	}},
	{"attaching a port that isn't there, or another project's, is 404", func(s *scene) {
		s.expectNova(s.attach(s.operator, 0, missing), 404, "itemNotFound")
		network, _ := s.net(s.customer, "10.96.0.0/24")
		theirs := s.make(s.customer, "ports", object{"network_id": network})
		s.expectNova(s.attach(s.operator, 0, theirs.id()), 404, "itemNotFound")
		s.expectNova(s.attach(s.customer, 0, theirs.id()), 404, "itemNotFound")
	}},
	{"attaching to a server that isn't there is 404", func(s *scene) {
		p := s.port(nil)
		a := s.do(s.operator, "POST", "compute", "/servers/"+missing+"/os-interface", object{"interfaceAttachment": object{"port_id": p.id()}})
		s.expectNova(a, 404, "itemNotFound")
	}},
	{"deleting an attached port takes it off the server", func(s *scene) {
		p := s.port(nil)
		s.expect(s.attach(s.operator, 0, p.id()), 200, "")
		s.expect(s.delete(s.operator, "/ports/"+p.id()), 204, "")
		s.until("off the server", func() bool { return !slices.Contains(s.interfacesOf(0), p.id()) })
	}},
	{"three ports attached to one server at once are all attached", func(s *scene) {
		ids := []string{s.port(nil).id(), s.port(nil).id(), s.port(nil).id()}
		s.Cleanup(func() {
			for _, id := range ids {
				s.freed(0, id)
			}
		})
		answers := together(3, func(i int) answer { return s.attach(s.operator, 0, ids[i]) })
		s.same("statuses", []int{200, 200, 200}, statuses(answers))
		for _, id := range ids {
			s.same("device", s.nodes[0], s.read(s.operator, "ports", id).text("device_id"))
		}
	}},
}
