package wireguard

import (
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/agent/volume"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/wgconf"
)

func TestConfigOfTheFiles(t *testing.T) {
	key := peerKey(0).String()
	secret := vpn.SecretRef{Name: "site-psk", Key: "psk"}
	resolve := func(host string) netip.Addr {
		if host == "vpn.example.org" {
			return netip.MustParseAddr("198.51.100.7")
		}
		return netip.Addr{}
	}
	base := Peer{Name: "site", PublicKey: key, AllowedIPs: prefixes("10.1.0.0/24")}
	for sentence, c := range map[string]struct {
		file     wgconf.Peer
		expected []vpn.ExpectedPeer
		keys     map[string][]byte
		want     func(*Peer)
	}{
		"a peer that speaks first":         {wgconf.Peer{}, []vpn.ExpectedPeer{{Name: "site"}}, nil, func(*Peer) {}},
		"an address":                       {wgconf.Peer{Endpoint: "198.51.100.9:51820"}, []vpn.ExpectedPeer{{Name: "site"}}, nil, func(p *Peer) { p.Endpoint = netip.MustParseAddrPort("198.51.100.9:51820") }},
		"a name":                           {wgconf.Peer{Endpoint: "vpn.example.org:1"}, []vpn.ExpectedPeer{{Name: "site"}}, nil, func(p *Peer) { p.Endpoint = netip.MustParseAddrPort("198.51.100.7:1") }},
		"a name that isn't resolved":       {wgconf.Peer{Endpoint: "gone.example.org:1"}, []vpn.ExpectedPeer{{Name: "site"}}, nil, func(*Peer) {}},
		"keepalives":                       {wgconf.Peer{Keepalive: 25}, []vpn.ExpectedPeer{{Name: "site"}}, nil, func(p *Peer) { p.Keepalive = 25 * time.Second }},
		"a preshared key":                  {wgconf.Peer{}, []vpn.ExpectedPeer{{Name: "site", PresharedKey: secret}}, map[string][]byte{"site": []byte("k\n")}, func(p *Peer) { p.Preshared = Secret("k\n") }},
		"a preshared key that isn't there": {wgconf.Peer{}, []vpn.ExpectedPeer{{Name: "site", PresharedKey: secret}}, map[string][]byte{"other": []byte("k")}, func(p *Peer) { p.Missing = "its preshared key is missing: Secret site-psk, key psk" }},
		"a preshared key that is empty":    {wgconf.Peer{}, []vpn.ExpectedPeer{{Name: "site", PresharedKey: secret}}, map[string][]byte{"site": {}}, func(p *Peer) { p.Missing = "its preshared key is missing: Secret site-psk, key psk" }},
		"a key that nobody asked for":      {wgconf.Peer{}, []vpn.ExpectedPeer{{Name: "site"}}, map[string][]byte{"site": []byte("k")}, func(*Peer) {}},
		"a peer of one file alone":         {wgconf.Peer{}, nil, map[string][]byte{"site": []byte("k")}, func(p *Peer) { p.Missing = "it is not in agent.json yet" }},
	} {
		t.Run(sentence, func(t *testing.T) {
			c.file.Name, c.file.PublicKey, c.file.AllowedIPs = "site", key, base.AllowedIPs
			peer := base
			c.want(&peer)
			want := Config{PrivateKey: Secret("p"), ListenPort: 51820, FirewallMark: 100, Peers: []Peer{peer}}
			got := Of(wgconf.Config{ListenPort: 51820, Peers: []wgconf.Peer{c.file}}, vpn.Expectation{Peers: c.expected},
				volume.Keys{PrivateKey: []byte("p"), Preshared: c.keys}, resolve)
			if diff := cmp.Diff(want, got, byText); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if got, want := string(got.Peers[0].Preshared), string(peer.Preshared); got != want {
				t.Errorf("its preshared key is %q, want %q", got, want)
			}
		})
	}
}
