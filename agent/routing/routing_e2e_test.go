//go:build e2e

package routing

import (
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/agent/lab/netns"
)

const portTable = `
default via 10.91.0.1 dev net1 proto 118 src 10.91.0.10
unreachable default proto 118 metric 4096
10.91.0.0/24 dev net1 proto 118 scope link src 10.91.0.10
`

func TestRoutingOfAPod(t *testing.T) {
	p := newPod(t)
	p.attach()
	p.tunnel()
	wireguard := plan()
	wireguard.Tunnel, wireguard.WireGuard = "wg0", true
	p.ensure(wireguard)
	p.want("rule show", `
0: from all lookup local
90: not from all fwmark 0x64 lookup 220
99: from all fwmark 0x64 lookup 100
100: from 10.91.0.10 lookup 100
101: from all iif net1 lookup 100
102: from all iif wg0 lookup 100
32766: from all lookup main
32767: from all lookup default
`)
	p.want("route show table 100", portTable)
	p.want("route show", "\ndefault via 172.30.0.1 dev eth0\n172.30.0.0/16 dev eth0 proto kernel scope link src 172.30.0.5\n")

	userspace := plan()
	userspace.Tunnel, userspace.Anchor = "ipsec0", netip.MustParseAddr("100.64.7.1")
	p.ensure(userspace)
	p.want("rule show", `
0: from all lookup local
90: from all lookup 220
99: from all fwmark 0x64 lookup 100
100: from 10.91.0.10 lookup 100
101: from all iif net1 lookup 100
102: from all iif ipsec0 [detached] lookup 100
32766: from all lookup main
32767: from all lookup default
`)
	p.want("-4 -br addr show dev lo", "\nlo UNKNOWN 127.0.0.1/8 100.64.7.1/32\n")
}

// TestRepeatingChangesNothing watches what the kernel says of changes.
func TestRepeatingChangesNothing(t *testing.T) {
	p := newPod(t)
	p.attach()
	p.tunnel()
	full := complete()
	peers := []netip.Prefix{netip.MustParsePrefix("192.168.10.0/24"), netip.MustParsePrefix("100.64.7.199/32")}
	both := func() error {
		if err := Ensure(full); err != nil {
			return err
		}
		return EnsureTunnel("wg0", peers)
	}
	if err := p.Do(both); err != nil {
		t.Fatal(err)
	}
	monitor := p.Command("ip", "monitor", "rule", "route", "address", "link")
	changes := &netns.Log{}
	monitor.Stdout = changes
	if err := monitor.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = monitor.Process.Kill(); _ = monitor.Wait() })
	// The watch watches once it shows a change, and has seen all that came before another.
	shown := func(to string) {
		netns.Eventually(t, "the kernel tells of "+to, time.Second, func() bool {
			p.ip("route add "+to+" dev eth0 table 7", "route del "+to+" dev eth0 table 7")
			return strings.Contains(changes.String(), to+" dev eth0 table 7")
		})
	}
	shown("203.0.113.6")
	for range 3 {
		if err := p.Do(both); err != nil {
			t.Error(err)
		}
	}
	shown("203.0.113.7")
	for line := range strings.Lines(trim(changes.String())) {
		if !strings.HasSuffix(strings.TrimSpace(line), "dev eth0 table 7 scope link") {
			t.Errorf("the kernel saw a change: %s", line)
		}
	}
}

// TestEnsureRestores breaks one thing after the other.
func TestEnsureRestores(t *testing.T) {
	p := newPod(t)
	p.attach()
	p.tunnel()
	full := complete()
	p.ensure(full)
	want := p.state()
	for sentence, lines := range map[string][]string{
		"a rule is gone":                        {"rule del pref 100"},
		"all rules are gone":                    {"rule flush", "rule add pref 32766 lookup main", "rule add pref 32767 lookup default"},
		"a rule is there twice":                 {"rule del pref 90", "rule add pref 90 lookup 220", "rule add pref 90 not fwmark 100 lookup 220"},
		"a rule says too much, and stands last": {"rule add pref 90 lookup 220"},
		"a rule of a former address":            {"rule add pref 100 from 10.91.0.99 lookup 100"},
		"a rule of a former name":               {"rule add pref 101 iif net0 lookup 100"},
		"table 100 is empty":                    {"route flush table 100"},
		"the default route is another's":        {"route replace default via 10.91.0.2 dev net1 table 100"},
		"the network is another's":              {"route replace 10.91.0.0/24 dev eth0 table 100"},
		"the refusal is gone":                   {"route del unreachable default metric 4096 table 100"},
		"a route of a former network":           {"route add 10.92.0.0/24 dev net1 table 100 proto 118"},
		"a former anchor":                       {"addr add 100.64.8.1/32 dev lo label lo:vpnctl"},
		"no anchor":                             {"addr del 100.64.7.1/32 dev lo"},
		"the interface is down":                 {"link set net1 down"},
		"the interface has lost its address":    {"addr del 10.91.0.10/32 dev net1"},
		"another address came first":            {"addr flush dev net1", "addr add 10.91.0.11/32 dev net1", "addr add 10.91.0.10/32 dev net1", "addr del 10.91.0.11/32 dev net1"},
		"the interface came anew":               {"link del net1", "link add net1 address " + mac + " type veth peer name fabric", "link set fabric up"},
	} {
		t.Run(sentence, func(t *testing.T) {
			pod := pod{t, p.Namespace}
			pod.ip(lines...)
			if pod.state() == want {
				t.Fatal("nothing was broken")
			}
			pod.ensure(full)
			if diff := cmp.Diff(want, pod.state()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestOthersRulesAndRoutesStay(t *testing.T) {
	p := newPod(t)
	p.attach()
	p.tunnel()
	p.ip("rule add pref 100 from 10.0.0.1 lookup 300", "rule add pref 50 from 10.0.0.2 lookup 100", "rule add pref 101 to 10.0.0.3 lookup 100",
		"rule add pref 102 iif eth0 dport 53 lookup 100", "rule add pref 99 fwmark 100/0xff lookup 100", "rule add pref 200 iif net1 lookup 220",
		"route add 10.5.0.0/16 via 172.30.0.1 dev eth0 table 100", "route add default dev wg0 metric 10 table 100",
		"route add 10.6.0.0/16 dev eth0 table 220 proto static", "route add 10.7.0.0/16 dev eth0 table 300 proto 118",
		"addr add 100.64.9.1/32 dev lo", "addr add 10.91.0.77/32 dev net1")
	before := strings.Split(p.state(), "\n")
	full := plan()
	full.Tunnel, full.WireGuard = "wg0", true
	for _, f := range []func(*Plan){func(*Plan) {}, func(p *Plan) { p.Anchor = netip.MustParseAddr("100.64.7.1") }, func(p *Plan) { p.Tunnel, p.WireGuard = "", false }} {
		f(&full)
		p.ensure(full)
		if err := p.Do(func() error { return EnsureTunnel("wg0", []netip.Prefix{netip.MustParsePrefix("192.168.10.0/24")}) }); err != nil {
			t.Fatal(err)
		}
		if err := p.Do(func() error { return EnsureTunnel("wg0", nil) }); err != nil {
			t.Fatal(err)
		}
		after := p.state()
		for _, line := range before {
			if !strings.Contains(after, line) {
				t.Errorf("gone: %s", line)
			}
		}
	}
}

func TestRoutesIntoTheTunnelFollowThePeers(t *testing.T) {
	p := newPod(t)
	nets := func(all ...string) (out []netip.Prefix) {
		for _, s := range all {
			out = append(out, netip.MustParsePrefix(s))
		}
		return out
	}
	ensure := func(peers []netip.Prefix) error { return p.Do(func() error { return EnsureTunnel("wg0", peers) }) }
	if err := ensure(nets("192.168.10.0/24")); err == nil || !strings.Contains(err.Error(), "tunnel interface wg0") {
		t.Errorf("without a tunnel: %v", err)
	}
	p.tunnel()
	for _, c := range []struct {
		peers []netip.Prefix
		want  string
	}{
		{nets("192.168.10.0/24", "100.64.7.199/32"), "100.64.7.199 dev wg0 proto 118 scope link\n192.168.10.0/24 dev wg0 proto 118 scope link"},
		{nets("192.168.10.0/24", "192.168.20.0/24"), "192.168.10.0/24 dev wg0 proto 118 scope link\n192.168.20.0/24 dev wg0 proto 118 scope link"},
		{nets("192.168.10.0/25"), "192.168.10.0/25 dev wg0 proto 118 scope link"},
		{nets("192.168.10.0/25", "0.0.0.0/0"), "default dev wg0 proto 118 scope link\n192.168.10.0/25 dev wg0 proto 118 scope link"},
		{nil, ""},
	} {
		if err := ensure(c.peers); err != nil {
			t.Errorf("%v: %v", c.peers, err)
		}
		got, _ := p.Command("ip", "route", "show", "table", "220").Output()
		if diff := cmp.Diff(c.want, trim(string(got))); diff != "" {
			t.Errorf("%v (-want +got)\n%s", c.peers, diff)
		}
	}
}

func TestInterfaceIsFoundByItsAddress(t *testing.T) {
	p := newPod(t)
	if name, found := p.find(); found {
		t.Errorf("found %s before it came", name)
	}
	if err := p.Do(func() error { return Ensure(plan()) }); err == nil || !strings.Contains(err.Error(), "interface net1") {
		t.Errorf("without the interface: %v", err)
	}
	p.attach()
	p.ip("link add twin address " + mac + " type veth peer name far")
	if name, found := p.find(); !found || name != "net1" {
		t.Errorf("found %t, %q", found, name)
	}
	p.ensure(plan())
	p.ip("link set net1 down", "link set net1 name port0")
	if name, found := p.find(); !found || name != "port0" {
		t.Errorf("renamed: found %t, %q", found, name)
	}
	renamed := plan()
	renamed.NIC = "port0"
	p.ensure(renamed)
	if got := p.ip("rule show"); strings.Contains(got, "net1") || !strings.Contains(got, "iif port0") {
		t.Errorf("rules after the interface was renamed:\n%s", got)
	}
	p.want("route show table 100", strings.ReplaceAll(portTable, "net1", "port0"))
	p.ip("link del port0", "link del twin")
	if name, found := p.find(); found {
		t.Errorf("found %s after it had gone", name)
	}
	// What is left refuses, and lets nothing out by the cluster's network.
	out, err := p.Command("ip", "route", "get", "203.0.113.9", "mark", "100").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "No route to host") {
		t.Errorf("without the port a packet of the gateway's goes: %s", out)
	}
}

func TestThousandPeers(t *testing.T) {
	p := newPod(t)
	p.tunnel()
	var peers []netip.Prefix
	for i := range 1000 {
		peers = append(peers, netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(100 + i>>8), byte(i), 0}), 24))
	}
	for _, what := range []string{"added", "again", "one less"} {
		start := time.Now()
		if err := p.Do(func() error { return EnsureTunnel("wg0", peers) }); err != nil {
			t.Error(err)
		}
		t.Logf("%d routes %s: %v", len(peers), what, time.Since(start))
		if what == "again" {
			peers = peers[1:]
		}
	}
}

// TestSettingsOfAPod reads and writes the kernel's own settings, and then those of a
// container, which sees them read-only.
func TestSettingsOfAPod(t *testing.T) {
	p := newPod(t)
	p.attach()
	settings := func() []string { return Sysctls{}.Ensure("net1", "wg0") }
	write := func(key, value string) error { return os.WriteFile("/proc/sys/net/ipv4/"+key, []byte(value), 0) }
	err := p.Do(func() error {
		for key, value := range map[string]string{"ip_forward": "0", "conf/all/rp_filter": "1", "conf/net1/send_redirects": "1"} {
			if err := write(key, value); err != nil {
				return err
			}
		}
		if got := settings(); got != nil {
			t.Errorf("where all can be written: %q", got)
		}
		for key, want := range map[string]string{"ip_forward": "1", "conf/all/rp_filter": "2", "conf/net1/send_redirects": "0", "conf/all/send_redirects": "0"} {
			if got, err := os.ReadFile("/proc/sys/net/ipv4/" + key); err != nil || strings.TrimSpace(string(got)) != want {
				t.Errorf("%s is %s (%v), want %s", key, got, err, want)
			}
		}
		if err := write("conf/net1/send_redirects", "1"); err != nil {
			return err
		}
		if err := readOnlyProc(); err != nil {
			return err
		}
		want := []string{"net.ipv4.conf.net1.send_redirects is 1, should be 0, and can't be set: read-only file system"}
		if diff := cmp.Diff(want, settings()); diff != "" {
			t.Errorf("where nothing can be written (-want +got)\n%s", diff)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
