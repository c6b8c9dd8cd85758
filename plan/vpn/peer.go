package vpn

import (
	"net/netip"
	"time"
)

// Selectors say how the remote subnets of an IPsec peer become child SAs.
type Selectors string

// The selector layouts.
const (
	PerSubnet Selectors = "perSubnet" // one child SA for each remote subnet
	Joined    Selectors = "joined"    // one child SA for all of them
)

// Peer is one remote party of a gateway: an IPsec site, a WireGuard site or a
// WireGuard road warrior.
type Peer struct {
	Name     string `json:"name"`
	Position string `json:"position,omitempty"` // of its manifest; not part of equality

	Subnets []netip.Prefix `json:"subnets,omitempty"` // behind the peer, sorted, canonical; empty for a road warrior

	// IPsec
	Address      netip.Addr    `json:"address,omitzero"` // the peer's public address
	ID           string        `json:"id,omitempty"`     // its IKE identity
	ESPProposals []string      `json:"espProposals,omitempty"`
	ESPLifetime  time.Duration `json:"espLifetime,omitempty"`
	PSK          SecretRef     `json:"psk,omitzero"`
	Selectors    Selectors     `json:"selectors,omitempty"`

	// WireGuard
	PublicKey    string     `json:"publicKey,omitempty"`
	Endpoint     string     `json:"endpoint,omitempty"` // host:port, empty when the peer speaks first
	RoadWarrior  bool       `json:"roadWarrior,omitempty"`
	TunnelIP     netip.Addr `json:"tunnelIP,omitzero"` // pinned road-warrior address; zero: allocate
	PresharedKey SecretRef  `json:"presharedKey,omitzero"`
	Keepalive    int        `json:"keepalive,omitempty"` // seconds, 0 = off

	Grants *Grants `json:"grants,omitempty"` // nil: no authorization block was written
}

// Grants are the exposures that a peer was given by name, each list sorted.
type Grants struct {
	Exposures        []string `json:"exposures,omitempty"`
	ReverseExposures []string `json:"reverseExposures,omitempty"`
}

// Access is what a peer may reach and be reached from, after authorization.
type Access struct {
	Exposures        []string `json:"exposures,omitempty"`
	ReverseExposures []string `json:"reverseExposures,omitempty"`
	Default          bool     `json:"default,omitempty"` // nobody wrote it down: a single peer without a block, or an open gateway
}

// DefaultAllow tells whether the gateway's only peer reaches everything because
// no authorization block was written.
func (g Gateway) DefaultAllow() bool {
	return !g.Open && len(g.Peers) == 1 && g.Peers[0].Grants == nil
}

// Access says what a peer may reach. An open gateway allows all; a single peer
// without an authorization block is allowed all; every other peer reaches just
// what its block names, and nothing where it has none. For a reverse exposure
// only the peer whose subnets hold the target counts (see Serves).
func (g Gateway) Access(p Peer) Access {
	if g.Open || g.DefaultAllow() {
		a := Access{Default: true}
		for _, x := range g.Exposures {
			a.Exposures = append(a.Exposures, x.Name)
		}
		for _, x := range g.ReverseExposures {
			if p.Serves(x) {
				a.ReverseExposures = append(a.ReverseExposures, x.Name)
			}
		}
		return a
	}
	if p.Grants == nil {
		return Access{}
	}
	return Access{Exposures: p.Grants.Exposures, ReverseExposures: p.Grants.ReverseExposures}
}

// Serves tells whether the target of a reverse exposure lies behind the peer.
func (p Peer) Serves(x Exposure) bool {
	for _, s := range p.Subnets {
		if s.Contains(x.Target.Address) {
			return true
		}
	}
	return false
}

// Roaming tells whether the peer comes and goes as its user likes: a road warrior
// without an endpoint, which nobody can dial. A site that has to dial in is meant to
// stay.
func (p Peer) Roaming() bool { return p.RoadWarrior && p.Endpoint == "" }

// Sender is where a WireGuard peer's packets come from: its endpoint's address. It is
// zero for a host name, a road warrior and a peer without an endpoint, which can't be
// pinned: the port is open to everyone then, and answers only to keys that it knows.
func (p Peer) Sender() netip.Prefix {
	endpoint, err := netip.ParseAddrPort(p.Endpoint)
	if p.RoadWarrior || err != nil {
		return netip.Prefix{}
	}
	return netip.PrefixFrom(endpoint.Addr(), endpoint.Addr().BitLen())
}

// Sources are the addresses that the peer's traffic comes from inside the
// tunnel: its subnets, or the road warrior's own address as a /32.
func (p Peer) Sources(roadWarrior netip.Addr) []netip.Prefix {
	if !p.RoadWarrior {
		return p.Subnets
	}
	if !roadWarrior.IsValid() {
		return nil
	}
	return []netip.Prefix{netip.PrefixFrom(roadWarrior, roadWarrior.BitLen())}
}
