package neutron

import (
	"bytes"
	"slices"

	"github.com/vpnctl/vpnctl/cloud/simulator/internal/attr"
	"github.com/vpnctl/vpnctl/cloud/simulator/internal/store"
)

func (s *Service) groups() endpoint {
	return &collection[store.SecurityGroup, *store.SecurityGroup]{
		one: "security_group", many: "security_groups", noun: "SecurityGroup", table: s.DB.SecurityGroups,
		empty:  func() *store.SecurityGroup { return &store.SecurityGroup{Stateful: true} },
		sees:   seesGroup,
		extra:  &extra[*store.SecurityGroup]{name: "security_group_rules", text: rulesText},
		create: createGroup,
		update: func(c *call, old, next *store.SecurityGroup, _ body) error {
			if old.Name == "default" && next.Name != "default" {
				return conflict("SecurityGroupCannotUpdateDefault", "Updating default security group not allowed.")
			}
			c.db.SecurityGroups.Put(next)
			return nil
		},
		remove: removeGroup,
	}
}

func seesGroup(c *call, g *store.SecurityGroup) bool {
	return granted(c.db, "security_group", g.ID, asShared, c.who.ProjectID)
}

func rulesText(c *call, g *store.SecurityGroup) []byte {
	var b bytes.Buffer
	b.WriteByte('[')
	for i, r := range c.db.RulesOf(g.ID) {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(c.db.Rules.Text(r.ID, c.level(), func(r *store.Rule) []byte {
			return attr.Append(nil, r, c.level(), nil)
		}))
	}
	b.WriteByte(']')
	return b.Bytes()
}

func createGroup(c *call, g *store.SecurityGroup, given body) error {
	if !given.has("name") {
		return badRequest("Failed to parse request. Required attribute 'name' not specified")
	}
	if err := c.room("security_group", g.ProjectID); err != nil {
		return err
	}
	defaultGroup(c.db, g.ProjectID, c.stamp())
	if g.Name == "default" {
		return conflict("SecurityGroupDefaultAlreadyExists", "Default security group already exists.")
	}
	c.db.SecurityGroups.Put(g)
	egress(c.db, g, c.stamp())
	return nil
}

// egress gives a new group the two rules that let everything out.
func egress(db *store.DB, g *store.SecurityGroup, stamp string) {
	for _, ethertype := range []string{"IPv4", "IPv6"} {
		putRule(db, g, stamp, &store.Rule{Direction: "egress", EtherType: ethertype})
	}
}

func putRule(db *store.DB, g *store.SecurityGroup, stamp string, r *store.Rule) {
	r.Owned = store.Owned{ID: db.NewID(), ProjectID: g.ProjectID, TenantID: g.ProjectID}
	r.SecurityGroupID = g.ID
	r.RevisionNumber, r.CreatedAt, r.UpdatedAt = 1, stamp, stamp
	db.Rules.Put(r)
}

// defaultGroup returns a project's group named default and makes it where it is missing: within the group
// everything is let in.
func defaultGroup(db *store.DB, project, stamp string) *store.SecurityGroup {
	id := store.StableID("default security group of " + project)
	if g, ok := db.SecurityGroups.Get(id); ok {
		return g
	}
	g := &store.SecurityGroup{Owned: store.Owned{ID: id, ProjectID: project, TenantID: project}, Name: "default", Stateful: true,
		Standard: store.Standard{Description: "Default security group", RevisionNumber: 1, CreatedAt: stamp, UpdatedAt: stamp}}
	db.SecurityGroups.Put(g)
	egress(db, g, stamp)
	for _, ethertype := range []string{"IPv4", "IPv6"} {
		putRule(db, g, stamp, &store.Rule{Direction: "ingress", EtherType: ethertype, RemoteGroupID: &id})
	}
	return g
}

func removeGroup(c *call, g *store.SecurityGroup) error {
	if g.Name == "default" && !c.who.Admin {
		return conflict("SecurityGroupCannotRemoveDefault", "Insufficient rights for removing default security group.")
	}
	for p := range c.db.Ports.All() {
		if slices.Contains(p.SecurityGroups, g.ID) {
			return conflict("SecurityGroupInUse", "Security Group %s in use.", g.ID)
		}
	}
	for _, r := range c.db.RulesOf(g.ID) {
		c.db.Rules.Delete(r.ID)
	}
	for r := range c.db.Rules.All() { // rules of others that name it vanish
		if r.RemoteGroupID != nil && *r.RemoteGroupID == g.ID {
			c.db.Rules.Delete(r.ID)
			c.touchGroup(r.SecurityGroupID)
		}
	}
	for p := range c.db.Policies.All() {
		if p.ObjectID == g.ID {
			c.db.Policies.Delete(p.ID)
		}
	}
	c.db.SecurityGroups.Delete(g.ID)
	return nil
}

// touchGroup counts a change of a group's rules as a change of the group.
func (c *call) touchGroup(id string) {
	if g, ok := c.db.SecurityGroups.Get(id); ok {
		next := *g
		c.bump(&next.Standard)
		c.db.SecurityGroups.Put(&next)
	}
}
