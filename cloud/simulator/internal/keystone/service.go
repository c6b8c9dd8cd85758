package keystone

import (
	"net/http"
	"time"

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
