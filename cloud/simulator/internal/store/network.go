package store

// Network is a Neutron network. Its subnets and whether it is shared are worked out for each answer.
type Network struct {
	Owned
	Name         string `json:"name" api:"create,update" max:"255"`
	AdminStateUp bool   `json:"admin_state_up" api:"create,update"`
	Status       string `json:"status"`
	MTU          int    `json:"mtu" api:"create,update"`
	Shared       bool   `json:"shared" api:"create,update" set:"admin"`
	External     bool   `json:"router:external" api:"create,update" set:"admin"`
	PortSecurity bool   `json:"port_security_enabled" api:"create,update"`

	Subnets           []string `json:"subnets"`
	AvailabilityZones []string `json:"availability_zones"`
	ZoneHints         []string `json:"availability_zone_hints" api:"create"`
	IPv4Scope         *string  `json:"ipv4_address_scope"`
	IPv6Scope         *string  `json:"ipv6_address_scope"`

	NetworkType     string  `json:"provider:network_type" vis:"admin" api:"create" set:"admin"`
	PhysicalNetwork *string `json:"provider:physical_network" vis:"admin" api:"create" set:"admin"`
	SegmentationID  *int    `json:"provider:segmentation_id" vis:"admin" api:"create" set:"admin"`
	Tagged
	Standard
}

// Pool is a range of addresses that are given out.
type Pool struct {
	Start string `json:"start"`
	End   string `json:"end"`
}

// Route is a static route of a router, or a host route of a subnet.
type Route struct {
	Destination string `json:"destination"`
	NextHop     string `json:"nexthop"`
}

// Subnet is a Neutron subnet.
type Subnet struct {
	Owned
	Name            string   `json:"name" api:"create,update" max:"255"`
	NetworkID       string   `json:"network_id" api:"create"`
	IPVersion       int      `json:"ip_version" api:"create"`
	CIDR            string   `json:"cidr" api:"create"`
	GatewayIP       *string  `json:"gateway_ip" api:"create,update"`
	EnableDHCP      bool     `json:"enable_dhcp" api:"create,update"`
	AllocationPools []Pool   `json:"allocation_pools" api:"create,update"`
	DNSNameservers  []string `json:"dns_nameservers" api:"create,update"`
	HostRoutes      []Route  `json:"host_routes" api:"create,update"`
	ServiceTypes    []string `json:"service_types"`
	SubnetPoolID    *string  `json:"subnetpool_id"`
	IPv6RAMode      *string  `json:"ipv6_ra_mode"`
	IPv6AddressMode *string  `json:"ipv6_address_mode"`
	Tagged
	Standard
}

// FixedIP is an address of a port.
type FixedIP struct {
	SubnetID  string `json:"subnet_id"`
	IPAddress string `json:"ip_address"`
}

// Gateway is a router's connection to an external network.
type Gateway struct {
	NetworkID        string    `json:"network_id"`
	ExternalFixedIPs []FixedIP `json:"external_fixed_ips"`
	EnableSNAT       bool      `json:"enable_snat"`
}

// Router is a Neutron router.
type Router struct {
	Owned
	Name              string   `json:"name" api:"create,update" max:"255"`
	AdminStateUp      bool     `json:"admin_state_up" api:"create,update"`
	Status            string   `json:"status"`
	Gateway           *Gateway `json:"external_gateway_info" api:"create,update"`
	Routes            []Route  `json:"routes" api:"update"`
	AvailabilityZones []string `json:"availability_zones"`
	ZoneHints         []string `json:"availability_zone_hints" api:"create"`
	FlavorID          *string  `json:"flavor_id"`
	HA                bool     `json:"ha" vis:"admin"`
	Tagged
	Standard
}

// SecurityGroup is a Neutron security group; its rules are objects of their own.
type SecurityGroup struct {
	Owned
	Name     string `json:"name" api:"create,update" max:"255"`
	Stateful bool   `json:"stateful" api:"create,update"`
	Shared   bool   `json:"shared"`
	Tagged
	Standard
}

// Rule is a rule of a security group. It cannot be changed and has no tags.
type Rule struct {
	Owned
	SecurityGroupID string  `json:"security_group_id" api:"create"`
	Direction       string  `json:"direction" api:"create"`
	EtherType       string  `json:"ethertype" api:"create"`
	Protocol        *string `json:"protocol" api:"create"`
	PortRangeMin    *int    `json:"port_range_min" api:"create"`
	PortRangeMax    *int    `json:"port_range_max" api:"create"`
	RemoteIPPrefix  *string `json:"remote_ip_prefix" api:"create"`
	RemoteGroupID   *string `json:"remote_group_id" api:"create"`
	AddressGroupID  *string `json:"remote_address_group_id"`
	NormalizedCIDR  *string `json:"normalized_cidr"`
	Standard
}

// Pair is an allowed address pair of a port.
type Pair struct {
	IPAddress  string `json:"ip_address"`
	MACAddress string `json:"mac_address"`
}

// Details are values by name; none is an empty object.
type Details map[string]any

// Port is a Neutron port.
type Port struct {
	Owned
	Name           string    `json:"name" api:"create,update" max:"255"`
	NetworkID      string    `json:"network_id" api:"create"`
	MACAddress     string    `json:"mac_address" api:"create,update"`
	AdminStateUp   bool      `json:"admin_state_up" api:"create,update"`
	Status         string    `json:"status"`
	DeviceID       string    `json:"device_id" api:"create,update" max:"255"`
	DeviceOwner    string    `json:"device_owner" api:"create,update" max:"255"`
	FixedIPs       []FixedIP `json:"fixed_ips" api:"create,update"`
	SecurityGroups []string  `json:"security_groups" api:"create,update"`
	Pairs          []Pair    `json:"allowed_address_pairs" api:"create,update"`
	PortSecurity   bool      `json:"port_security_enabled" api:"create,update"`
	VNICType       string    `json:"binding:vnic_type" api:"create,update"`
	HostID         string    `json:"binding:host_id" vis:"admin" api:"create,update" set:"admin"`
	VIFType        string    `json:"binding:vif_type" vis:"admin"`
	VIFDetails     Details   `json:"binding:vif_details" vis:"admin"`
	Profile        Details   `json:"binding:profile" vis:"admin" api:"create,update" set:"admin"`
	DHCPOptions    []string  `json:"extra_dhcp_opts"` // always none

	Chosen   []string `json:"sim:chosen" vis:"hidden"`    // the addresses that the client asked for
	NovaMade bool     `json:"sim:nova_made" vis:"hidden"` // goes when it is detached
	Tagged
	Standard
}

// FloatingIP is a Neutron floating IP. The details of its port are worked out for each answer.
type FloatingIP struct {
	Owned
	FloatingNetworkID string  `json:"floating_network_id" api:"create"`
	FloatingIPAddress string  `json:"floating_ip_address" api:"create" set:"admin"`
	FixedIPAddress    *string `json:"fixed_ip_address" api:"create,update"`
	PortID            *string `json:"port_id" api:"create,update"`
	RouterID          *string `json:"router_id"`
	Status            string  `json:"status"`
	Chosen            bool    `json:"sim:chosen" vis:"hidden"` // the client asked for the address
	Tagged
	Standard
}

// Policy is an RBAC policy: it shares a network or a security group.
type Policy struct {
	Owned
	ObjectType   string `json:"object_type" api:"create"`
	ObjectID     string `json:"object_id" api:"create"`
	Action       string `json:"action" api:"create"`
	TargetTenant string `json:"target_tenant" api:"create,update"`
}
