package conformance

var revisions = []behaviour{
	{"a change with the current number is done and moves it", func(s *scene) {
		p := s.port(nil)
		a := s.update(s.operator, "ports", p.id(), object{"description": "a"}, ifMatch(p.revision())...)
		s.expect(a, 200, "")
		if now := a.body().object("port").revision(); now <= p.revision() {
			s.Errorf("revision %d, was %d", now, p.revision())
		}
	}},
	{"a change with a stale number is 412", func(s *scene) {
		p, f, g := s.port(nil), s.floatingIP(nil), s.group()
		stale := ifMatch(p.revision() - 1)
		s.expect(s.update(s.operator, "ports", p.id(), object{"description": "a"}, stale...), 412, "RevisionNumberConstraintFailed")
		s.expect(s.update(s.operator, "floatingips", f.id(), object{"description": "a"}, ifMatch(99)...), 412, "RevisionNumberConstraintFailed")
		s.expect(s.update(s.operator, "security-groups", g.id(), object{"description": "a"}, ifMatch(99)...), 412, "RevisionNumberConstraintFailed")
		s.same("description", "", s.read(s.operator, "ports", p.id()).text("description"))
	}},
	{"a delete with a stale number is 412, with the current one 204", func(s *scene) {
		p := s.port(nil)
		path := "/ports/" + p.id()
		s.expect(s.delete(s.operator, path, ifMatch(p.revision()-1)...), 412, "RevisionNumberConstraintFailed")
		now := s.read(s.operator, "ports", p.id()).revision()
		s.expect(s.delete(s.operator, path, ifMatch(now)...), 204, "")
	}},
	{"anything else in If-Match is ignored", func(s *scene) {
		p := s.port(nil)
		for _, match := range []string{"7", "*"} {
			s.expect(s.update(s.operator, "ports", p.id(), object{"description": match}, "If-Match", match), 200, "")
		}
	}},
	{"a change of nothing moves the number too", func(s *scene) {
		p := s.port(nil)
		a := s.update(s.operator, "ports", p.id(), object{"name": p.text("name")})
		s.expect(a, 200, "")
		if now := s.read(s.operator, "ports", p.id()).revision(); now <= p.revision() {
			s.Errorf("revision %d, was %d", now, p.revision())
		}
	}},
	{"a new rule moves the group's number, a port's use of it does not", func(s *scene) {
		g := s.group()
		s.rule(g, object{"protocol": "udp"})
		ruled := s.read(s.operator, "security-groups", g.id()).revision()
		if ruled <= g.revision() {
			s.Errorf("revision %d, was %d", ruled, g.revision())
		}
		s.port(object{"security_groups": []string{g.id()}})
		s.same("after use", ruled, s.read(s.operator, "security-groups", g.id()).revision())
	}},
	{"tags move the number, so that an earlier one is stale", func(s *scene) {
		p := s.port(nil)
		s.expect(s.tag(s.operator, "ports", p.id(), slashTag), 200, "")
		a := s.update(s.operator, "ports", p.id(), object{"description": "a"}, ifMatch(p.revision())...)
		s.expect(a, 412, "RevisionNumberConstraintFailed")
	}},
	{"a change of what is gone is 404", func(s *scene) {
		p := s.port(nil)
		s.expect(s.delete(s.operator, "/ports/"+p.id()), 204, "")
		s.expect(s.update(s.operator, "ports", p.id(), object{"name": "a"}), 404, "PortNotFound")
	}},
}
