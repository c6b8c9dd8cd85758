package neutron

import (
	"encoding/json"
	"maps"
	"net/http"

	"github.com/vpnctl/vpnctl/cloud/simulator/internal/store"
	"github.com/vpnctl/vpnctl/cloud/simulator/internal/wire"
)

// DefaultQuota holds the limits of a project unless something else is said. They are generous, so that an
// estate of thousands of gateways fits.
func DefaultQuota() map[string]int {
	return map[string]int{"network": 500, "subnet": 500, "router": 500, "port": 50000, "security_group": 20000,
		"security_group_rule": 400000, "floatingip": 20000, "rbac_policy": 500, "subnetpool": -1}
}

// limits are the quotas of a project.
func (c *call) limits(project string) map[string]int {
	all := maps.Clone(c.Quota)
	if q, ok := c.db.Quotas.Get(project); ok {
		maps.Copy(all, q.Limits)
	}
	return all
}

// room refuses one more object of the resource when the project's quota is used up.
func (c *call) room(resource, project string) error {
	limit, ok := c.limits(project)[resource]
	if !ok || limit < 0 || c.used(resource, project) < limit {
		return nil
	}
	return overQuota(resource)
}

func (c *call) used(resource, project string) int {
	switch resource {
	case "network":
		return c.db.Networks.Owned(project)
	case "subnet":
		return c.db.Subnets.Owned(project)
	case "router":
		return c.db.Routers.Owned(project)
	case "port":
		return c.db.Ports.Owned(project)
	case "security_group":
		return c.db.SecurityGroups.Owned(project)
	case "security_group_rule":
		return c.db.Rules.Owned(project)
	case "floatingip":
		return c.db.FloatingIPs.Owned(project)
	case "rbac_policy":
		return c.db.Policies.Owned(project)
	}
	return 0
}

// quotas is /v2.0/quotas/<project>[/details.json].
func (c *call) quotas(project string) (*wire.Answer, error) {
	if project == "" {
		return nil, errNoResource
	}
	if !c.mine(project) {
		return nil, disallowed("get_quota")
	}
	switch c.req.Method {
	case http.MethodGet:
		return c.showQuota(project)
	case http.MethodPut:
		return c.setQuota(project)
	case http.MethodDelete:
		if !c.who.Admin {
			return nil, disallowed("delete_quota")
		}
		c.db.Quotas.Delete(project)
		return wire.Empty(http.StatusNoContent), nil
	}
	return nil, errMethod
}

func (c *call) showQuota(project string) (*wire.Answer, error) {
	switch c.req.Segment(3) {
	case "":
		return wire.JSON(http.StatusOK, map[string]any{"quota": c.limits(project)}), nil
	case "default", "default.json":
		return wire.JSON(http.StatusOK, map[string]any{"quota": c.Quota}), nil
	case "details", "details.json":
		details := map[string]map[string]int{}
		for resource, limit := range c.limits(project) {
			details[resource] = map[string]int{"limit": limit, "used": c.used(resource, project), "reserved": 0}
		}
		return wire.JSON(http.StatusOK, map[string]any{"quota": details}), nil
	}
	return nil, errNoResource
}

func (c *call) setQuota(project string) (*wire.Answer, error) {
	if !c.who.Admin {
		return nil, disallowed("update_quota")
	}
	var in struct {
		Quota map[string]int `json:"quota"`
	}
	if err := json.Unmarshal(c.req.Body, &in); err != nil || in.Quota == nil {
		return nil, badRequest("Unable to find 'quota' in request body")
	}
	q := &store.Quota{ProjectID: project, Limits: map[string]int{}}
	if old, ok := c.db.Quotas.Get(project); ok {
		maps.Copy(q.Limits, old.Limits)
	}
	for resource, limit := range in.Quota {
		if _, ok := c.Quota[resource]; !ok {
			return nil, badRequest("Unrecognized attribute(s) '%s'", resource)
		}
		q.Limits[resource] = limit
	}
	c.db.Quotas.Put(q)
	return wire.JSON(http.StatusOK, map[string]any{"quota": c.limits(project)}), nil
}
