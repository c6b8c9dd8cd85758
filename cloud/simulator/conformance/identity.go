package conformance

import (
	"net/http"
	"slices"
	"strings"
)

var identity = []behaviour{
	{"an application credential logs in to its project", func(s *scene) {
		a := s.do(s.operator, "POST", "identity", "/auth/tokens", object{"auth": byApplicationCredential(s.cloud.Operator)})
		s.expect(a, http.StatusCreated, "")
		token := a.body().object("token")
		if a.header.Get("X-Subject-Token") == "" || token.text("expires_at") == "" {
			s.Fatalf("token or expiry missing: %s", a)
		}
		s.same("project", s.operator.project, token.object("project").id())
	}},
	{"the catalog has an endpoint for network and for compute", func(s *scene) {
		for _, service := range []string{"network", "compute"} {
			if s.operator.endpoints[service] == "" {
				s.Errorf("none for %s in %v", service, s.operator.endpoints)
			}
		}
	}},
	{"a token names the roles: only the admin has admin", func(s *scene) {
		for credential, want := range map[Credential]bool{s.cloud.Operator: false, s.cloud.Admin: true} {
			a := s.do(s.operator, "POST", "identity", "/auth/tokens", object{"auth": byApplicationCredential(credential)})
			admin := slices.ContainsFunc(a.body().object("token").list("roles"),
				func(role object) bool { return role.text("name") == "admin" })
			s.same("admin role", want, admin)
		}
	}},
	{"a wrong secret is 401 with code and title", func(s *scene) {
		a := s.do(s.operator, "POST", "identity", "/auth/tokens",
			object{"auth": byApplicationCredential(Credential{s.cloud.Operator.ID, "wrong"})})
		s.unauthorized(a)
	}},
	{"an application credential with a scope beside it is 401", func(s *scene) {
		auth := byApplicationCredential(s.cloud.Operator)
		auth["scope"] = object{"project": object{"id": s.customer.project}}
		s.unauthorized(s.do(s.operator, "POST", "identity", "/auth/tokens", object{"auth": auth}))
	}},
	{"an application credential that nobody has, or any more, is 404", func(s *scene) {
		a := s.do(s.operator, "POST", "identity", "/auth/tokens", object{"auth": byApplicationCredential(Credential{"0123456789abcdef0123456789abcdef", "any"})})
		s.expect(a, http.StatusNotFound, "")
		s.same("code", any(404.0), a.body().object("error")["code"])
	}},
	{"the customer's token is for another project, with the role member", func(s *scene) {
		a := s.do(s.customer, "POST", "identity", "/auth/tokens", object{"auth": byApplicationCredential(s.cloud.Customer)})
		s.expect(a, http.StatusCreated, "")
		token := a.body().object("token")
		if project := token.object("project").id(); project == "" || project == s.operator.project {
			s.Errorf("project %q", project)
		}
		if !slices.ContainsFunc(token.list("roles"), func(role object) bool { return role.text("name") == "member" }) {
			s.Errorf("roles %v", token["roles"])
		}
	}},
	{"an application credential makes no other: 403", func(s *scene) {
		a := s.do(s.operator, "POST", "identity", "/users/"+s.operator.user+"/application_credentials",
			object{"application_credential": object{"name": s.name()}})
		s.expect(a, http.StatusForbidden, "")
	}},
	{"Neutron answers a bad token with 401 and where to log in", func(s *scene) {
		a := s.get(s.operator, "/ports", "X-Auth-Token", "bad")
		s.unauthorized(a)
		if !strings.HasPrefix(a.header.Get("WWW-Authenticate"), "Keystone uri=") {
			s.Errorf("WWW-Authenticate: %q", a.header.Get("WWW-Authenticate"))
		}
	}},
	{"Nova answers a bad token with 401", func(s *scene) {
		s.unauthorized(s.do(s.operator, "GET", "compute", "/servers", nil, "X-Auth-Token", "bad"))
	}},
	{"the root of Keystone's v3 says that it is v3", func(s *scene) {
		a := s.do(s.operator, "GET", "identity", "/", nil)
		s.expect(a, http.StatusOK, "")
		if id := a.body().object("version").id(); !strings.HasPrefix(id, "v3.") {
			s.Errorf("version %q", id)
		}
	}},
}

func (s *scene) unauthorized(a answer) {
	s.Helper()
	s.expect(a, http.StatusUnauthorized, "")
	e := a.body().object("error")
	s.same("code", any(401.0), e["code"])
	s.same("title", "Unauthorized", e.text("title"))
}
