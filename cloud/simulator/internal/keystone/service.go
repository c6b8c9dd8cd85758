package keystone

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/vpnctl/vpnctl/cloud/simulator/internal/attr"
	"github.com/vpnctl/vpnctl/cloud/simulator/internal/store"
	"github.com/vpnctl/vpnctl/cloud/simulator/internal/wire"
)

// Service is Keystone.
type Service struct {
	DB        *store.DB
	Region    string
	TokenLife time.Duration // how long a new token is good for
}

// service is Keystone during one call.
type service struct {
	*Service
	req *wire.Request
}

// Serve answers one call; it runs within a transaction.
func (k *Service) Serve(r *wire.Request) *wire.Answer {
	s := &service{Service: k, req: r}
	if r.Segment(0) == "" {
		return wire.JSON(http.StatusMultipleChoices, map[string]any{
			"versions": map[string]any{"values": []any{s.version()}}})
	}
	if r.Segment(0) != "v3" {
		return notFound("The resource could not be found.")
	}
	if len(r.Path) == 1 {
		return wire.JSON(http.StatusOK, map[string]any{"version": s.version()})
	}
	if r.Segment(1) == "auth" && r.Segment(2) == "tokens" && r.Method == http.MethodPost {
		return s.login()
	}
	who, ok := Authenticate(k.DB, r.Header.Get("X-Auth-Token"), r.Now)
	if !ok {
		return wire.Unauthorized(s.authURL())
	}
	switch r.Segment(1) {
	case "auth":
		return s.auth(who)
	case "projects":
		return s.projects(who)
	case "users":
		return s.users(who)
	}
	return notFound("The resource could not be found.")
}

func (s *service) authURL() string { return s.req.Base + "/identity/v3" }

func (s *service) version() map[string]any {
	return map[string]any{
		"id": "v3.14", "status": "stable", "updated": "2020-04-07T00:00:00Z",
		"links":       []map[string]string{{"rel": "self", "href": s.authURL() + "/"}},
		"media-types": []map[string]string{{"base": "application/json", "type": "application/vnd.openstack.identity-v3+json"}},
	}
}

func (s *service) catalog() []map[string]any {
	var out []map[string]any
	for _, svc := range [][3]string{
		{"identity", "keystone", "/identity/v3"}, {"network", "neutron", "/network"}, {"compute", "nova", "/compute/v2.1"},
	} {
		var endpoints []map[string]string
		for _, iface := range []string{"public", "internal", "admin"} {
			endpoints = append(endpoints, map[string]string{
				"id": store.StableID("endpoint " + svc[0] + iface), "interface": iface,
				"region": s.Region, "region_id": s.Region, "url": s.req.Base + svc[2]})
		}
		out = append(out, map[string]any{"id": store.StableID("service " + svc[0]), "type": svc[0],
			"name": svc[1], "endpoints": endpoints})
	}
	return out
}

// auth is what lies below /v3/auth besides the login.
func (s *service) auth(who Principal) *wire.Answer {
	switch s.req.Method + " " + s.req.Segment(2) {
	case "GET tokens":
		t, ok := open(s.req.Header.Get("X-Subject-Token"))
		if !ok || expired(t, s.req.Now) {
			return notFound("This is not a recognized Fernet token")
		}
		a := s.describe(t, http.StatusOK)
		a.Header.Set("X-Subject-Token", t.seal())
		return a
	case "GET catalog":
		return wire.JSON(http.StatusOK, map[string]any{"catalog": s.catalog(), "links": map[string]any{}})
	case "GET projects":
		return s.projectList(func(p *store.Project) bool { return p.ID == who.ProjectID })
	}
	return notFound("The resource could not be found.")
}

func (s *service) projects(who Principal) *wire.Answer {
	if s.req.Method != http.MethodGet {
		return forbidden("identity:create_project")
	}
	id := s.req.Segment(2)
	if id == "" {
		if !who.Admin {
			return forbidden("identity:list_projects")
		}
		name := s.req.Query.Get("name")
		return s.projectList(func(p *store.Project) bool { return name == "" || p.Name == name })
	}
	p, ok := s.DB.Projects.Get(id)
	switch {
	case !who.Admin && id != who.ProjectID:
		return forbidden("identity:get_project")
	case !ok:
		return notFound("Could not find project: " + id + ".")
	}
	return wire.JSON(http.StatusOK, map[string]any{"project": p})
}

func (s *service) projectList(want func(*store.Project) bool) *wire.Answer {
	list := []*store.Project{}
	for p := range s.DB.Projects.All() {
		if want(p) {
			list = append(list, p)
		}
	}
	return wire.JSON(http.StatusOK, map[string]any{"projects": list, "links": map[string]any{"next": nil}})
}

// users is what lies below /v3/users: a user's application credentials.
func (s *service) users(who Principal) *wire.Answer {
	id, what, cred := s.req.Segment(2), s.req.Segment(3), s.req.Segment(4)
	if what != "application_credentials" {
		return forbidden("identity:get_user")
	}
	if id != who.UserID && !who.Admin {
		return forbidden("identity:list_application_credentials")
	}
	c, found := s.DB.Credentials.Get(cred)
	found = found && c.UserID == id
	switch {
	case s.req.Method == http.MethodPost && cred == "":
		return s.createCredential(who, id)
	case s.req.Method == http.MethodGet && cred == "":
		list := []map[string]any{}
		for c := range s.DB.Credentials.All() {
			if c.UserID == id {
				list = append(list, credential(c, false))
			}
		}
		return wire.JSON(http.StatusOK, map[string]any{"application_credentials": list})
	case !found:
		return notFound("Could not find Application Credential: " + cred + ".")
	case s.req.Method == http.MethodGet:
		return wire.JSON(http.StatusOK, map[string]any{"application_credential": credential(c, false)})
	case s.req.Method == http.MethodDelete && who.AppCredential:
		return forbidden("identity:delete_application_credential")
	case s.req.Method == http.MethodDelete:
		s.DB.Credentials.Delete(cred)
		return wire.Empty(http.StatusNoContent)
	}
	return notFound("The resource could not be found.")
}

func (s *service) createCredential(who Principal, user string) *wire.Answer {
	if who.AppCredential || user != who.UserID {
		return forbidden("identity:create_application_credential")
	}
	var in struct {
		C struct {
			Name        string  `json:"name"`
			Description string  `json:"description"`
			Secret      string  `json:"secret"`
			Expires     *string `json:"expires_at"`
			Roles       []named `json:"roles"`
		} `json:"application_credential"`
	}
	if err := json.Unmarshal(s.req.Body, &in); err != nil || in.C.Name == "" {
		return badRequest("'name' is a required property")
	}
	u, _ := s.DB.Users.Get(user)
	roles, ok := some(u.Roles, in.C.Roles)
	if !ok {
		return badRequest("Invalid application credential: Could not find role assignment with role for the user on the project.")
	}
	c := &store.Credential{ID: hex(s.DB.NewID()), Name: in.C.Name, Description: in.C.Description,
		Secret: in.C.Secret, UserID: user, ProjectID: who.ProjectID, Roles: roles, Expires: in.C.Expires}
	if c.Secret == "" {
		c.Secret = hex(s.DB.NewID())
	}
	s.DB.Credentials.Put(c)
	return wire.JSON(http.StatusCreated, map[string]any{"application_credential": credential(c, true)})
}

// some are those of a user's roles that a credential is to have, all where none is named;
// false where one is named that the user lacks.
func some(all []string, wanted []named) (roles []string, ok bool) {
	for _, w := range wanted {
		i := slices.IndexFunc(all, func(name string) bool { return name == w.Name || store.StableID("role "+name) == w.ID })
		if i < 0 {
			return nil, false
		}
		roles = append(roles, all[i])
	}
	if len(wanted) == 0 {
		return all, true
	}
	return roles, true
}

// credential is the API's view of c; the secret is shown once, when it is made.
func credential(c *store.Credential, secret bool) map[string]any {
	var out map[string]any
	raw := attr.Append(nil, c, attr.Member, func(name string) bool { return name != "secret" || secret })
	if err := json.Unmarshal(raw, &out); err != nil { // it was just encoded
		panic(err)
	}
	out["roles"] = roleList(c.Roles)
	return out
}

// hex is the form of Keystone's own IDs: a UUID without dashes.
func hex(uuid string) string {
	out := make([]byte, 0, 32)
	for i := range len(uuid) {
		if uuid[i] != '-' {
			out = append(out, uuid[i])
		}
	}
	return string(out)
}

func badRequest(message string) *wire.Answer {
	return (&wire.Error{Status: http.StatusBadRequest, Message: message}).Keystone()
}

func notFound(message string) *wire.Answer {
	return (&wire.Error{Status: http.StatusNotFound, Message: message}).Keystone()
}

func forbidden(rule string) *wire.Answer {
	return (&wire.Error{Status: http.StatusForbidden,
		Message: "You are not authorized to perform the requested action: " + rule + "."}).Keystone()
}
