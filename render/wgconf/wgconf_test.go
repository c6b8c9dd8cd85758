package wgconf

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/readback"
)

var opts = cmp.Options{cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{}), cmpopts.EquateEmpty()}

const key = "xTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8Dg="

func sample() Config {
	return Config{ListenPort: 51820, Peers: []Peer{
		{Name: "berlin", PublicKey: key, AllowedIPs: []netip.Prefix{netip.MustParsePrefix("192.168.10.0/24"), netip.MustParsePrefix("192.168.12.0/24")}, Endpoint: "vpn.berlin.example.org:51820", Keepalive: 25},
		{Name: "ina", PublicKey: key, AllowedIPs: []netip.Prefix{netip.MustParsePrefix("100.64.7.199/32")}},
	}}
}

func TestTextIsReadBack(t *testing.T) {
	text := readback.Same(t, sample(), Parse)
	for _, word := range []string{"PrivateKey", "PresharedKey"} {
		if strings.Contains(text, word) {
			t.Errorf("the file holds a %s", word)
		}
	}
}

func TestWriterRefuses(t *testing.T) {
	for sentence, change := range map[string]func(*Config){
		"a name with a line break":       func(c *Config) { c.Peers[0].Name = "a\n[Peer]" },
		"an empty name":                  func(c *Config) { c.Peers[0].Name = "" },
		"an endpoint with a line break":  func(c *Config) { c.Peers[0].Endpoint = "a:1\nPrivateKey = x" },
		"an endpoint with a comment":     func(c *Config) { c.Peers[0].Endpoint = "a#b:1" },
		"an endpoint without a port":     func(c *Config) { c.Peers[0].Endpoint = "a" },
		"an endpoint on port 0":          func(c *Config) { c.Peers[0].Endpoint = "a:0" },
		"an endpoint without a host":     func(c *Config) { c.Peers[0].Endpoint = ":51820" },
		"a short key":                    func(c *Config) { c.Peers[0].PublicKey = "YWJj" },
		"a key with a line break":        func(c *Config) { c.Peers[0].PublicKey = key[:20] + "\n" + key[20:] },
		"a key with loose trailing bits": func(c *Config) { c.Peers[0].PublicKey = key[:42] + "h=" },
		"a peer without an address":      func(c *Config) { c.Peers[0].AllowedIPs = nil },
		"an IPv6 address":                func(c *Config) { c.Peers[0].AllowedIPs[0] = netip.MustParsePrefix("2001:db8::/64") },
		"a negative keepalive":           func(c *Config) { c.Peers[0].Keepalive = -1 },
		"a keepalive that is too large":  func(c *Config) { c.Peers[0].Keepalive = 65536 },
		"port 0":                         func(c *Config) { c.ListenPort = 0 },
		"a port that is too large":       func(c *Config) { c.ListenPort = 65536 },
	} {
		t.Run(sentence, func(t *testing.T) {
			c := sample()
			change(&c)
			if text, err := c.Text(); err == nil {
				t.Errorf("written without an error:\n%s", text)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	readback.Refused(t, sample(), Parse, map[string][2]string{
		"a private key":           {"ListenPort", "PrivateKey = " + key + "\nListenPort"},
		"a preshared key":         {"AllowedIPs", "PresharedKey = " + key + "\nAllowedIPs"},
		"an unknown key":          {"AllowedIPs", "MTU = 1\nAllowedIPs"},
		"a key twice":             {"ListenPort = 51820", "ListenPort = 51820\nListenPort = 51820"},
		"a second interface":      {"\n# peer ina", "\n[Interface]\n# peer ina"},
		"a peer without its name": {"# peer ina\n", ""},
		"a value before sections": {"[Interface]", "ListenPort = 1\n[Interface]"},
		"no interface":            {"[Interface]\nListenPort = 51820\n", ""},
		"an address that is none": {"192.168.12.0/24", "dynamic"},
	})
}

func TestPeersOfAGateway(t *testing.T) {
	g := vpn.Gateway{WireGuard: &vpn.Interface{ListenPort: 51820}, Peers: []vpn.Peer{
		{Name: "berlin", PublicKey: key, Subnets: []netip.Prefix{netip.MustParsePrefix("192.168.10.0/24")}, Endpoint: "198.51.100.7:51820", Keepalive: 25},
		{Name: "ina", PublicKey: key, RoadWarrior: true},
		{Name: "new", PublicKey: key, RoadWarrior: true},
	}}
	addresses := map[string]netip.Addr{"ina": netip.MustParseAddr("100.64.7.199")}
	got := Of(g, func(peer string) netip.Addr { return addresses[peer] })
	want := Config{ListenPort: 51820, Peers: []Peer{
		{Name: "berlin", PublicKey: key, AllowedIPs: []netip.Prefix{netip.MustParsePrefix("192.168.10.0/24")}, Endpoint: "198.51.100.7:51820", Keepalive: 25},
		{Name: "ina", PublicKey: key, AllowedIPs: []netip.Prefix{netip.MustParsePrefix("100.64.7.199/32")}},
		{Name: "new", PublicKey: key},
	}}
	if diff := cmp.Diff(want, got, opts); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// FuzzText: whatever stands in the fields, the text is refused or read back as
// exactly the fields.
func FuzzText(f *testing.F) {
	f.Add(51820, "berlin", key, "a.example.org:51820", uint32(0x0a000000), uint8(8), 25)
	f.Add(1, "a\n[Peer]", key+"\n", "h:1\nPrivateKey = x", uint32(1), uint8(0), -1)
	f.Fuzz(func(t *testing.T, port int, name, key, endpoint string, address uint32, bits uint8, keepalive int) {
		addr := netip.AddrFrom4([4]byte{byte(address >> 24), byte(address >> 16), byte(address >> 8), byte(address)})
		prefix := netip.PrefixFrom(addr, int(bits%33))
		want := Config{ListenPort: port, Peers: []Peer{
			{Name: name, PublicKey: key, AllowedIPs: []netip.Prefix{prefix, prefix}, Endpoint: endpoint, Keepalive: keepalive},
			{Name: "second", PublicKey: "xTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8Dg=", AllowedIPs: []netip.Prefix{prefix}},
		}}
		readback.SameOrRefused(t, want, Parse)
	})
}
