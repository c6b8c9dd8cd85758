package vpn

import (
	"net/netip"
	"time"
)

// Protocol is what a gateway speaks to its peers.
type Protocol string

// The protocols.
const (
	IPsec     Protocol = "ipsec"
	WireGuard Protocol = "wireguard"
)

// Gateway is one client's gateway: one pod, one port, one floating IP, one /24.
type Gateway struct {
	Owner    Owner    `json:"owner"`
	Position string   `json:"position,omitempty"` // file:line:column of its manifest; not part of equality
	Protocol Protocol `json:"protocol"`

	FloatingIPPool string       `json:"floatingIPPool,omitempty"` // empty: the estate's
	FloatingIP     netip.Addr   `json:"floatingIP,omitzero"`      // pinned: the customer's, never tagged, never released; zero: allocate
	ServiceCIDR    netip.Prefix `json:"serviceCIDR,omitzero"`     // pinned /24; zero: allocate

	Exposures        []Exposure `json:"exposures,omitempty"`        // sorted by name
	ReverseExposures []Exposure `json:"reverseExposures,omitempty"` // sorted by name
	Peers            []Peer     `json:"peers,omitempty"`            // sorted by name

	IKE       *IKE       `json:"ike,omitempty"`       // set exactly for Protocol IPsec
	WireGuard *Interface `json:"wireguard,omitempty"` // set exactly for Protocol WireGuard

	// Links are the cross-tenant links that get routes back to the gateway for its reverse
	// exposures, sorted, each once. Links of our own project do without being named.
	Links []string `json:"links,omitempty"`

	// Open: every peer reaches every exposure, whatever its grants; an
	// IPsecGateway has no per-peer authorization.
	Open bool `json:"open,omitempty"`
	// SourcesOptional: reverse exposures without internalSourceCIDRs degrade to a
	// message instead of an error.
	SourcesOptional bool `json:"sourcesOptional,omitempty"`

	Annotations map[string]string `json:"annotations,omitempty"`
	Manifests   []Manifest        `json:"manifests,omitempty"` // the gateway's and its peers', as written into the tree
}

// Manifest is one object as the user wrote it, without its status, in canonical
// JSON (keys sorted).
type Manifest struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	JSON       string `json:"json"`
}

// IKE holds the settings of an IPsec gateway that all its connections share.
type IKE struct {
	Proposals  []string      `json:"proposals"` // in the order written: preference
	Lifetime   time.Duration `json:"lifetime"`  // rekey interval of the IKE SA
	DPDDelay   time.Duration `json:"dpdDelay"`
	DPDTimeout time.Duration `json:"dpdTimeout"` // rendered, without effect in IKEv2
}

// Interface holds the settings of a WireGuard gateway.
type Interface struct {
	ListenPort      int          `json:"listenPort"`
	PrivateKey      SecretRef    `json:"privateKey"`
	GeneratedKey    bool         `json:"generatedKey,omitempty"`   // the manifest names no Secret: <name>-wg-key, key privateKey
	RoadWarriorCIDR netip.Prefix `json:"roadWarriorCIDR,omitzero"` // zero: the top /26 of the service CIDR
}

// GeneratedKey is the key of a Secret under which a private key is found whose Secret
// the manifest doesn't name.
const GeneratedKey = "privateKey"

// GeneratedKeySuffix makes the name of that Secret of the gateway's.
const GeneratedKeySuffix = "-wg-key"

// SecretRef names one key of a Secret in the gateway's namespace. The value is
// never read by anything but the agent.
type SecretRef struct {
	Name string `json:"name"`
	Key  string `json:"key"`
}

// Peer finds a peer by name.
func (g Gateway) Peer(name string) (Peer, bool) {
	for _, p := range g.Peers {
		if p.Name == name {
			return p, true
		}
	}
	return Peer{}, false
}
