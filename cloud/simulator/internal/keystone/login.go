package keystone

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/vpnctl/vpnctl/cloud/simulator/internal/store"
	"github.com/vpnctl/vpnctl/cloud/simulator/internal/wire"
)

// named is how the API refers to something: by ID, or by name and domain.
type named struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Domain *named `json:"domain"`
}

// login is the body of POST /v3/auth/tokens.
type login struct {
	Auth struct {
		Identity struct {
			Methods  []string `json:"methods"`
			Password struct {
				User struct {
					named
					Password string `json:"password"`
				} `json:"user"`
			} `json:"password"`
			Token struct {
				ID string `json:"id"`
			} `json:"token"`
			Credential struct {
				named
				Secret string `json:"secret"`
				User   *named `json:"user"`
			} `json:"application_credential"`
		} `json:"identity"`
		Scope *scope `json:"scope"`
	} `json:"auth"`
}

// scope is what a login asks for: a project, a domain, in which nobody has a role, or
// explicitly none.
type scope struct {
	Project *named `json:"project"`
	Domain  *named `json:"domain"`
	none    bool
}

// UnmarshalJSON takes the word "unscoped" as well as an object.
func (s *scope) UnmarshalJSON(b []byte) error {
	type plain scope
	if s.none = string(b) == `"unscoped"`; s.none {
		return nil
	}
	return json.Unmarshal(b, (*plain)(s))
}

func (s *service) login() *wire.Answer {
	var in login
	if err := json.Unmarshal(s.req.Body, &in); err != nil || len(in.Auth.Identity.Methods) == 0 {
		return badRequest("The server could not comply with the request since it is either malformed or otherwise incorrect.")
	}
	t := ticket{Issued: s.req.Now, Expires: s.req.Now.Add(s.TokenLife)}
	ok := false
	switch in.Auth.Identity.Methods[0] {
	case "password":
		ok = s.byPassword(&in, &t)
	case "application_credential":
		if id := in.Auth.Identity.Credential.ID; id != "" && !s.exists(id) {
			return gone(id)
		}
		// such a credential has its project already: naming one is refused, even the same
		ok = in.Auth.Scope == nil && s.byCredential(&in, &t)
	case "token":
		ok = s.byToken(&in, &t)
	}
	if !ok {
		return wire.Unauthorized(s.authURL())
	}
	a := s.describe(t, http.StatusCreated)
	a.Header.Set("X-Subject-Token", t.seal())
	return a
}

func (s *service) byPassword(in *login, t *ticket) bool {
	who := in.Auth.Identity.Password.User
	for u := range s.DB.Users.All() {
		if (u.ID == who.ID || who.ID == "" && u.Name == who.Name && domain(who.Domain)) && u.Password == who.Password {
			t.User = u.ID
			return s.scope(in, t, u.ProjectID)
		}
	}
	return false
}

func (s *service) byToken(in *login, t *ticket) bool {
	old, ok := open(in.Auth.Identity.Token.ID)
	if !ok || !s.req.Now.Before(old.Expires) || old.Credential != "" {
		return false
	}
	t.User, t.Expires = old.User, old.Expires
	return s.scope(in, t, old.Project)
}

func (s *service) byCredential(in *login, t *ticket) bool {
	want := in.Auth.Identity.Credential
	for c := range s.DB.Credentials.All() {
		if c.ID != want.ID && (want.ID != "" || c.Name != want.Name || !s.belongs(c, want.User)) {
			continue
		}
		at, ends := end(c)
		if c.Secret != want.Secret || ends && !s.req.Now.Before(at) {
			return false
		}
		if ends && at.Before(t.Expires) {
			t.Expires = at
		}
		t.User, t.Project, t.Credential = c.UserID, c.ProjectID, c.ID
		return true
	}
	return false
}

// exists tells whether there is such a credential: Keystone looks before it compares any
// secret.
func (s *service) exists(id string) bool {
	_, ok := s.DB.Credentials.Get(id)
	return ok
}

func (s *service) belongs(c *store.Credential, user *named) bool {
	u, ok := s.DB.Users.Get(c.UserID)
	return ok && user != nil && (user.ID == u.ID || user.ID == "" && user.Name == u.Name)
}

// scope sets the token's project: the one that was asked for, if the user has a role there.
func (s *service) scope(in *login, t *ticket, home string) bool {
	t.Project = home
	if in.Auth.Scope == nil || in.Auth.Scope.Project == nil {
		if in.Auth.Scope != nil && in.Auth.Scope.none {
			t.Project = ""
		}
		return in.Auth.Scope == nil || in.Auth.Scope.Domain == nil
	}
	want := in.Auth.Scope.Project
	p, ok := s.DB.Projects.Get(home)
	return ok && (want.ID == p.ID || want.ID == "" && want.Name == p.Name && domain(want.Domain))
}

// domain accepts the one domain that there is.
func domain(d *named) bool {
	return d == nil || d.ID == "default" || d.ID == "" && d.Name == "Default"
}

const timeFormat = "2006-01-02T15:04:05.000000Z"

// describe is the token document. A token that is for no project has no roles and no
// catalog.
func (s *service) describe(t ticket, status int) *wire.Answer {
	u, _ := s.DB.Users.Get(t.User)
	p, _ := s.DB.Projects.Get(t.Project)
	if u == nil || p == nil && t.Project != "" {
		return wire.Unauthorized(s.authURL())
	}
	method, roles, expires := "password", u.Roles, t.Expires.UTC().Format(timeFormat)
	if c, ok := s.DB.Credentials.Get(t.Credential); ok {
		method, roles = "application_credential", c.Roles
		if at, ends := end(c); ends && at.Equal(t.Expires) {
			expires = *c.Expires // as it is written there
		}
	}
	dom := map[string]any{"id": "default", "name": "Default"}
	doc := map[string]any{
		"methods": []string{method}, "audit_ids": []string{sign(t.User)[:22]},
		"user":       map[string]any{"id": u.ID, "name": u.Name, "domain": dom, "password_expires_at": nil},
		"issued_at":  t.Issued.UTC().Format(timeFormat),
		"expires_at": expires,
	}
	if p != nil {
		doc["project"] = map[string]any{"id": p.ID, "name": p.Name, "domain": dom}
		doc["roles"], doc["is_domain"], doc["catalog"] = roleList(roles), false, s.catalog()
	}
	if t.Credential != "" {
		doc["application_credential"] = map[string]any{"id": t.Credential, "restricted": true}
	}
	return wire.JSON(status, map[string]any{"token": doc})
}

func roleList(names []string) []map[string]string {
	var out []map[string]string
	for _, n := range slices.Sorted(slices.Values(names)) {
		out = append(out, map[string]string{"id": store.StableID("role " + n), "name": n})
	}
	return out
}

func expired(t ticket, now time.Time) bool { return !now.Before(t.Expires) }
