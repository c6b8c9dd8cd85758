package swanctl

import (
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/readback"
)

func sample() Connection {
	return Connection{
		Name: "plant1", LocalID: "203.0.113.20", Address: netip.MustParseAddr("198.51.100.7"), RemoteID: "plant1@example.org",
		Proposals: []string{"aes256-sha256-ecp256", "aes256gcm16-prfsha384-ecp384"},
		Lifetime:  24 * time.Hour, DPDDelay: 30 * time.Second, DPDTimeout: 150 * time.Second,
		Children: []Child{{
			Name: "plant1-192-168-10-0-24", Local: netip.MustParsePrefix("100.64.3.0/24"),
			Remote:    []netip.Prefix{netip.MustParsePrefix("192.168.10.0/24"), netip.MustParsePrefix("192.168.12.0/24")},
			Proposals: []string{"aes256-sha256-ecp256"}, Lifetime: 12 * time.Hour,
		}},
	}
}

func TestWriterRefuses(t *testing.T) {
	for sentence, change := range map[string]func(*Connection){
		"a brace in an identity":               func(c *Connection) { c.RemoteID = "a } x { b" },
		"a line break in an identity":          func(c *Connection) { c.RemoteID = "a\nauth = pubkey" },
		"a quote in an identity":               func(c *Connection) { c.RemoteID = `"a"` },
		"a comment sign in an identity":        func(c *Connection) { c.RemoteID = "a#b" },
		"a pattern as identity":                func(c *Connection) { c.RemoteID = "%any" },
		"the IPv4 address of anybody":          func(c *Connection) { c.RemoteID = "0.0.0.0" },
		"the IPv6 address of anybody":          func(c *Connection) { c.RemoteID = "::" },
		"anybody's, with zeros":                func(c *Connection) { c.RemoteID = "0::0" },
		"anybody's as our own identity":        func(c *Connection) { c.LocalID = "0.0.0.0" },
		"a range as identity":                  func(c *Connection) { c.RemoteID = "0.0.0.0-255.255.255.255" },
		"an IPv6 range as identity":            func(c *Connection) { c.RemoteID = "::1-ffff::" },
		"a range by its prefix":                func(c *Connection) { c.RemoteID = "IPv4Range:....zzzz" },
		"a network by its prefix":              func(c *Connection) { c.RemoteID = "ipv6net:::" },
		"a network as identity":                func(c *Connection) { c.RemoteID = "0.0.0.0/0" },
		"an empty identity":                    func(c *Connection) { c.RemoteID = "" },
		"an empty local identity":              func(c *Connection) { c.LocalID = "" },
		"a name with a dot":                    func(c *Connection) { c.Name = "a.b" },
		"a name that includes a file":          func(c *Connection) { c.Name = "include" },
		"an empty name":                        func(c *Connection) { c.Name = "" },
		"two proposals in one":                 func(c *Connection) { c.Proposals = []string{"aes256-sha256-ecp256,null-sha256"} },
		"no proposal":                          func(c *Connection) { c.Proposals = nil },
		"an ESP proposal with a space":         func(c *Connection) { c.Children[0].Proposals = []string{"a b"} },
		"no remote address":                    func(c *Connection) { c.Address = netip.Addr{} },
		"an IPv6 remote address":               func(c *Connection) { c.Address = netip.MustParseAddr("2001:db8::1") },
		"no remote subnet":                     func(c *Connection) { c.Children[0].Remote = nil },
		"no service CIDR":                      func(c *Connection) { c.Children[0].Local = netip.Prefix{} },
		"an IPv6 remote subnet":                func(c *Connection) { c.Children[0].Remote[0] = netip.MustParsePrefix("2001:db8::/64") },
		"a child's name that ends the section": func(c *Connection) { c.Children[0].Name = "a }" },
	} {
		t.Run(sentence, func(t *testing.T) {
			c := sample()
			change(&c)
			if text, err := (Config{[]Connection{c}}).Text(); err == nil {
				t.Errorf("written without an error:\n%s", text)
			}
		})
	}
}

func TestIdentitiesOfOnePeerAreWritten(t *testing.T) {
	for _, id := range []string{"a.example", "198.51.100.7", "2001:db8::1", "10.0.0.1-site", "a@b.example", "@gw", "keyid:abc", "0a", "site-1"} {
		c := sample()
		c.RemoteID = id
		if _, err := (Config{[]Connection{c}}).Text(); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
}

func TestTextIsReadBack(t *testing.T) {
	second := sample()
	second.Name, second.LocalID, second.Children = "plant2", resource.Unknown, nil
	text := readback.Same(t, Config{[]Connection{sample(), second}}, Parse)
	if strings.Contains(text, "secret") {
		t.Error("the file speaks of a secret")
	}
}

func TestParseRefuses(t *testing.T) {
	readback.Refused(t, Config{[]Connection{sample()}}, Parse, map[string][2]string{
		"an unknown setting":          {"mobike = no", "mobike = no\n    reauth_time = 1h"},
		"a missing setting":           {"    mobike = no\n", ""},
		"a fixed setting that is not": {"start_action = none", "start_action = start"},
		"a setting twice":             {"mobike = no", "mobike = no\n    mobike = no"},
		"a second top section":        {"connections {", "secrets {\n}\nconnections {"},
		"another section":             {"children {", "remote-2 {\n}\n    children {"},
		"a section twice":             {"children {", "local {\n}\n    children {"},
		"a missing brace":             {"connections {", "connections {\n  x {"},
		"a brace too much":            {"connections {\n", "connections {\n}\n"},
		"a duration in hours":         {"86400s", "24h"},
		"a value without a section":   {"connections {", "version = 2\nconnections {"},
		"a file included":             {"connections {", "include /etc/x\nconnections {"},
		"an address that is none":     {"198.51.100.7", "peer.example.org"},
		"a subnet that is none":       {"192.168.12.0/24", "dynamic"},
	})
}

func TestChildrenOfAPeer(t *testing.T) {
	g := vpn.Gateway{IKE: &vpn.IKE{Proposals: []string{"aes256-sha256-ecp256"}}, Peers: []vpn.Peer{
		{Name: "a", Selectors: vpn.PerSubnet, Subnets: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("10.2.0.0/16")}},
		{Name: "b", Selectors: vpn.Joined, Subnets: []netip.Prefix{netip.MustParsePrefix("10.3.0.0/16"), netip.MustParsePrefix("10.4.0.0/16")}},
	}}
	got := map[string][]string{}
	for _, c := range Of(g, "203.0.113.20", netip.MustParsePrefix("100.64.3.0/24")).Connections {
		for _, child := range c.Children {
			got[c.Name] = append(got[c.Name], child.Name+" "+prefixes(child.Remote))
		}
	}
	want := map[string][]string{
		"a": {"a-10-1-0-0-16 10.1.0.0/16", "a-10-2-0-0-16 10.2.0.0/16"},
		"b": {"b 10.3.0.0/16,10.4.0.0/16"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestDaemonIsReadBack(t *testing.T) {
	for dataplane, want := range map[string]bool{vpn.DataplaneKernel: false, vpn.DataplaneUserspace: true} {
		sections, err := ParseSections(Daemon(dataplane))
		if err != nil {
			t.Fatal(err)
		}
		plugins, _ := sections[0].Section("plugins")
		if _, got := plugins.Section("kernel-libipsec"); got != want {
			t.Errorf("%s: kernel-libipsec configured: %v, want %v", dataplane, got, want)
		}
	}
}

// The time after which charon gives a peer up, as its documentation has it: the sum of
// timeout * base^n over all tries and the wait after the last. A dead peer is found in
// about a minute, dead peer detection included, and never after a second or two.
func TestDaemonGivesUpInTime(t *testing.T) {
	sections, err := ParseSections(Daemon(vpn.DataplaneKernel))
	if err != nil {
		t.Fatal(err)
	}
	number := func(name string) float64 {
		text, _ := sections[0].Get(name)
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return n
	}
	total, wait := 0.0, number("retransmit_timeout")
	for range int(number("retransmit_tries")) + 1 {
		total += wait
		wait *= number("retransmit_base")
	}
	if total < 30 || total > 40 || number("retransmit_timeout") < 4 || number("retransmit_tries") < 4 {
		t.Errorf("given up after %.1f seconds", total)
	}
}
