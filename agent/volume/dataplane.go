package volume

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"time"
)

// The parts of the data plane that a Problem names.
const (
	PartNIC       = "nic"
	PartRouting   = "routing"
	PartSysctl    = "sysctl"
	PartRuleset   = "ruleset"
	PartWireGuard = "wireguard"
	PartKeys      = "keys"
	PartDNS       = "dns"
)

// Dataplane is what the dataplane half found and did. It holds no key but public
// ones.
type Dataplane struct {
	Written   time.Time `json:"written"`
	Network   string    `json:"network,omitempty"`   // the namespace that it is about, see Network
	Interface string    `json:"interface,omitempty"` // name of the second NIC; empty: it is missing
	Problems  []Problem `json:"problems,omitempty"`  // sorted by part and text; empty: all is well

	Ruleset      string    `json:"ruleset,omitempty"` // Hash of the nat.nft in force; empty: none is
	RulesetSince time.Time `json:"rulesetSince,omitzero"`
	Config       string    `json:"config,omitempty"` // Hash of the gateway file in force
	Hosts        []Host    `json:"hosts,omitempty"`

	WireGuard    *WireGuard `json:"wireGuard,omitempty"` // nil: the protocol is another, or there is no device yet
	FlowsCut     uint64     `json:"flowsCut"`            // connections ended because their grant went away
	ReloadErrors uint64     `json:"reloadErrors"`        // files that could not be put in force
}

// Problem is one thing that isn't as it should be.
type Problem struct {
	Part  string    `json:"part"`
	Text  string    `json:"text"`
	Since time.Time `json:"since"`
}

// Host is what the target of a host exposure resolves to.
type Host struct {
	Exposure string     `json:"exposure"`
	Name     string     `json:"name"`
	Address  netip.Addr `json:"address,omitzero"`  // the one in use
	Problem  string     `json:"problem,omitempty"` // of the last look-up
	Checked  time.Time  `json:"checked,omitzero"`
}

// WireGuard is the device as it was read last.
type WireGuard struct {
	PublicKey string          `json:"publicKey"`
	Userspace bool            `json:"userspace,omitempty"`
	Peers     []WireGuardPeer `json:"peers,omitempty"`
}

// WireGuardPeer is one peer of the device. Its counters, in bytes, don't fall when
// the agent starts anew, where that can be had.
type WireGuardPeer struct {
	Name      string    `json:"name"`
	PublicKey string    `json:"publicKey"`
	Endpoint  string    `json:"endpoint,omitempty"` // where its last packet came from, or what was configured
	Handshake time.Time `json:"handshake,omitzero"` // zero: never
	Received  uint64    `json:"received"`           // from the peer
	Sent      uint64    `json:"sent"`               // to the peer
	Problem   string    `json:"problem,omitempty"`  // why it isn't set up as written
}

// WriteDataplane publishes the state, its problems sorted.
func (v Volume) WriteDataplane(d Dataplane) error {
	d.Problems = slices.SortedFunc(slices.Values(d.Problems), func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Part, b.Part), cmp.Compare(a.Text, b.Text), a.Since.Compare(b.Since))
	})
	data, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("writing %s: %w", dataplaneFile, err)
	}
	return v.write(dataplaneFile, data, 0o644)
}

// ReadDataplane returns what WriteDataplane wrote last, and false where it never
// did.
func (v Volume) ReadDataplane() (Dataplane, bool, error) {
	data, found, err := v.read(dataplaneFile)
	if !found || err != nil {
		return Dataplane{}, false, err
	}
	var d Dataplane
	if err := json.Unmarshal(data, &d); err != nil {
		return Dataplane{}, false, fmt.Errorf("reading %s: %w", dataplaneFile, err)
	}
	return d, true, nil
}
