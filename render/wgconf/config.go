package wgconf

import (
	"net/netip"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Config is one interface with its peers, sorted by name.
type Config struct {
	ListenPort int
	Peers      []Peer
}

// Peer is one peer. Its key is public by definition.
type Peer struct {
	Name       string
	PublicKey  string // base64 of 32 bytes
	AllowedIPs []netip.Prefix
	Endpoint   string // host:port; empty: the peer speaks first
	Keepalive  int    // seconds; 0: off
}

// Of returns the configuration of a WireGuard gateway. address gives a road
// warrior's tunnel address, the zero Addr where none is allocated.
func Of(g vpn.Gateway, address func(peer string) netip.Addr) Config {
	c := Config{ListenPort: g.WireGuard.ListenPort}
	for _, p := range g.Peers {
		c.Peers = append(c.Peers, Peer{
			Name:       p.Name,
			PublicKey:  p.PublicKey,
			AllowedIPs: p.Sources(address(p.Name)),
			Endpoint:   p.Endpoint,
			Keepalive:  p.Keepalive,
		})
	}
	return c
}

// Peer finds a peer by name.
func (c Config) Peer(name string) (Peer, bool) {
	for _, p := range c.Peers {
		if p.Name == name {
			return p, true
		}
	}
	return Peer{}, false
}
