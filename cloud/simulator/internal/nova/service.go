package nova

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/vpnctl/vpnctl/cloud/simulator/internal/keystone"
	"github.com/vpnctl/vpnctl/cloud/simulator/internal/neutron"
	"github.com/vpnctl/vpnctl/cloud/simulator/internal/store"
	"github.com/vpnctl/vpnctl/cloud/simulator/internal/wire"
)

const newest = "2.93" // the highest microversion that is accepted

// Service is Nova.
type Service struct {
	DB      *store.DB
	Neutron *neutron.Service
}

// call is Nova during one call.
type call struct {
	*Service
	db  *store.DB
	who keystone.Principal
	req *wire.Request
}

// Serve answers one call; it runs within a transaction.
func (s *Service) Serve(r *wire.Request) *wire.Answer {
	if r.Segment(0) == "" {
		return wire.JSON(http.StatusOK, map[string]any{"versions": []any{version(r)}})
	}
	if r.Segment(0) != "v2.1" {
		return notFound("The resource could not be found.").Nova()
	}
	if len(r.Path) == 1 {
		return wire.JSON(http.StatusOK, map[string]any{"version": version(r)})
	}
	who, ok := keystone.Authenticate(s.DB, r.Header.Get("X-Auth-Token"), r.Now)
	if !ok {
		return wire.Unauthorized(r.Base + "/identity/v3")
	}
	micro, ok := microversion(r.Header)
	if !ok {
		return wire.Fail(http.StatusNotAcceptable, "", "Version %s is not supported by the API. Minimum is 2.1 and maximum is %s.", micro, newest).Nova()
	}
	c := &call{Service: s, db: s.DB, who: who, req: r}
	a, err := c.route()
	if err != nil {
		a = render(err)
	}
	a.Header.Set("X-Compute-Request-Id", r.ID)
	a.Header.Set("OpenStack-API-Version", "compute "+micro)
	a.Header.Set("X-OpenStack-Nova-API-Version", micro)
	a.Header.Set("Vary", "OpenStack-API-Version, X-OpenStack-Nova-API-Version")
	return a
}

func render(err error) *wire.Answer {
	var refused *wire.Error
	if !errors.As(err, &refused) {
		refused = wire.Fail(http.StatusInternalServerError, "", "%v", err)
	}
	return refused.Nova()
}

func version(r *wire.Request) map[string]any {
	return map[string]any{"id": "v2.1", "status": "CURRENT", "version": newest, "min_version": "2.1", "updated": "2013-07-23T11:33:21Z",
		"links": []map[string]string{{"rel": "self", "href": r.Base + "/compute/v2.1/"}}}
}

// microversion reads the version that the client asks for; 2.1 where it asks for none.
func microversion(h http.Header) (string, bool) {
	v := h.Get("X-OpenStack-Nova-API-Version")
	if service, rest, ok := strings.Cut(h.Get("OpenStack-API-Version"), " "); ok && service == "compute" {
		v = rest
	}
	switch v {
	case "":
		return "2.1", true
	case "latest":
		return newest, true
	}
	major, minor, _ := strings.Cut(v, ".")
	n, err := strconv.Atoi(minor)
	return v, major == "2" && err == nil && n >= 1 && n <= 93
}

func notFound(message string, args ...any) *wire.Error {
	return wire.Fail(http.StatusNotFound, "itemNotFound", message, args...)
}

func conflict(message string, args ...any) *wire.Error {
	return wire.Fail(http.StatusConflict, "conflictingRequest", message, args...)
}

func badRequest(message string, args ...any) *wire.Error {
	return wire.Fail(http.StatusBadRequest, "badRequest", message, args...)
}

// route leads a call to what it asks for: /v2.1/servers[/<id>[/os-interface[/<port>]]].
func (c *call) route() (*wire.Answer, error) {
	if c.req.Segment(1) != "servers" {
		return nil, notFound("The resource could not be found.")
	}
	id, what := c.req.Segment(2), c.req.Segment(3)
	if id == "" || id == "detail" {
		return c.servers(id == "detail")
	}
	server, ok := c.db.Servers.Get(id)
	if !ok || !c.who.Admin && server.ProjectID != c.who.ProjectID {
		return nil, notFound("Instance %s could not be found.", id)
	}
	switch what {
	case "":
		return c.server(server)
	case "os-interface":
		return c.interfaces(server)
	case "action":
		return c.action(server)
	}
	return nil, notFound("The resource could not be found.")
}
