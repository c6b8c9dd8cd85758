package neutron

import (
	"github.com/vpnctl/vpnctl/cloud/simulator/internal/store"
)

const (
	asShared   = "access_as_shared"
	asExternal = "access_as_external"
)

func (s *Service) networks() endpoint {
	return &collection[store.Network, *store.Network]{
		one: "network", many: "networks", noun: "Network", table: s.DB.Networks,
		empty: func() *store.Network {
			return &store.Network{AdminStateUp: true, Status: "ACTIVE", MTU: 1450, PortSecurity: true,
				AvailabilityZones: []string{}, NetworkType: "vxlan"}
		},
		sees:   seesNetwork,
		view:   viewNetwork,
		extra:  &extra[*store.Network]{name: "is_default", text: isDefault},
		create: createNetwork,
		update: func(c *call, old, next *store.Network, _ body) error {
			c.db.Networks.Put(next)
			return nil
		},
		remove: removeNetwork,
	}
}

// shared tells whether an RBAC policy or the network itself lets a project use it.
func shared(db *store.DB, n *store.Network, project string) bool {
	return n.Shared || granted(db, "network", n.ID, asShared, project)
}

func granted(db *store.DB, typ, id, action, project string) bool {
	for p := range db.Policies.All() {
		if p.ObjectType == typ && p.ObjectID == id && p.Action == action &&
			(p.TargetTenant == "*" || p.TargetTenant == project) {
			return true
		}
	}
	return false
}

func seesNetwork(c *call, n *store.Network) bool {
	return n.External || shared(c.db, n, c.who.ProjectID) ||
		granted(c.db, "network", n.ID, asExternal, c.who.ProjectID)
}

// viewNetwork adds the subnets, and whether the network is shared with who looks: its owner is told false as
// long as it is shared with single projects.
func viewNetwork(c *call, n *store.Network) *store.Network {
	v := *n
	v.Subnets = []string{}
	for s := range c.db.Subnets.All() {
		if s.NetworkID == n.ID {
			v.Subnets = append(v.Subnets, s.ID)
		}
	}
	v.Shared = shared(c.db, n, c.who.ProjectID)
	return &v
}

// isDefault is told of pools alone; none is the one that is taken where none is named.
func isDefault(_ *call, n *store.Network) []byte {
	if !n.External {
		return nil
	}
	return []byte("false")
}

func createNetwork(c *call, n *store.Network, _ body) error {
	if err := c.room("network", n.ProjectID); err != nil {
		return err
	}
	if n.NetworkType == "vxlan" && n.SegmentationID == nil {
		id := c.db.Networks.Len() + 1
		n.SegmentationID = &id
	}
	c.db.Networks.Put(n)
	defaultGroup(c.db, n.ProjectID, c.stamp())
	return nil
}

func removeNetwork(c *call, n *store.Network) error {
	for p := range c.db.Ports.All() {
		if p.NetworkID == n.ID {
			return conflict("NetworkInUse", "Unable to complete operation on network %s. There are one or more ports still in use on the network.", n.ID)
		}
	}
	for s := range c.db.Subnets.All() {
		if s.NetworkID == n.ID {
			c.db.Subnets.Delete(s.ID)
		}
	}
	for p := range c.db.Policies.All() {
		if p.ObjectID == n.ID {
			c.db.Policies.Delete(p.ID)
		}
	}
	c.db.Networks.Delete(n.ID)
	return nil
}
