package nat

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/readback"
)

func nets(all ...string) []netip.Prefix {
	var out []netip.Prefix
	for _, s := range all {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}

// plant is a gateway with two peers, grants, an exposure of each shape and a
// reverse exposure.
func plant() Input {
	address := netip.MustParseAddr
	return Input{
		Address:  "10.254.0.17",
		Internal: nets("10.254.0.0/24"),
		Ledger: alloc.Ledger{ServiceCIDR: netip.MustParsePrefix("100.64.3.0/24"), VirtualIPs: map[string]byte{
			"web": 10, "dns": 11, "all": 12, "erp": 13, "scada": 200,
		}},
		Gateway: vpn.Gateway{
			Owner:    vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: "acme", Name: "dc1"},
			Protocol: vpn.IPsec,
			Exposures: []vpn.Exposure{
				{Name: "all", Target: vpn.Target{Address: address("10.20.0.8")}},
				{Name: "dns", Target: vpn.Target{Address: address("10.20.0.7"), Protocol: "udp", Ports: []vpn.PortRange{{From: 53, To: 53}, {From: 8000, To: 8010}}}},
				{Name: "erp", Target: vpn.Target{Host: "erp.example.org", Protocol: "tcp", Ports: []vpn.PortRange{{From: 443, To: 443}}}},
				{Name: "web", Target: vpn.Target{Address: address("10.20.0.5"), Protocol: "tcp", Ports: []vpn.PortRange{{From: 443, To: 443}}}},
			},
			ReverseExposures: []vpn.Exposure{{Name: "scada", Target: vpn.Target{Address: address("192.168.10.9"), Protocol: "tcp", Ports: []vpn.PortRange{{From: 502, To: 502}}}}},
			Peers: []vpn.Peer{
				{Name: "plant1", Address: address("198.51.100.7"), Subnets: nets("192.168.0.0/16", "192.168.10.0/24"),
					Grants: &vpn.Grants{Exposures: []string{"all", "dns", "web"}, ReverseExposures: []string{"scada"}}},
				{Name: "plant2", Address: address("198.51.100.8"), Subnets: nets("172.16.0.0/24"), Grants: &vpn.Grants{Exposures: []string{"erp"}}},
			},
		},
	}
}

func texts(t *testing.T, in Input) map[string][]string {
	t.Helper()
	table, err := Of(in)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for _, s := range table.Sets {
		for _, e := range s.Elements {
			all[s.Name] = append(all[s.Name], e.Text)
		}
	}
	for _, c := range table.Chains {
		all["chain "+c.Name] = c.Rules
	}
	return all
}

func TestSetsOfAGateway(t *testing.T) {
	got := texts(t, plant())
	for name := range got {
		if strings.HasPrefix(name, "chain ") {
			delete(got, name)
		}
	}
	want := map[string][]string{
		"remote":            {"172.16.0.0/24", "192.168.0.0/16"},
		"internal":          {"10.254.0.0/24"},
		"exposures":         {"100.64.3.12", "100.64.3.11", "100.64.3.13", "100.64.3.10"},
		"reverse_exposures": {"100.64.3.200"},
		"targets_any":       {"100.64.3.12 : 10.20.0.8"},
		"targets":           {"100.64.3.11 . udp . 53 : 10.20.0.7", "100.64.3.11 . udp . 8000-8010 : 10.20.0.7", "100.64.3.10 . tcp . 443 : 10.20.0.5"},
		"reverse_targets":   {"100.64.3.200 . tcp . 502 : 192.168.10.9"},
		"grants_any":        {"192.168.0.0/16 . 100.64.3.12"},
		"grants": {
			"192.168.0.0/16 . 100.64.3.11 . udp . 53", "192.168.0.0/16 . 100.64.3.11 . udp . 8000-8010",
			"172.16.0.0/24 . 100.64.3.13 . tcp . 443", "192.168.0.0/16 . 100.64.3.10 . tcp . 443",
		},
		"reverse_grants": {"10.254.0.0/24 . 100.64.3.200 . tcp . 502"},
		"behind":         {"192.168.0.0/16 . 100.64.3.200"},
		"peers":          {"172.16.0.0/24 : 0x40677ae0", "192.168.0.0/16 : 0x43677f99"},
		"open": {
			"0x43677f99 . 100.64.3.12", "0x43677f99 . 100.64.3.11", "0x40677ae0 . 100.64.3.13", "0x43677f99 . 100.64.3.10",
		},
		"reverse_open": {"100.64.3.200"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestWhoIsGranted(t *testing.T) {
	for sentence, c := range map[string]struct {
		change func(*Input)
		set    string
		want   []string
	}{
		"a single peer without a block reaches everything": {
			func(in *Input) { in.Gateway.Peers = in.Gateway.Peers[:1]; in.Gateway.Peers[0].Grants = nil }, "grants_any",
			[]string{"192.168.0.0/16 . 100.64.3.12"},
		},
		"two peers without a block reach nothing": {
			func(in *Input) { in.Gateway.Peers[0].Grants, in.Gateway.Peers[1].Grants = nil, nil }, "grants", nil,
		},
		"an empty block of a single peer grants nothing": {
			func(in *Input) { in.Gateway.Peers = in.Gateway.Peers[:1]; in.Gateway.Peers[0].Grants = &vpn.Grants{} }, "grants", nil,
		},
		"an open gateway grants all to all": {
			func(in *Input) { in.Gateway.Open = true }, "grants_any",
			[]string{"172.16.0.0/24 . 100.64.3.12", "192.168.0.0/16 . 100.64.3.12"},
		},
		"a reverse exposure that no peer was granted stays closed": {
			func(in *Input) { in.Gateway.Peers[0].Grants.ReverseExposures = nil }, "reverse_grants", nil,
		},
		"without internal sources nobody uses a reverse exposure": {
			func(in *Input) { in.Internal = nil }, "reverse_grants", nil,
		},
		"a road warrior is granted by its own address": {
			func(in *Input) {
				in.Gateway.Protocol, in.Gateway.WireGuard = vpn.WireGuard, &vpn.Interface{ListenPort: 51820}
				in.Gateway.Peers = []vpn.Peer{{Name: "ina", RoadWarrior: true, Grants: &vpn.Grants{Exposures: []string{"all"}}}, {Name: "b", Subnets: nets("10.1.0.0/16")}}
				in.Ledger.Addresses = map[string]byte{"ina": 199}
			}, "grants_any", []string{"100.64.3.199/32 . 100.64.3.12"},
		},
		"what is behind a peer is told of by its own networks": {
			func(in *Input) {
				in.Gateway.Peers[0].Subnets = nets("192.168.10.0/24", "192.168.11.0/24")
				in.Gateway.Peers[1].Grants.ReverseExposures = []string{"scada"}
			}, "behind", []string{"192.168.10.0/24 . 100.64.3.200", "192.168.11.0/24 . 100.64.3.200"},
		},
		"a peer goes on as long as one of its networks is granted anything": {
			func(in *Input) {
				in.Gateway.Peers = append(in.Gateway.Peers, vpn.Peer{Name: "costarring", Address: netip.MustParseAddr("198.51.100.9"), Subnets: nets("10.1.0.0/16"), Grants: &vpn.Grants{Exposures: []string{"all"}}},
					vpn.Peer{Name: "liquid", Address: netip.MustParseAddr("198.51.100.10"), Subnets: nets("10.2.0.0/16", "10.3.0.0/16"), Grants: &vpn.Grants{Exposures: []string{"all"}}})
				in.Gateway.Peers[0].Grants = &vpn.Grants{}
			}, "open", []string{"0x5e4daa9d . 100.64.3.12", "0x5e4daa9e . 100.64.3.12", "0x40677ae0 . 100.64.3.13"}, // two names of one hash
		},
		"no internal source goes on where nobody is granted": {
			func(in *Input) { in.Gateway.Peers[0].Grants.ReverseExposures = nil }, "reverse_open", nil,
		},
		"nobody tells of a reverse exposure that wasn't granted": {
			func(in *Input) { in.Gateway.Peers[0].Grants.ReverseExposures = nil }, "behind", nil,
		},
		"all networks of a peer are counted as its own": {
			func(in *Input) { in.Gateway.Peers[0].Subnets = nets("192.168.11.0/24", "192.168.10.0/24") }, "peers",
			[]string{"172.16.0.0/24 : 0x40677ae0", "192.168.10.0/24 : 0x43677f99", "192.168.11.0/24 : 0x43677f99"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			in := plant()
			c.change(&in)
			if diff := cmp.Diff(c.want, texts(t, in)[c.set]); diff != "" {
				t.Errorf("%s (-want +got)\n%s", c.set, diff)
			}
		})
	}
}

func TestTunnelIsHowPacketsAreTold(t *testing.T) {
	wireguard := func(in *Input) {
		in.Gateway.Protocol, in.Gateway.WireGuard = vpn.WireGuard, &vpn.Interface{ListenPort: 51820}
	}
	for sentence, c := range map[string]struct {
		change func(*Input)
		want   []string // among all chains
	}{
		"by its policy for ESP in the kernel": {func(*Input) {}, []string{
			"ip saddr @remote meta secpath missing drop", "ip daddr @remote rt ipsec missing drop", "meta secpath exists drop",
			"ip saddr 100.64.3.0/24 rt ipsec exists accept", "ip saddr 100.64.3.0/24 drop",
			"udp sport { 500, 4500 } ip daddr { 198.51.100.7, 198.51.100.8 } accept",
			`iifname "net1" meta secpath missing drop`, `iifname "net1" meta secpath missing ip daddr 10.254.0.17 udp dport { 500, 4500 } notrack`,
			`iifname "net1" meta secpath missing ip saddr @internal dnat ip to ip daddr map @reverse_targets_any`,
		}},
		"by charon's interface for ESP in user space": {func(in *Input) { in.Dataplane = vpn.DataplaneUserspace }, []string{
			`ip saddr @remote iifname != "ipsec0" drop`, `ip daddr @remote oifname != "ipsec0" drop`, `iifname "ipsec0" drop`,
			`ip saddr 100.64.3.0/24 oifname "ipsec0" accept`, "ip saddr 100.64.3.0/24 drop",
			`iifname "net1" drop`, `iifname "net1" ip daddr 10.254.0.17 udp dport { 500, 4500 } accept`,
		}},
		"by its interface for WireGuard": {wireguard, []string{
			`ip saddr @remote iifname != "wg0" drop`, `ip daddr @remote oifname != "wg0" drop`, `iifname "wg0" drop`,
			`ip saddr 100.64.3.0/24 oifname "wg0" accept`, "ip saddr 100.64.3.0/24 drop", "udp sport 51820 accept",
			`ip saddr 100.64.3.0/24 oifname "net1" ct direction reply ct original ip daddr @reverse_exposures accept`,
			`iifname "net1" ip daddr 10.254.0.17 udp dport 51820 accept`, `ip saddr 10.254.0.17 udp sport 51820 notrack`,
		}},
	} {
		t.Run(sentence, func(t *testing.T) {
			in := plant()
			c.change(&in)
			all := texts(t, in)
			var rules []string
			for name := range all {
				if strings.HasPrefix(name, "chain ") {
					rules = append(rules, all[name]...)
				}
			}
			for _, want := range c.want {
				if !slices.Contains(rules, want) {
					t.Errorf("no rule %q in %q", want, rules)
				}
			}
		})
	}
}

// TestNoPacketGoesOnForAnEarlierOnesSake: whatever the kernel knows of a flow, what lets
// a packet of it through is a grant; all else that passes is an error about one.
func TestNoPacketGoesOnForAnEarlierOnesSake(t *testing.T) {
	for _, rule := range texts(t, plant())["chain forward"] {
		granted := slices.ContainsFunc([]string{" @open ", " @reverse_open ", " @grants", " @reverse_grants"}, func(set string) bool { return strings.Contains(rule, set) })
		told := strings.Contains(rule, " ct state related icmp type { destination-unreachable, time-exceeded, parameter-problem } ")
		if strings.HasSuffix(rule, "accept") && !granted && !told {
			t.Errorf("%q lets through what nobody was granted", rule)
		}
	}
}

// TestOnlyTranslatedFlowsGoOn: what no grant has translated passes by no rule.
func TestOnlyTranslatedFlowsGoOn(t *testing.T) {
	for _, rule := range texts(t, plant())["chain forward"] {
		if strings.HasSuffix(rule, "accept") && !strings.Contains(rule, "ct status dnat ") {
			t.Errorf("%q lets through what was never translated", rule)
		}
	}
}

func TestOfRefuses(t *testing.T) {
	for sentence, change := range map[string]func(*Input){
		"an exposure without a virtual IP":     func(in *Input) { delete(in.Ledger.VirtualIPs, "web") },
		"a reverse exposure without one":       func(in *Input) { delete(in.Ledger.VirtualIPs, "scada") },
		"a ledger without a service CIDR":      func(in *Input) { in.Ledger.ServiceCIDR = netip.Prefix{} },
		"a peer without an address":            func(in *Input) { in.Gateway.Peers[0].Address = netip.Addr{} },
		"an exposure without a target":         func(in *Input) { in.Gateway.Exposures[0].Target.Address = netip.Addr{} },
		"an exposure with an IPv6 target":      func(in *Input) { in.Gateway.Exposures[0].Target.Address = netip.MustParseAddr("2001:db8::1") },
		"a road warrior without its tunnel IP": func(in *Input) { in.Gateway.Peers[0].RoadWarrior = true },
	} {
		t.Run(sentence, func(t *testing.T) {
			in := plant()
			change(&in)
			if _, err := Of(in); err == nil {
				t.Error("decided without an error")
			}
		})
	}
}

func TestTextIsReadBack(t *testing.T) {
	for sentence, change := range map[string]func(*Input){
		"as it is":                func(*Input) {},
		"before the port exists":  func(in *Input) { in.Address = resource.Unknown },
		"without peers":           func(in *Input) { in.Gateway.Peers = nil },
		"without anything at all": func(in *Input) { in.Gateway = vpn.Gateway{Protocol: vpn.IPsec} },
	} {
		t.Run(sentence, func(t *testing.T) {
			in := plant()
			change(&in)
			want, err := Of(in)
			if err != nil {
				t.Fatal(err)
			}
			readback.Same(t, want, Parse)
		})
	}
}

func TestWriterRefuses(t *testing.T) {
	for sentence, change := range map[string]func(*Input){
		"an exposure whose name ends the line":  func(in *Input) { rename(in, "a\n}") },
		"an exposure whose name is a comment":   func(in *Input) { rename(in, "a#b") },
		"an exposure whose name is a statement": func(in *Input) { rename(in, "a;drop") },
		"a peer whose name ends the line":       func(in *Input) { in.Gateway.Peers[0].Name = "a\nflush ruleset" },
		"an address that is a statement":        func(in *Input) { in.Address = "10.0.0.1\n} flush ruleset" },
		"a protocol that is a statement":        func(in *Input) { in.Gateway.Exposures[1].Target.Protocol = "udp }" },
	} {
		t.Run(sentence, func(t *testing.T) {
			in := plant()
			change(&in)
			table, err := Of(in)
			if err != nil {
				t.Fatal(err)
			}
			if text, err := table.Text(); err == nil {
				t.Errorf("written without an error:\n%s", text)
			}
		})
	}
}

func rename(in *Input, name string) {
	in.Gateway.Exposures[0].Name = name
	in.Gateway.Peers[0].Grants.Exposures = append(in.Gateway.Peers[0].Grants.Exposures, name)
	in.Ledger.VirtualIPs[name] = 50
}

// FuzzText: whatever stands in the fields, the text is refused or read back as
// exactly the same table, so that no value moves into another place.
func FuzzText(f *testing.F) {
	f.Add("web", "plant1", "tcp", "10.254.0.17", "h.example.org", uint16(1), uint16(2), uint32(0xc0a80000), uint8(16))
	f.Add("a\n}", "b } c {", "udp }", resource.Unknown, "x", uint16(9), uint16(3), uint32(0), uint8(0))
	f.Fuzz(func(t *testing.T, exposure, peer, protocol, address, host string, from, to uint16, net uint32, bits uint8) {
		in := plant()
		rename(&in, exposure)
		in.Gateway.Peers[0].Name, in.Address = peer, address
		in.Gateway.Exposures[1].Target.Protocol = protocol
		in.Gateway.Exposures[1].Target.Ports = []vpn.PortRange{{From: from, To: to}}
		in.Gateway.Exposures[2].Target.Host = host
		addr := netip.AddrFrom4([4]byte{byte(net >> 24), byte(net >> 16), byte(net >> 8), byte(net)})
		in.Gateway.Peers[1].Subnets = []netip.Prefix{netip.PrefixFrom(addr, int(bits%33)).Masked()}
		want, err := Of(in)
		if err != nil {
			return
		}
		readback.SameOrRefused(t, want, Parse)
	})
}
