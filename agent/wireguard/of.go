package wireguard

import (
	"net"
	"net/netip"
	"strconv"
	"time"

	"github.com/vpnctl/vpnctl/agent/volume"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/wgconf"
)

// Of is what the device should be by the mounted files and the keys that were handed
// over. resolve gives the address of an endpoint's host name, the zero Addr where none
// is known; it isn't asked about addresses.
func Of(file wgconf.Config, e vpn.Expectation, keys volume.Keys, resolve func(host string) netip.Addr) Config {
	c := Config{PrivateKey: keys.PrivateKey, ListenPort: file.ListenPort, FirewallMark: FirewallMark}
	for _, p := range file.Peers {
		peer := Peer{
			Name: p.Name, PublicKey: p.PublicKey, AllowedIPs: p.AllowedIPs,
			Endpoint: endpoint(p.Endpoint, resolve), Keepalive: time.Duration(p.Keepalive) * time.Second,
		}
		peer.Preshared, peer.Missing = preshared(p.Name, e, keys)
		c.Peers = append(c.Peers, peer)
	}
	return c
}

// preshared finds a peer's preshared key, or says what is missing. Of a peer that
// agent.json doesn't list it isn't known whether it has one.
func preshared(name string, e vpn.Expectation, keys volume.Keys) (key []byte, missing string) {
	expected, listed := e.Peer(name)
	switch key = keys.Preshared[name]; {
	case !listed:
		return nil, "it is not in agent.json yet"
	case expected.PresharedKey == vpn.SecretRef{}:
		return nil, ""
	case len(key) == 0:
		return nil, "its preshared key is missing: Secret " + expected.PresharedKey.Name + ", key " + expected.PresharedKey.Key
	}
	return key, ""
}

func endpoint(text string, resolve func(string) netip.Addr) netip.AddrPort {
	host, port, err := net.SplitHostPort(text)
	n, portErr := strconv.ParseUint(port, 10, 16)
	if err != nil || portErr != nil {
		return netip.AddrPort{} // "", of a peer that speaks first: wgconf lets nothing else through
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		addr = resolve(host)
	}
	if !addr.IsValid() {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(addr, uint16(n))
}
