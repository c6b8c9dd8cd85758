package neutron

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"

	"github.com/vpnctl/vpnctl/cloud/simulator/internal/attr"
	"github.com/vpnctl/vpnctl/cloud/simulator/internal/keystone"
	"github.com/vpnctl/vpnctl/cloud/simulator/internal/store"
	"github.com/vpnctl/vpnctl/cloud/simulator/internal/wire"
)

// call is Neutron during one call.
type call struct {
	*Service
	db  *store.DB
	who keystone.Principal
	req *wire.Request
}

// body holds the attributes of one object in a request.
type body map[string]json.RawMessage

func (b body) has(name string) bool { _, ok := b[name]; return ok }

func (c *call) level() attr.Level {
	if c.who.Admin {
		return attr.Admin
	}
	return attr.Member
}

// mine tells whether the caller may change what belongs to the project.
func (c *call) mine(project string) bool { return c.who.Admin || project == c.who.ProjectID }

const timeFormat = "2006-01-02T15:04:05Z"

func (c *call) stamp() string { return c.req.Now.UTC().Format(timeFormat) }

// born fills the standard attributes of a new object.
func (c *call) born(s *store.Standard) {
	s.RevisionNumber, s.CreatedAt, s.UpdatedAt = 1, c.stamp(), c.stamp()
}

// bump is what every write does to an object's standard attributes, also one that changes nothing else.
func (c *call) bump(s *store.Standard) {
	s.RevisionNumber++
	s.UpdatedAt = c.stamp()
}

var revision = regexp.MustCompile(`^revision_number=(\d+)$`)

// guard honours If-Match. Anything but a revision number in it is ignored, as Neutron does.
func (c *call) guard(s *store.Standard) error {
	m := revision.FindStringSubmatch(c.req.Header.Get("If-Match"))
	if m == nil || c.req.Race {
		return nil
	}
	if want, err := strconv.Atoi(m[1]); err != nil || want != s.RevisionNumber {
		return wire.Fail(http.StatusPreconditionFailed, "RevisionNumberConstraintFailed",
			"Constrained to %s, but current revision is %d", m[1], s.RevisionNumber)
	}
	return nil
}

// parse reads the objects of a body: {"port": {…}}, or {"ports": [{…}, …]} where many is true.
func (c *call) parse(one, several string) (list []body, many bool, err error) {
	var outer map[string]json.RawMessage
	if err := json.Unmarshal(c.req.Body, &outer); err != nil {
		return nil, false, badRequest("The server could not comply with the request since it is either malformed or otherwise incorrect.")
	}
	if raw, ok := outer[several]; ok && several != "" {
		if err := json.Unmarshal(raw, &list); err != nil || len(list) == 0 {
			return nil, true, badRequest("Resource body required")
		}
		return list, true, nil
	}
	var b body
	if err := json.Unmarshal(outer[one], &b); err != nil || b == nil {
		return nil, false, badRequest("Unable to find '%s' in request body", one)
	}
	return []body{b}, false, nil
}

// ownership settles whose a new object is. Only the admin role may make something for another project.
func (c *call) ownership(o *store.Owned) error {
	switch {
	case o.ProjectID == "":
		o.ProjectID = o.TenantID
	case o.TenantID != "" && o.TenantID != o.ProjectID:
		return badRequest("'tenant_id' and 'project_id' are both specified and their values differ")
	}
	if o.ProjectID == "" {
		o.ProjectID = c.who.ProjectID
	}
	if !c.mine(o.ProjectID) {
		return badRequest("Specifying 'project_id' or 'tenant_id' other than the authenticated project in request requires admin privileges")
	}
	o.TenantID = o.ProjectID
	o.ID = c.db.NewID()
	return nil
}

func hasAll(have, want []string) bool {
	for _, w := range want {
		if !slices.Contains(have, w) {
			return false
		}
	}
	return true
}

func hasAny(have, want []string) bool {
	for _, w := range want {
		if slices.Contains(have, w) {
			return true
		}
	}
	return false
}
