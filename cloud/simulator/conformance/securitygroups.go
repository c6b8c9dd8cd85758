package conformance

import (
	"fmt"
	"regexp"
	"slices"
)

// rule adds an ingress rule to a group.
func (s *scene) rule(group object, attributes object) object {
	s.Helper()
	a := s.tryRule(group, attributes)
	s.expect(a, 201, "")
	return a.body().object("security_group_rule")
}

func (s *scene) tryRule(group object, attributes object) answer {
	s.Helper()
	return s.do(s.operator, "POST", "network", "/security-group-rules",
		object{"security_group_rule": ingress(group, attributes)})
}

func ingress(group object, attributes object) object {
	all := object{"security_group_id": group.id(), "direction": "ingress", "ethertype": "IPv4"}
	for k, v := range attributes {
		all[k] = v
	}
	return all
}

func (s *scene) rulesOf(group object) []object {
	s.Helper()
	return s.read(s.operator, "security-groups", group.id()).list("security_group_rules")
}

var securityGroups = []behaviour{
	{"a new group has two rules: egress of IPv4 and of IPv6", func(s *scene) {
		got := []string{}
		for _, r := range s.group().list("security_group_rules") {
			got = append(got, r.text("direction")+" "+r.text("ethertype"))
		}
		s.same("rules", sorted("egress IPv4", "egress IPv6"), sorted(got...))
	}},
	{"name and description change by an update", func(s *scene) {
		g := s.group()
		a := s.update(s.operator, "security-groups", g.id(), object{"name": "n", "description": "d"})
		s.expect(a, 200, "")
		now := s.read(s.operator, "security-groups", g.id())
		s.same("name, description", []string{"n", "d"}, []string{now.text("name"), now.text("description")})
	}},
	{"a group that a port uses cannot be deleted", func(s *scene) {
		g := s.group()
		p := s.port(object{"security_groups": []string{g.id()}})
		s.expect(s.delete(s.operator, "/security-groups/"+g.id()), 409, "SecurityGroupInUse")
		s.expect(s.delete(s.operator, "/ports/"+p.id()), 204, "")
		s.expect(s.delete(s.operator, "/security-groups/"+g.id()), 204, "")
	}},
	{"the name default is taken", func(s *scene) {
		s.expect(s.try(s.operator, "security-groups", object{"name": "default"}), 409, "SecurityGroupDefaultAlreadyExists")
	}},
	{"deleting a group deletes its rules", func(s *scene) {
		g := s.group()
		r := s.rule(g, object{"protocol": "udp"})
		s.expect(s.delete(s.operator, "/security-groups/"+g.id()), 204, "")
		s.expect(s.get(s.operator, "/security-group-rules/"+r.id()), 404, "SecurityGroupRuleNotFound")
	}},
}

var rules = []behaviour{
	{"a rule tells protocol, ports and prefix as they were given", func(s *scene) {
		r := s.rule(s.group(), object{
			"protocol": "udp", "port_range_min": 500, "port_range_max": 500,
			"remote_ip_prefix": "203.0.113.9/32", "description": "peer ffm",
		})
		s.same("rule", object{
			"protocol": "udp", "port_range_min": 500.0, "port_range_max": 500.0, "remote_ip_prefix": "203.0.113.9/32",
			"normalized_cidr": "203.0.113.9/32", "description": "peer ffm", "remote_group_id": nil,
		}, pick(r, "protocol", "port_range_min", "port_range_max", "remote_ip_prefix", "normalized_cidr", "description", "remote_group_id"))
	}},
	{"what a rule leaves out is null", func(s *scene) {
		r := s.rule(s.group(), object{})
		want := object{"protocol": nil, "port_range_min": nil, "port_range_max": nil, "remote_ip_prefix": nil, "normalized_cidr": nil}
		s.same("rule", want, pick(r, "protocol", "port_range_min", "port_range_max", "remote_ip_prefix", "normalized_cidr"))
	}},
	{"a protocol given as a number stays one", func(s *scene) {
		g := s.group()
		for _, number := range []any{"50", 17} {
			s.same("protocol", fmt.Sprint(number), s.rule(g, object{"protocol": number}).text("protocol"))
		}
	}},
	{"everywhere stays written out", func(s *scene) {
		r := s.rule(s.group(), object{"protocol": "udp", "remote_ip_prefix": "0.0.0.0/0"})
		s.same("prefix, normalized", []string{"0.0.0.0/0", "0.0.0.0/0"}, []string{r.text("remote_ip_prefix"), r.text("normalized_cidr")})
	}},
	{"an address without a length is one host", func(s *scene) {
		r := s.rule(s.group(), object{"protocol": "udp", "remote_ip_prefix": "203.0.113.9"})
		s.same("prefix", "203.0.113.9/32", r.text("remote_ip_prefix"))
	}},
	{"host bits stay in the prefix, not in normalized_cidr", func(s *scene) {
		r := s.rule(s.group(), object{"protocol": "udp", "remote_ip_prefix": "10.8.0.5/24"})
		s.same("prefix, normalized", []string{"10.8.0.5/24", "10.8.0.0/24"}, []string{r.text("remote_ip_prefix"), r.text("normalized_cidr")})
	}},
	{"a duplicate is 409 and names the rule that is there", func(s *scene) {
		g := s.group()
		udp := object{"protocol": "udp", "port_range_min": 51820, "port_range_max": 51820}
		r := s.rule(g, udp)
		a := s.tryRule(g, udp)
		s.expect(a, 409, "SecurityGroupRuleExists")
		named := regexp.MustCompile(`Rule id is ([0-9a-f-]{36})`).FindStringSubmatch(a.body().object("NeutronError").text("message"))
		if len(named) != 2 || named[1] != r.id() {
			s.Errorf("want %s named in %s", r.id(), a)
		}
	}},
	{"a duplicate in other words is one: description, everywhere, 17 for udp", func(s *scene) {
		g := s.group()
		s.rule(g, object{"protocol": "udp", "port_range_min": 51820, "port_range_max": 51820})
		for _, other := range []object{{"description": "x"}, {"remote_ip_prefix": "0.0.0.0/0"}, {"protocol": "17"}} {
			same := object{"protocol": "udp", "port_range_min": 51820, "port_range_max": 51820}
			for k, v := range other {
				same[k] = v
			}
			s.expect(s.tryRule(g, same), 409, "SecurityGroupRuleExists")
		}
	}},
	{"ports are a range, and need a protocol that has them", func(s *scene) {
		g := s.group()
		s.expect(s.tryRule(g, object{"protocol": "tcp", "port_range_min": 9, "port_range_max": 1}), 400, "SecurityGroupInvalidPortRange")
		s.expect(s.tryRule(g, object{"port_range_min": 9, "port_range_max": 10}), 400, "SecurityGroupProtocolRequiredWithPorts")
		s.expect(s.tryRule(g, object{"protocol": "tcp", "port_range_min": 1, "port_range_max": 70000}), 400, "SecurityGroupInvalidPortValue")
		s.expect(s.tryRule(g, object{"protocol": "tcp", "remote_ip_prefix": "10.0.0.0/99"}), 400, "")
	}},
	{"many rules in one request are made all", func(s *scene) {
		g := s.group()
		a := s.do(s.operator, "POST", "network", "/security-group-rules", bulk(g, 100, 10))
		s.expect(a, 201, "")
		s.same("made", 10, len(a.body().list("security_group_rules")))
		s.same("there", 12, len(s.rulesOf(g)))
	}},
	{"many rules with one duplicate are made none", func(s *scene) {
		g := s.group()
		s.rule(g, object{"protocol": "tcp", "port_range_min": 109, "port_range_max": 109})
		a := s.do(s.operator, "POST", "network", "/security-group-rules", bulk(g, 100, 10))
		s.expect(a, 409, "SecurityGroupRuleExists")
		s.same("there", 3, len(s.rulesOf(g)))
	}},
	{"a rule is deleted once", func(s *scene) {
		g := s.group()
		r := s.rule(g, object{"protocol": "udp"})
		s.expect(s.delete(s.operator, "/security-group-rules/"+r.id()), 204, "")
		s.expect(s.delete(s.operator, "/security-group-rules/"+r.id()), 404, "SecurityGroupRuleNotFound")
		s.same("there", 2, len(s.rulesOf(g)))
	}},
	{"rules are listed by their group", func(s *scene) {
		g := s.group()
		r := s.rule(g, object{"protocol": "udp"})
		got := s.ids(s.operator, "security-group-rules", "security_group_id="+g.id())
		s.same("rules", []bool{true, true}, []bool{len(got) == 3, slices.Contains(got, r.id())})
	}},
	{"a rule for a group that isn't there, or another project's, is 404", func(s *scene) {
		s.expect(s.tryRule(object{"id": missing}, object{"protocol": "udp"}), 404, "SecurityGroupNotFound")
		a := s.try(s.customer, "security-group-rules", ingress(s.group(), object{"protocol": "udp"}))
		s.expect(a, 404, "SecurityGroupNotFound")
	}},
}

func bulk(group object, from, n int) object {
	list := []object{}
	for port := from; port < from+n; port++ {
		list = append(list, ingress(group, object{"protocol": "tcp", "port_range_min": port, "port_range_max": port}))
	}
	return object{"security_group_rules": list}
}

func pick(o object, names ...string) object {
	picked := object{}
	for _, name := range names {
		picked[name] = o[name]
	}
	return picked
}
