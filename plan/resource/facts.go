package resource

import (
	"cmp"
	"maps"
	"net/netip"
)

// Facts are what only the outside knows and rendering needs.
type Facts struct {
	NetworkID     string       `json:"networkID"`     // the transit network
	Subnet        netip.Prefix `json:"subnet"`        // its IPv4 subnet
	SubnetGateway netip.Addr   `json:"subnetGateway"` // the subnet's gateway_ip
	RouterID      string       `json:"routerID"`      // the gateway cluster's router
	Nodes         []Node       `json:"nodes"`         // every node that was seen, sorted by name

	Gateways map[string]GatewayFacts `json:"gateways"`        // by owner text; of a link its leg: port and address
	Links    map[string]LinkFacts    `json:"links,omitempty"` // by owner text; missing: the router could not be resolved
}

// LinkFacts are what is known of a link's service cluster.
type LinkFacts struct {
	Router     string `json:"router"` // ID
	RouterName string `json:"routerName"`
}

// Node is a node as the cluster, or the estate file, describes it.
type Node struct {
	Name     string `json:"name"`
	ServerID string `json:"serverID,omitempty"` // empty with Problem set
	Ready    bool   `json:"ready"`
	Closed   string `json:"closed,omitempty"`  // why it takes no more gateways although it is Ready, in words: "cordoned"; those on it stay
	Problem  string `json:"problem,omitempty"` // why it can't be used, in words
}

// GatewayFacts are what is known of one gateway from outside. Zero means: not
// there yet.
type GatewayFacts struct {
	FloatingIP  netip.Addr `json:"floatingIP,omitzero"`
	PortID      string     `json:"portID,omitempty"`
	PortAddress netip.Addr `json:"portAddress,omitzero"`
	MAC         string     `json:"mac,omitempty"`      // lower case, colons
	ServerID    string     `json:"serverID,omitempty"` // the server that the port is attached to
}

// Gateway is what is known of an owner's gateway.
func (f Facts) Gateway(owner string) GatewayFacts { return f.Gateways[owner] }

// Learn returns the facts with those of one gateway completed by news. The
// receiver is not changed.
func (f Facts) Learn(owner string, news GatewayFacts) Facts {
	known := make(map[string]GatewayFacts, len(f.Gateways)+1)
	maps.Copy(known, f.Gateways)
	known[owner] = known[owner].Complete(news)
	f.Gateways = known
	return f
}

// Complete takes over what the news know; what they leave zero stays.
func (g GatewayFacts) Complete(news GatewayFacts) GatewayFacts {
	return GatewayFacts{
		FloatingIP:  firstAddr(news.FloatingIP, g.FloatingIP),
		PortID:      cmp.Or(news.PortID, g.PortID),
		PortAddress: firstAddr(news.PortAddress, g.PortAddress),
		MAC:         cmp.Or(news.MAC, g.MAC),
		ServerID:    cmp.Or(news.ServerID, g.ServerID),
	}
}

func firstAddr(a, b netip.Addr) netip.Addr {
	if a.IsValid() {
		return a
	}
	return b
}
