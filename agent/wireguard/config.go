package wireguard

import (
	"fmt"
	"net/netip"
	"time"
)

// MTU of the device: 1500 less the 80 bytes that WireGuard may need over IPv6.
const MTU = 1420

// FirewallMark is what the device's own packets carry. Policy routing sends them out
// by the dedicated port, whatever their source address is.
const FirewallMark = 100

// Config is what a device should be.
type Config struct {
	PrivateKey   Secret `json:"-"`
	ListenPort   int
	FirewallMark int
	Peers        []Peer // of two that want one key or one network, the first has it

	// Seen says where a peer was last, by name: see LastSeen. It is where one
	// without an endpoint is spoken to when it is added.
	Seen map[string]netip.AddrPort
}

// Peer is one peer of a device. Its name is ours alone.
type Peer struct {
	Name       string
	PublicKey  string         // base64
	Preshared  Secret         `json:"-"` // empty: none is wanted
	Endpoint   netip.AddrPort // zero: the peer speaks first, or its name isn't resolved
	AllowedIPs []netip.Prefix
	Keepalive  time.Duration // whole seconds; 0: off

	// Missing says why the peer can't be set up as it should: its key isn't there.
	// It is left out then, and taken off a device that has it.
	Missing string
}

// Change is what an Apply did.
type Change struct {
	Device                  bool     // private key, port or mark
	Added, Changed, Removed []string // names of peers, sorted; of one whose name isn't known, the public key

	// Problems say, by the name of the peer, why it is left out, or has less than
	// it should. They are there with every Apply as long as they last.
	Problems map[string]string
}

// Empty tells whether the device was as it should be.
func (c Change) Empty() bool {
	return !c.Device && len(c.Added)+len(c.Changed)+len(c.Removed) == 0
}

// State is a device as it is.
type State struct {
	PublicKey    string // empty: it has no private key
	ListenPort   int
	FirewallMark int
	Peers        []PeerState // sorted by name, then by key
}

// PeerState is one peer of a device as it is.
type PeerState struct {
	Name       string // empty: no Apply of this program has named it
	PublicKey  string
	Preshared  bool           // it has a preshared key
	Endpoint   netip.AddrPort // where its last packet came from, or what was configured; zero: neither
	Handshake  time.Time      // zero: never
	Received   uint64         // bytes from the peer, since it was added to the device
	Sent       uint64         // bytes to the peer
	AllowedIPs []netip.Prefix // sorted
	Keepalive  time.Duration
}

// Secret is a key as it is in its Secret: base64 text, perhaps with a line break at
// its end. It prints as "(hidden)", with every verb and in JSON.
type Secret []byte

const hidden = "(hidden)"

// Format hides the key from package fmt.
func (Secret) Format(s fmt.State, _ rune) { fmt.Fprint(s, hidden) }

// String hides the key from whoever asks for a text.
func (Secret) String() string { return hidden }

// MarshalText hides the key from encoders.
func (Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }
