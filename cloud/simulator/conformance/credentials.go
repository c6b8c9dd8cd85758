package conformance

import (
	"net/http"
	"time"
)

// enter is the customer's user, who alone may make and delete its application
// credentials.
func (s *scene) enter() *client {
	s.Helper()
	k, err := enter(s.cloud.AuthURL, byPassword(s.cloud.Password))
	if err != nil {
		s.Fatal(err)
	}
	return k
}

// auth asks Keystone for a token.
func (s *scene) auth(auth object) answer {
	s.Helper()
	return s.do(s.customer, "POST", "identity", "/auth/tokens", object{"auth": auth})
}

func credentialsOf(k *client) string { return "/users/" + k.user + "/application_credentials" }

// grant asks for an application credential of the customer's user.
func (s *scene) grant(k *client, attributes object) answer {
	s.Helper()
	attributes["name"] = s.name()
	a := s.do(k, "POST", "identity", credentialsOf(k), object{"application_credential": attributes})
	if a.status == http.StatusCreated {
		s.Cleanup(func() { s.revoke(k, a.body().object("application_credential").id()) })
	}
	return a
}

func (s *scene) revoke(k *client, id string) {
	s.Helper()
	if a := s.do(k, "DELETE", "identity", credentialsOf(k)+"/"+id, nil); a.status != http.StatusNoContent && a.status != http.StatusNotFound {
		s.Errorf("left behind: %s", a)
	}
}

// granted is one that must be made, and as the API shows it.
func (s *scene) granted(k *client, attributes object) (Credential, object) {
	s.Helper()
	a := s.grant(k, attributes)
	s.expect(a, http.StatusCreated, "")
	made := a.body().object("application_credential")
	return Credential{made.id(), made.text("secret")}, made
}

// rolesOf are the names of a token's roles, sorted.
func rolesOf(a answer) []string {
	names := []string{}
	for _, role := range a.body().object("token").list("roles") {
		names = append(names, role.text("name"))
	}
	return sorted(names...)
}

// in is a moment from now, as Keystone reads it.
func in(d time.Duration) string { return time.Now().Add(d).UTC().Format("2006-01-02T15:04:05.000000Z") }

var credentials = []behaviour{
	{"a token for no project has no roles and no catalog", func(s *scene) {
		who := s.cloud.Password
		who.Project = ""
		a := s.auth(byPassword(who))
		s.expect(a, http.StatusCreated, "")
		for _, name := range []string{"project", "roles", "catalog"} {
			if there, has := a.body().object("token")[name]; has {
				s.Errorf("%s: %v", name, there)
			}
		}
	}},
	{"whoever has a token for no project finds nothing, and no error", func(s *scene) {
		who := s.cloud.Password
		who.Project = ""
		a := s.auth(byPassword(who))
		s.expect(a, http.StatusCreated, "")
		routers := s.get(s.customer, "/routers", "X-Auth-Token", a.header.Get("X-Subject-Token"))
		s.expect(routers, http.StatusOK, "")
		s.same("routers", 0, len(routers.body().list("routers")))
	}},
	{"a project or a domain in which the user has no role is 401, as a wrong password is", func(s *scene) {
		auth := byPassword(s.cloud.Password)
		for _, scope := range []object{{"project": object{"id": s.operator.project}}, {"domain": object{"name": "Default"}}} {
			auth["scope"] = scope
			s.unauthorized(s.auth(auth))
		}
		who := s.cloud.Password
		who.Word = "wrong"
		s.unauthorized(s.auth(byPassword(who)))
	}},
	{"an application credential has some of its user's roles, or all of them, and no others", func(s *scene) {
		k := s.enter()
		for _, c := range []struct {
			attributes object
			want       []string
		}{
			{object{"roles": []object{{"name": "reader"}}}, []string{"reader"}},
			{object{}, []string{"member", "reader"}},
		} {
			made, _ := s.granted(k, c.attributes)
			a := s.auth(byApplicationCredential(made))
			s.expect(a, http.StatusCreated, "")
			s.same("roles", c.want, rolesOf(a))
		}
		s.expect(s.grant(k, object{"roles": []object{{"name": "admin"}}}), http.StatusBadRequest, "")
	}},
	{"an application credential that was deleted is 404, whatever the secret", func(s *scene) {
		k := s.enter()
		c, _ := s.granted(k, object{})
		s.expect(s.auth(byApplicationCredential(c)), http.StatusCreated, "")
		s.revoke(k, c.ID) // its tokens may be taken for minutes still, until caches have forgotten them
		for _, secret := range []string{c.Secret, "wrong"} {
			s.expect(s.auth(byApplicationCredential(Credential{c.ID, secret})), http.StatusNotFound, "")
		}
	}},
	{"an application credential that has expired is 401, and its tokens end when it does", func(s *scene) {
		c, made := s.granted(s.enter(), object{"expires_at": in(3 * time.Second)})
		a := s.auth(byApplicationCredential(c))
		s.expect(a, http.StatusCreated, "")
		s.same("end of the token", made.text("expires_at"), a.body().object("token").text("expires_at"))
		had := *s.customer
		had.token = a.header.Get("X-Subject-Token")
		s.until("it has expired", func() bool { return s.auth(byApplicationCredential(c)).status != http.StatusCreated })
		s.unauthorized(s.auth(byApplicationCredential(c)))
		s.until("the token is worth nothing", func() bool { return s.get(&had, "/routers").status == http.StatusUnauthorized })
	}},
	{"an application credential that has expired already is not made: 400", func(s *scene) {
		k := s.enter()
		s.expect(s.grant(k, object{"expires_at": in(-time.Minute)}), http.StatusBadRequest, "")
		s.expect(s.grant(k, object{"expires_at": "soon"}), http.StatusBadRequest, "")
	}},
}
