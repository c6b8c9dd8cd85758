package conformance

import "strings"

// limit sets the customer's quota of one resource, for the scene.
func (s *scene) limit(resource string, n int) {
	s.Helper()
	path := "/quotas/" + s.customer.project
	before := s.get(s.admin, path).body().object("quota")[resource]
	set := func(value any) {
		s.Helper()
		s.expect(s.put(s.admin, path, object{"quota": object{resource: value}}), 200, "")
	}
	s.Cleanup(func() { set(before) })
	set(n)
}

// used is what the customer has of a resource, as the quota details count it.
func (s *scene) used(resource string) int {
	s.Helper()
	a := s.get(s.customer, "/quotas/"+s.customer.project+"/details.json")
	s.expect(a, 200, "")
	n, ok := a.body().object("quota").object(resource)["used"].(float64)
	if !ok {
		s.Fatalf("no %s.used in %s", resource, a)
	}
	return int(n)
}

func (s *scene) overQuota(a answer, resource string) {
	s.Helper()
	s.expect(a, 409, "OverQuota")
	if message := a.body().object("NeutronError").text("message"); !strings.Contains(message, "'"+resource+"'") {
		s.Errorf("want %s named in %q", resource, message)
	}
}

var quotas = []behaviour{
	{"details tell limit, used and reserved", func(s *scene) {
		before := s.used("security_group")
		s.make(s.customer, "security-groups", object{"name": s.name()})
		s.same("used", before+1, s.used("security_group"))
		a := s.get(s.customer, "/quotas/"+s.customer.project+"/details.json")
		for _, field := range []string{"limit", "used", "reserved"} {
			if _, ok := a.body().object("quota").object("port")[field].(float64); !ok {
				s.Errorf("no %s in %s", field, a)
			}
		}
	}},
	{"a member sets no quota, its own neither", func(s *scene) {
		a := s.put(s.customer, "/quotas/"+s.customer.project, object{"quota": object{"port": 5}})
		s.expect(a, 403, "PolicyNotAuthorized")
	}},
	{"a port over quota is 409 OverQuota", func(s *scene) {
		network, _ := s.net(s.customer, "10.96.0.0/24")
		s.limit("port", s.used("port"))
		s.overQuota(s.try(s.customer, "ports", object{"network_id": network}), "port")
	}},
	{"a group over quota is 409 OverQuota", func(s *scene) {
		s.limit("security_group", s.used("security_group"))
		s.overQuota(s.try(s.customer, "security-groups", object{"name": s.name()}), "security_group")
	}},
	{"a rule over quota is 409 OverQuota", func(s *scene) {
		g := s.make(s.customer, "security-groups", object{"name": s.name()})
		s.limit("security_group_rule", s.used("security_group_rule"))
		s.overQuota(s.try(s.customer, "security-group-rules", ingress(g, object{"protocol": "udp"})), "security_group_rule")
	}},
	{"a floating IP over quota is 409 OverQuota", func(s *scene) {
		s.limit("floatingip", s.used("floatingip"))
		s.overQuota(s.try(s.customer, "floatingips", object{"floating_network_id": s.pool}), "floatingip")
	}},
}
