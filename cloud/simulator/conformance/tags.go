package conformance

import (
	"net/url"
	"slices"
	"strings"
)

const (
	slashTag = "vpn.bnerd.net/owner=VPNGateway/acme/dc1"
	roleTag  = "vpn.bnerd.net/role=gateway"
	otherTag = "vpn.bnerd.net/role=customer"
)

func (s *scene) tag(k *client, collection, id string, list ...string) answer {
	s.Helper()
	return s.put(k, "/"+collection+"/"+id+"/tags", object{"tags": list})
}

func (s *scene) tagsOf(k *client, collection, id string) []string {
	s.Helper()
	return sorted(s.read(k, collection, id).texts("tags")...)
}

// twoTagged makes two groups: both have slashTag, one each of the others.
func (s *scene) twoTagged() (gateway, customer string) {
	s.Helper()
	gateway, customer = s.group().id(), s.group().id()
	s.expect(s.tag(s.operator, "security-groups", gateway, slashTag, roleTag), 200, "")
	s.expect(s.tag(s.operator, "security-groups", customer, slashTag, otherTag), 200, "")
	return gateway, customer
}

var tags = []behaviour{
	{"a PUT of the list takes slashes and equals signs, and answers the list", func(s *scene) {
		g := s.group()
		a := s.tag(s.operator, "security-groups", g.id(), slashTag, roleTag)
		s.expect(a, 200, "")
		s.same("answer", sorted(slashTag, roleTag), sorted(a.body().texts("tags")...))
		s.same("read", sorted(slashTag, roleTag), s.tagsOf(s.operator, "security-groups", g.id()))
	}},
	{"a PUT of the list replaces it and moves the revision", func(s *scene) {
		g := s.group()
		s.tag(s.operator, "security-groups", g.id(), slashTag, roleTag)
		before := s.read(s.operator, "security-groups", g.id()).revision()
		s.tag(s.operator, "security-groups", g.id(), otherTag)
		after := s.read(s.operator, "security-groups", g.id())
		s.same("tags", []string{otherTag}, after.texts("tags"))
		if after.revision() <= before {
			s.Errorf("revision %d, was %d", after.revision(), before)
		}
	}},
	{"the per-tag address is 404 for a tag with a slash", func(s *scene) {
		g := s.group()
		s.tag(s.operator, "security-groups", g.id(), slashTag)
		path := "/security-groups/" + g.id() + "/tags/"
		s.expect(s.put(s.operator, path+url.PathEscape(roleTag), nil), 404, "")
		s.expect(s.put(s.operator, path+roleTag, nil), 404, "")
		s.expect(s.delete(s.operator, path+url.PathEscape(slashTag)), 404, "")
		s.same("tags", []string{slashTag}, s.tagsOf(s.operator, "security-groups", g.id()))
	}},
	{"the per-tag address serves a tag without a slash", func(s *scene) {
		g := s.group()
		path := "/security-groups/" + g.id() + "/tags/plain%3D1"
		s.expect(s.put(s.operator, path, nil), 201, "")
		s.same("tags", []string{"plain=1"}, s.tagsOf(s.operator, "security-groups", g.id()))
		s.expect(s.delete(s.operator, path), 204, "")
		s.same("tags", []string{}, s.tagsOf(s.operator, "security-groups", g.id()))
	}},
	{"DELETE of all tags is 204", func(s *scene) {
		g := s.group()
		s.tag(s.operator, "security-groups", g.id(), slashTag, roleTag)
		s.expect(s.delete(s.operator, "/security-groups/"+g.id()+"/tags"), 204, "")
		s.same("tags", []string{}, s.tagsOf(s.operator, "security-groups", g.id()))
	}},
	{"POST of tags is 404", func(s *scene) {
		a := s.do(s.operator, "POST", "network", "/security-groups/"+s.group().id()+"/tags", object{"tags": []string{"x"}})
		s.expect(a, 404, "")
	}},
	{"tags=A,B and tags=A&tags=B are AND", func(s *scene) {
		gateway, customer := s.twoTagged()
		both := sorted(gateway, customer)
		tag := url.QueryEscape
		s.same("one", both, s.ids(s.operator, "security-groups", "tags="+tag(slashTag)))
		s.same("comma", []string{gateway}, s.ids(s.operator, "security-groups", "tags="+tag(slashTag+","+roleTag)))
		s.same("twice", []string{gateway}, s.ids(s.operator, "security-groups", "tags="+tag(slashTag)+"&tags="+tag(roleTag)))
		s.same("unescaped", both, s.ids(s.operator, "security-groups", "tags="+slashTag))
	}},
	{"tags-any=A,B is OR", func(s *scene) {
		gateway, customer := s.twoTagged()
		s.same("any", sorted(gateway, customer),
			s.ids(s.operator, "security-groups", "tags-any="+url.QueryEscape(roleTag+","+otherTag)))
	}},
	{"not-tags and not-tags-any leave out", func(s *scene) {
		gateway, customer := s.twoTagged()
		got := s.ids(s.operator, "security-groups", "not-tags="+url.QueryEscape(slashTag+","+roleTag))
		s.same("not all of them", []bool{false, true}, []bool{slices.Contains(got, gateway), slices.Contains(got, customer)})
		got = s.ids(s.operator, "security-groups", "not-tags-any="+url.QueryEscape(roleTag+","+otherTag))
		s.same("none of them", []bool{false, false}, []bool{slices.Contains(got, gateway), slices.Contains(got, customer)})
	}},
	{"a tag has 255 characters at most", func(s *scene) {
		g := s.group()
		s.expect(s.tag(s.operator, "security-groups", g.id(), strings.Repeat("x", 255)), 200, "")
		s.expect(s.tag(s.operator, "security-groups", g.id(), strings.Repeat("x", 256)), 400, "InvalidInput")
	}},
	{"one tag twice is 400", func(s *scene) {
		s.expect(s.tag(s.operator, "security-groups", s.group().id(), "a", "a"), 400, "InvalidInput")
	}},
	{"two hundred tags are accepted", func(s *scene) {
		g, list := s.group(), []string{}
		for i := range 200 {
			list = append(list, "t"+string(rune('a'+i/26))+string(rune('a'+i%26)))
		}
		s.expect(s.tag(s.operator, "security-groups", g.id(), list...), 200, "")
		s.same("tags", sorted(list...), s.tagsOf(s.operator, "security-groups", g.id()))
	}},
	{"a create with tags is 400, but for ports, which lose them", func(s *scene) {
		for collection, attributes := range map[string]object{
			"security-groups": {"name": "x"}, "networks": {}, "routers": {}, "floatingips": {"floating_network_id": s.pool},
		} {
			attributes["tags"] = []string{"a"}
			s.expect(s.try(s.operator, collection, attributes), 400, "HTTPBadRequest")
		}
		p := s.port(object{"tags": []string{slashTag}})
		s.same("port's tags", []string{}, s.tagsOf(s.operator, "ports", p.id()))
	}},
	{"an update with tags is 400", func(s *scene) {
		s.expect(s.update(s.operator, "security-groups", s.group().id(), object{"tags": []string{"a"}}), 400, "HTTPBadRequest")
	}},
	{"all that vpnctl makes can be tagged and found by tag", func(s *scene) {
		tag := "vpn.bnerd.net/owner=" + s.name()
		network, subnet := s.net(s.operator, "10.98.0.0/24")
		for collection, id := range map[string]string{
			"security-groups": s.group().id(), "ports": s.port(nil).id(), "floatingips": s.floatingIP(nil).id(),
			"routers": s.make(s.operator, "routers", object{}).id(), "networks": network, "subnets": subnet,
		} {
			s.expect(s.tag(s.operator, collection, id, tag), 200, "")
			s.same(collection, []string{id}, s.ids(s.operator, collection, "tags="+url.QueryEscape(tag)))
		}
	}},
	{"rules and sharing policies cannot be tagged", func(s *scene) {
		rule := s.rule(s.group(), object{"protocol": "udp"})
		s.expect(s.tag(s.operator, "security-group-rules", rule.id(), "a"), 404, "")
		network, _ := s.net(s.operator, "10.98.0.0/24")
		policy := s.share(network)
		s.expect(s.tag(s.operator, "rbac-policies", policy.id(), "a"), 404, "")
	}},
	{"tagging what isn't there, or isn't seen, is 404", func(s *scene) {
		s.expect(s.tag(s.operator, "security-groups", missing, "a"), 404, "")
		s.expect(s.tag(s.customer, "security-groups", s.group().id(), "a"), 404, "")
	}},
	{"whoever sees an object can replace its tags", func(s *scene) {
		network, _ := s.net(s.operator, "10.98.0.0/24")
		s.share(network)
		s.expect(s.tag(s.customer, "networks", network, "theirs"), 200, "")
		s.same("owner's view", []string{"theirs"}, s.tagsOf(s.operator, "networks", network))
	}},
}
