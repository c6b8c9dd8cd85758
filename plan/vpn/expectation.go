package vpn

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
)

// The data planes of a gateway: who carries the packets of its tunnels.
const (
	DataplaneKernel    = "kernel"    // ESP, or WireGuard where there is a module, in the kernel
	DataplaneUserspace = "userspace" // charon or the agent, on a TUN device
)

// ExpectationVersion is the version of agent.json.
const ExpectationVersion = "vpnctl.bnerd.net/agent/v1"

// Expectation is agent.json: what the agent of a gateway pod should find, reach
// for and report on. It holds names of Secrets and never their values.
type Expectation struct {
	Version   string   `json:"version"`
	Estate    string   `json:"estate"`
	Gateway   Owner    `json:"gateway"`
	Protocol  Protocol `json:"protocol"`
	Dataplane string   `json:"dataplane"` // kernel or userspace

	PublicAddress string       `json:"publicAddress"` // the floating IP
	ServiceCIDR   netip.Prefix `json:"serviceCIDR"`
	Port          ExpectedPort `json:"port"`

	Reserved []netip.Prefix `json:"reserved,omitempty"` // where gateways answer: no host name leads there, see Forbids

	PrivateKey SecretRef      `json:"privateKey,omitzero"` // WireGuard
	Peers      []ExpectedPeer `json:"peers"`               // sorted by name
	Hosts      []ExpectedHost `json:"hosts,omitempty"`     // sorted by exposure
}

// ExpectedPort is the pod's second interface. Its values are texts, because a plan
// shows them before they are known.
type ExpectedPort struct {
	MAC     string `json:"mac"` // lower case, colons: how the interface is found
	Address string `json:"address"`
	Subnet  string `json:"subnet"`  // the transit subnet, as a CIDR
	Gateway string `json:"gateway"` // its router
}

// ExpectedPeer is one peer: what should be up, where its keys are, and what it may
// reach.
type ExpectedPeer struct {
	Name     string         `json:"name"`
	Sources  []netip.Prefix `json:"sources"`            // its addresses inside the tunnel
	Children []string       `json:"children,omitempty"` // IPsec: the child SAs that should be up
	ID       string         `json:"id,omitempty"`       // IPsec: the owner of the pre-shared key

	PublicKey    string    `json:"publicKey,omitempty"`    // WireGuard
	Endpoint     string    `json:"endpoint,omitempty"`     // WireGuard: a host name is resolved by the agent
	Roaming      bool      `json:"roaming,omitempty"`      // WireGuard: it is offline at times, and that is no fault
	PresharedKey SecretRef `json:"presharedKey,omitzero"`  // either protocol; WireGuard: may be absent
	Access       Access    `json:"access"`                 // what the ruleset grants
	Unauthorized bool      `json:"unauthorized,omitempty"` // nothing is granted
}

// ExpectedHost is an exposure whose target is a host name: the agent puts what the
// name resolves to into the ruleset's map.
type ExpectedHost struct {
	Exposure  string     `json:"exposure"`
	Host      string     `json:"host"`
	Map       string     `json:"map"`       // name of the map in the table
	VirtualIP netip.Addr `json:"virtualIP"` // the map's only key
}

// Text writes agent.json. The same expectation has the same text.
func (e Expectation) Text() (string, error) {
	e.Version = ExpectationVersion
	data, err := json.MarshalIndent(e, "", "  ")
	return string(data) + "\n", err
}

// ParseExpectation reads agent.json; a version that this program doesn't know is an
// error.
func ParseExpectation(text string) (Expectation, error) {
	var e Expectation
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		return e, fmt.Errorf("reading agent.json: %w", err)
	}
	if e.Version != ExpectationVersion {
		return e, fmt.Errorf("reading agent.json: version %q is not %s", e.Version, ExpectationVersion)
	}
	return e, nil
}

// Peer finds an expected peer by name.
func (e Expectation) Peer(name string) (ExpectedPeer, bool) {
	i := slices.IndexFunc(e.Peers, func(p ExpectedPeer) bool { return p.Name == name })
	if i < 0 {
		return ExpectedPeer{}, false
	}
	return e.Peers[i], true
}
