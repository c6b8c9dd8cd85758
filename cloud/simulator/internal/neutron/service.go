package neutron

import (
	"errors"
	"net/http"
	"strings"

	"github.com/vpnctl/vpnctl/cloud/simulator/internal/keystone"
	"github.com/vpnctl/vpnctl/cloud/simulator/internal/store"
	"github.com/vpnctl/vpnctl/cloud/simulator/internal/wire"
)

// longestURI is the length from which the server does not read a request line.
const longestURI = 8192

// Service is Neutron.
type Service struct {
	DB         *store.DB
	RouteLimit int            // routes of one router
	PairLimit  int            // allowed address pairs of one port
	Quota      map[string]int // defaults by resource (port, floatingip, …); -1 is no limit
	Later      Later          // when what happens by itself happens

	endpoints map[string]endpoint
}

// New makes the service complete; the exported fields are set.
func New(s Service) *Service {
	s.endpoints = map[string]endpoint{
		"networks":             s.networks(),
		"subnets":              s.subnets(),
		"routers":              s.routers(),
		"ports":                s.ports(),
		"security-groups":      s.groups(),
		"security-group-rules": s.rules(),
		"floatingips":          s.floatingIPs(),
		"rbac-policies":        s.policies(),
	}
	return &s
}

// Serve answers one call; it runs within a transaction.
func (s *Service) Serve(r *wire.Request) *wire.Answer {
	if r.URI > longestURI {
		return wire.Empty(http.StatusRequestURITooLong)
	}
	if r.Segment(0) == "" {
		return wire.JSON(http.StatusOK, map[string]any{"versions": []any{map[string]any{
			"id": "v2.0", "status": "CURRENT",
			"links": []map[string]string{{"rel": "self", "href": r.Base + "/network/v2.0/"}}}}})
	}
	who, ok := keystone.Authenticate(s.DB, r.Header.Get("X-Auth-Token"), r.Now)
	if !ok {
		return wire.Unauthorized(r.Base + "/identity/v3")
	}
	c := &call{Service: s, db: s.DB, who: who, req: r}
	a, err := c.route()
	if err == nil {
		return a
	}
	var refused *wire.Error
	if !errors.As(err, &refused) {
		refused = wire.Fail(http.StatusInternalServerError, "HTTPInternalServerError", "%v", err)
	}
	return refused.Neutron()
}

var errNoResource = missing("HTTPNotFound", "The resource could not be found.")

var errMethod = wire.Fail(http.StatusMethodNotAllowed, "HTTPMethodNotAllowed", "The method is not allowed for this resource.")

// route leads a call to its resource: /v2.0/<collection>[/<id>[/<what>…]].
func (c *call) route() (*wire.Answer, error) {
	if c.req.Segment(0) != "v2.0" {
		return nil, errNoResource
	}
	if len(c.req.Path) == 1 {
		return wire.JSON(http.StatusOK, map[string]any{"resources": []any{}}), nil
	}
	name, id := c.req.Segment(1), strings.TrimSuffix(c.req.Segment(2), ".json")
	switch name = strings.TrimSuffix(name, ".json"); name {
	case "extensions":
		return c.extensions(id)
	case "quotas":
		return c.quotas(id)
	}
	e, ok := c.endpoints[name]
	if !ok {
		return nil, errNoResource
	}
	switch {
	case id == "":
		return c.routeCollection(e)
	case len(c.req.Path) == 3:
		return c.routeMember(e, id)
	case c.req.Segment(3) == "tags":
		return e.tags(c, id)
	case name == "routers" && len(c.req.Path) == 4 && c.req.Method == http.MethodPut:
		return c.routerAction(id, c.req.Segment(3))
	}
	return nil, errNoResource
}

func (c *call) routeCollection(e endpoint) (*wire.Answer, error) {
	switch c.req.Method {
	case http.MethodGet:
		return e.list(c)
	case http.MethodPost:
		return e.post(c)
	}
	return nil, errMethod
}

func (c *call) routeMember(e endpoint, id string) (*wire.Answer, error) {
	switch c.req.Method {
	case http.MethodGet:
		return e.show(c, id)
	case http.MethodPut:
		return e.put(c, id)
	case http.MethodDelete:
		return e.delete(c, id)
	}
	return nil, errMethod
}
