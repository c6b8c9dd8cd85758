package simulator

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/vpnctl/vpnctl/cloud/simulator/internal/neutron"
	"github.com/vpnctl/vpnctl/cloud/simulator/internal/store"
)

// Seed is what a new cloud starts with. A network, router or pool is given by its name, or by its ID where the
// text has the form of one. What is left out has the defaults that are named.
type Seed struct {
	Region         string // RegionOne
	Network        string // vpn-transit: the operator's, with one subnet
	SubnetCIDR     string // 10.254.0.0/24; its first host is the router's
	Router         string // gateway-router: the operator's, on that subnet and the external network
	FloatingIPPool string // public: the external network
	FloatingIPCIDR string // 203.0.113.0/24
	Nodes          []Node // worker-1 to worker-3: servers of the operator

	// Customers are further customers, each with a project and a login of that name.
	Customers []string
}

// Node is a server that gateways can run on.
type Node struct {
	Name     string
	ServerID string // "" makes one from the name
}

func (s Seed) complete() Seed {
	for _, d := range []struct {
		field *string
		value string
	}{
		{&s.Region, "RegionOne"}, {&s.Network, "vpn-transit"}, {&s.SubnetCIDR, "10.254.0.0/24"},
		{&s.Router, "gateway-router"}, {&s.FloatingIPPool, "public"}, {&s.FloatingIPCIDR, "203.0.113.0/24"},
	} {
		if *d.field == "" {
			*d.field = d.value
		}
	}
	if s.Nodes == nil {
		s.Nodes = []Node{{Name: "worker-1"}, {Name: "worker-2"}, {Name: "worker-3"}}
	}
	return s
}

// identify tells the ID and the name of something that is given by either.
func identify(text, kind, name string) (id, called string) {
	if idPattern.MatchString(text) {
		return text, name
	}
	return store.StableID(kind + " " + text), text
}

const (
	operatorProject = "0b5b4a4b3f7c4c0b8a1d7d3a5f1e0001"
	customerProject = "0b5b4a4b3f7c4c0b8a1d7d3a5f1e0002"
	adminProject    = "0b5b4a4b3f7c4c0b8a1d7d3a5f1e0003"
)

// plant puts the seed into an empty state; any other it leaves alone.
func (s Seed) plant(db *store.DB, now time.Time) error {
	if db.Projects.Len() > 0 {
		return nil
	}
	plantIdentity(db, s.Customers)
	g := gardener{db: db, stamp: now.UTC().Format("2006-01-02T15:04:05Z")}
	pub, err := g.network(s.FloatingIPPool, "public", s.FloatingIPCIDR, 20, adminProject)
	if err != nil {
		return err
	}
	transit, err := g.network(s.Network, "vpn-transit", s.SubnetCIDR, 10, operatorProject)
	if err != nil {
		return err
	}
	cluster, err := g.network("service-cluster", "", "10.250.0.0/16", 10, operatorProject)
	if err != nil {
		return err
	}
	n, _ := db.Networks.Get(pub.NetworkID)
	ext := *n
	ext.External, ext.NetworkType = true, "flat"
	db.Networks.Put(&ext)
	g.router(s.Router, "gateway-router", pub, transit)
	g.router("service-cluster-router", "", pub, cluster)
	for i, node := range s.Nodes {
		g.server(node, cluster, i, now)
	}
	return nil
}

// plantIdentity makes the projects and logins. The visitor is one who has no project.
func plantIdentity(db *store.DB, customers []string) {
	projects := [][2]string{{operatorProject, "operator"}, {customerProject, "customer"}, {adminProject, "admin"}}
	users := []store.User{
		{Name: "operator", ProjectID: operatorProject, Roles: []string{"member", "reader"}},
		{Name: "operator-admin", ProjectID: operatorProject, Roles: []string{"admin", "member", "reader"}},
		{Name: "customer", ProjectID: customerProject, Roles: []string{"member", "reader"}},
		{Name: "admin", ProjectID: adminProject, Roles: []string{"admin", "member", "reader"}},
		{Name: visitor},
	}
	for _, name := range customers {
		id := strings.ReplaceAll(store.StableID("project "+name), "-", "")
		projects = append(projects, [2]string{id, name})
		users = append(users, store.User{Name: name, ProjectID: id, Roles: []string{"member", "reader"}})
	}
	for _, p := range projects {
		db.Projects.Put(&store.Project{ID: p[0], Name: p[1], DomainID: "default", Enabled: true})
	}
	for _, u := range users {
		u.ID, u.Password = store.StableID("user "+u.Name), "simulator"
		db.Users.Put(&u)
		if u.ProjectID == "" {
			continue
		}
		db.Credentials.Put(&store.Credential{ID: store.StableID("credential " + u.Name), Name: "simulator",
			Secret: store.StableID("secret " + u.Name), UserID: u.ID, ProjectID: u.ProjectID, Roles: u.Roles})
	}
}

// visitor is who logs in by password and then has no project.
const visitor = "visitor"

// gardener puts the seed's objects into a state.
type gardener struct {
	db    *store.DB
	stamp string
}

func (g gardener) standard() store.Standard {
	return store.Standard{RevisionNumber: 1, CreatedAt: g.stamp, UpdatedAt: g.stamp}
}

// network makes a network with one subnet, whose pool leaves out the first addresses and the last four, which
// is where routers, legs and locks are.
func (g gardener) network(given, name, cidr string, first int, project string) (*store.Subnet, error) {
	prefix, err := netip.ParsePrefix(cidr)
	if err != nil {
		return nil, fmt.Errorf("network %s: %w", given, err)
	}
	if prefix != prefix.Masked() || prefix.Bits() > 28 {
		return nil, fmt.Errorf("network %s: %s is no subnet of a /28 or larger", given, cidr)
	}
	id, called := identify(given, "network", name)
	owned := store.Owned{ID: id, ProjectID: project, TenantID: project}
	g.db.Networks.Put(&store.Network{Owned: owned, Name: called, AdminStateUp: true, Status: "ACTIVE", MTU: 1450,
		PortSecurity: true, AvailabilityZones: []string{}, NetworkType: "vxlan", Standard: g.standard()})
	gateway := prefix.Addr().Next()
	start, skip := gateway.Next(), first-2
	if prefix.Bits() > 26 {
		skip = 0
	}
	for range skip {
		start = start.Next()
	}
	_, end := neutron.Hosts(prefix)
	for range 4 {
		end = end.Prev()
	}
	owned.ID = store.StableID("subnet of " + id)
	gw := gateway.String()
	s := &store.Subnet{Owned: owned, Name: called + "-v4", NetworkID: id, IPVersion: 4, CIDR: cidr, GatewayIP: &gw,
		AllocationPools: []store.Pool{{Start: start.String(), End: end.String()}}, Standard: g.standard()}
	g.db.Subnets.Put(s)
	return s, nil
}

// router makes a router with its gateway on one subnet and an interface on another.
func (g gardener) router(given, name string, external, inside *store.Subnet) {
	id, called := identify(given, "router", name)
	owned := store.Owned{ID: id, ProjectID: operatorProject, TenantID: operatorProject}
	outer := g.port(id, "network:router_gateway", "", external, g.lowest(external))
	g.port(id, "network:router_interface", operatorProject, inside, *inside.GatewayIP)
	g.db.Routers.Put(&store.Router{Owned: owned, Name: called, AdminStateUp: true, Status: "ACTIVE",
		AvailabilityZones: []string{}, Standard: g.standard(),
		Gateway: &store.Gateway{NetworkID: external.NetworkID, EnableSNAT: true, ExternalFixedIPs: outer.FixedIPs}})
}

func (g gardener) lowest(s *store.Subnet) string {
	start, _ := netip.ParseAddr(s.AllocationPools[0].Start)
	end, _ := netip.ParseAddr(s.AllocationPools[0].End)
	a, _ := g.db.Lowest(s.ID, start, end)
	return a.String()
}

func (g gardener) port(device, owner, project string, s *store.Subnet, address string) *store.Port {
	p := &store.Port{Owned: store.Owned{ID: store.StableID("port of " + device + " on " + s.ID), ProjectID: project, TenantID: project},
		NetworkID: s.NetworkID, MACAddress: g.db.NewMAC(), AdminStateUp: true, Status: "DOWN", DeviceID: device, DeviceOwner: owner,
		FixedIPs: []store.FixedIP{{SubnetID: s.ID, IPAddress: address}}, Chosen: []string{address}, VNICType: "normal", VIFType: "unbound", Standard: g.standard()}
	g.db.Ports.Put(p)
	return p
}

// server makes a node with a port on the cluster's network.
func (g gardener) server(n Node, cluster *store.Subnet, i int, now time.Time) {
	id := n.ServerID
	if id == "" {
		id = store.StableID("server " + n.Name)
	}
	s := &store.Server{ID: id, Name: n.Name, ProjectID: operatorProject, UserID: store.StableID("user operator"), Status: "ACTIVE",
		Host: fmt.Sprintf("compute-%d", i%3+1), Created: now.UTC()}
	g.db.Servers.Put(s)
	p := *g.port(id, "compute:nova", operatorProject, cluster, g.lowest(cluster))
	p.NovaMade, p.PortSecurity = true, true
	neutron.Plug(&p, s.Host)
	g.db.Ports.Put(&p)
}
