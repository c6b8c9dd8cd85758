package neutron

import (
	"github.com/vpnctl/vpnctl/cloud/simulator/internal/store"
)

func (s *Service) policies() endpoint {
	return &collection[store.Policy, *store.Policy]{
		one: "rbac_policy", many: "rbac_policies", noun: "RbacPolicy", table: s.DB.Policies,
		required: []string{"object_type", "object_id", "action", "target_tenant"},
		empty:    func() *store.Policy { return &store.Policy{} },
		create:   createPolicy,
		update: func(c *call, old, next *store.Policy, _ body) error {
			if err := c.unused(old); err != nil {
				return err
			}
			if next.TargetTenant == "*" && !c.who.Admin {
				return disallowed("update_rbac_policy:target_tenant")
			}
			c.db.Policies.Put(next)
			return nil
		},
		remove: func(c *call, p *store.Policy) error {
			if err := c.unused(p); err != nil {
				return err
			}
			c.db.Policies.Delete(p.ID)
			return nil
		},
	}
}

func createPolicy(c *call, p *store.Policy, _ body) error {
	if p.TargetTenant == "*" && !c.who.Admin {
		return disallowed("create_rbac_policy:target_tenant")
	}
	owner, ok := c.ownerOf(p)
	if !ok {
		return badRequest("Invalid input for object_type. Reason: '%s' is not in ['network', 'security_group'].", p.ObjectType)
	}
	if owner == "" {
		noun := map[string]string{"network": "Network", "security_group": "SecurityGroup"}[p.ObjectType]
		return missing(noun+"NotFound", "%s %s could not be found.", noun, p.ObjectID)
	}
	if !c.mine(owner) {
		return invalid("InvalidInput", "Invalid input for operation: Only admins can manipulate policies on objects they do not own.")
	}
	if p.Action != asShared && (p.Action != asExternal || p.ObjectType != "network") {
		return invalid("InvalidInput", "Invalid input for operation: Invalid action '%s' for object type '%s'.", p.Action, p.ObjectType)
	}
	if err := c.room("rbac_policy", p.ProjectID); err != nil {
		return err
	}
	for o := range c.db.Policies.All() {
		if o.ObjectID == p.ObjectID && o.Action == p.Action && o.TargetTenant == p.TargetTenant {
			return conflict("DuplicateRbacPolicy", "An RBAC policy already exists with those values.")
		}
	}
	c.db.Policies.Put(p)
	return nil
}

// ownerOf returns the project of the object that a policy shares, "" where there is none; ok is false for a
// type of object that cannot be shared.
func (c *call) ownerOf(p *store.Policy) (project string, ok bool) {
	switch p.ObjectType {
	case "network":
		if n, ok := c.db.Networks.Get(p.ObjectID); ok {
			return n.ProjectID, true
		}
		return "", true
	case "security_group":
		if g, ok := c.db.SecurityGroups.Get(p.ObjectID); ok {
			return g.ProjectID, true
		}
		return "", true
	}
	return "", false
}

// unused refuses to take a policy away from a project that has ports on the shared network.
func (c *call) unused(p *store.Policy) error {
	if p.ObjectType != "network" || p.Action != asShared {
		return nil
	}
	n, ok := c.db.Networks.Get(p.ObjectID)
	if !ok || n.Shared {
		return nil
	}
	for port := range c.db.Ports.All() {
		if port.NetworkID == n.ID && port.ProjectID != "" && port.ProjectID != n.ProjectID &&
			(p.TargetTenant == "*" || p.TargetTenant == port.ProjectID) {
			return conflict("RbacPolicyInUse", "RBAC policy on object %s cannot be removed because other objects depend on it.\nDetails: Unable to reconfigure sharing settings for network %s. Multiple tenants are using it.", n.ID, n.ID)
		}
	}
	return nil
}
