package roster

import (
	"slices"
	"time"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Cluster is what was read of a cluster.
type Cluster struct {
	Gateways []Gateway    // sorted by namespace, name and kind
	Links    []Link       // sorted by name
	Strays   []Peer       // VPNPeers whose gateway isn't there, sorted
	Broken   []Unreadable // sorted
	Unseen   error        // why links can't be seen; nil: they can, or nobody looked
}

// Condition is one statement of a status.
type Condition struct {
	Type, Status, Reason, Message string
	Since                         time.Time // when the status last changed
	Generation                    int64     // of the manifest that it speaks of; 0: it doesn't say
}

// The statuses of a condition, as Kubernetes spells them.
const (
	True    = "True"
	False   = "False"
	Unknown = "Unknown"
)

// Manifest is what all that is written has in common.
type Manifest struct {
	Generation int64     // counts the edits of its spec
	Created    time.Time // zero: there is no manifest
	Deleting   time.Time // zero: nobody has deleted it
	Conditions []Condition
}

// Gateway is a VPNGateway or an IPsecGateway.
type Gateway struct {
	Owner vpn.Owner
	Manifest
	Protocol     vpn.Protocol
	Touched      bool // somebody has written into its status
	Address      string
	ServiceCIDR  string
	FixedAddress string // of its port on the transit network
	Node         string
	PublicKey    string // of WireGuard
	VirtualIPs   []VirtualIP
	Peers        []Peer    // sorted by name; the tunnels of an IPsecGateway in their order
	Reported     time.Time // when its pod last wrote into its status
}

// VirtualIP is the address of one exposure.
type VirtualIP struct {
	Name, IP string
	Reverse  bool
}

// Link is a ClusterLink.
type Link struct {
	Name string
	Manifest
	Touched                 bool
	Router, CIDR, TransitIP string
}

// Peer is a VPNPeer, or a tunnel of an IPsecGateway.
type Peer struct {
	Namespace, Gateway, Name string
	Manifest                        // of a VPNPeer
	Roams                    bool   // a road warrior: it is away more often than not
	Address                  string // of a road warrior inside the tunnel
	Report                   Report
}

// Report is what a gateway's pod says of a peer. Zero fields are not known.
type Report struct {
	State         string // as the data plane names it; empty: nothing was reported
	Up, Expected  int    // child SAs, or sessions
	Message       string
	Since         time.Time // in this state
	LastHandshake time.Time
	RekeyAt       time.Time
	In, Out       int64     // bytes from and to the peer
	At            time.Time // when this was written
}

// Condition finds a condition by its type.
func (m Manifest) Condition(kind string) (Condition, bool) {
	i := slices.IndexFunc(m.Conditions, func(c Condition) bool { return c.Type == kind })
	if i < 0 {
		return Condition{}, false
	}
	return m.Conditions[i], true
}

// Outdated tells whether a condition speaks of an older version of the manifest.
func (m Manifest) Outdated(c Condition) bool { return c.Generation != 0 && c.Generation < m.Generation }

// Gone tells whether a peer is in no manifest any more, although its gateway's pod still
// speaks of it.
func (p Peer) Gone() bool { return p.Gateway != "" && p.Created.IsZero() }

// Newer is the later of two reports on a peer, which are written one after the other. Of
// two on one state it is the first.
func Newer(a, b Report) Report {
	at := a.At
	if b.At.After(at) {
		at = b.At
	}
	if a.State == "" || b.State != "" && b.Since.After(a.Since) {
		a = b
	}
	a.At = at
	return a
}
