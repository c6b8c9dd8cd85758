//go:build e2e

package wireguard

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/agent/lab/netns"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// lab is a gateway with two sites, of which the second has a preshared key.
type lab struct {
	*testing.T
	node            *node
	agent           *agent
	a, b            *stock
	private, shared Secret
	peers           []Peer
}

func newLab(t *testing.T) *lab {
	t.Helper()
	l := &lab{T: t, node: newNode(t, "gw")}
	var public string
	l.private, public = newKey(t)
	l.shared, _ = newKey(t)
	l.a = newStock(t, l.node, "a", 1, public, nil)
	l.b = newStock(t, l.node, "b", 2, public, l.shared)
	l.peers = []Peer{
		{Name: "a", PublicKey: l.a.public, Endpoint: netip.MustParseAddrPort(fmt.Sprint("192.0.2.6:", sitePort)), AllowedIPs: prefixes("10.1.0.0/24")},
		{Name: "b", PublicKey: l.b.public, Endpoint: netip.MustParseAddrPort(fmt.Sprint("192.0.2.10:", sitePort)), AllowedIPs: prefixes("10.2.0.0/24")},
	}
	l.open()
	return l
}

// open starts the gateway's process, gives its device an address and its routes, and
// puts the peers in.
func (l *lab) open() {
	l.Helper()
	l.agent = newAgent(l.T, l.node, vpn.DataplaneKernel, "")
	if got := l.agent.receive(); got.Error != "" || !got.Userspace {
		l.Fatalf("opening: %+v", got)
	}
	l.route()
	l.must(l.apply())
}

func (l *lab) route() {
	l.Helper()
	l.node.IP(l.T, "addr add 10.0.0.1/32 dev wg0", "route add 10.1.0.0/24 dev wg0", "route add 10.2.0.0/24 dev wg0")
}

func (l *lab) apply() answer {
	l.Helper()
	return l.agent.send(order{
		Config:  Config{ListenPort: gatewayPort, FirewallMark: FirewallMark, Peers: l.peers},
		Private: string(l.private), Preshared: map[string]string{"b": string(l.shared)},
	})
}

func (l *lab) must(got answer) answer {
	l.Helper()
	if got.Error != "" {
		l.Fatal(got.Error)
	}
	return got
}

func (l *lab) up(sites ...*stock) {
	l.Helper()
	for _, s := range sites {
		netns.Eventually(l.T, s.Label()+" reaches the gateway", patience, func() bool { return s.pings("10.0.0.1", 1) })
	}
}

func (l *lab) peer(got answer, name string) PeerState {
	l.Helper()
	i := slices.IndexFunc(got.State.Peers, func(p PeerState) bool { return p.Name == name })
	if i < 0 {
		l.Fatalf("%s is not on the device: %+v", name, got.State)
	}
	return got.State.Peers[i]
}

func TestStockPeers(t *testing.T) {
	l := newLab(t)
	l.up(l.a, l.b)
	if !l.node.pings("10.1.0.1", 5) || !l.node.pings("10.2.0.1", 5) {
		t.Error("the gateway doesn't reach the sites")
	}
	shown := l.node.exec(t, "wg", "show", "wg0")
	for _, line := range []string{"listening port: 51820", "fwmark: 0x64", l.a.public, "preshared key: (hidden)"} {
		if !strings.Contains(shown, line) {
			t.Errorf("wg shows no %s:\n%s", line, shown)
		}
	}
	got := l.must(l.apply())
	if a, b := l.peer(got, "a"), l.peer(got, "b"); !got.Change.Empty() || a.Handshake.IsZero() || b.Handshake.IsZero() || b.Received < 500 {
		t.Errorf("%+v", got)
	}
	if mtu := l.node.IP(t, "link show wg0"); !strings.Contains(mtu, "mtu 1420") || !strings.Contains(mtu, ",UP") {
		t.Error(mtu)
	}
}

// TestOthersLoseNoPacket changes one peer in every way while the other one's packets
// pass.
func TestOthersLoseNoPacket(t *testing.T) {
	l := newLab(t)
	l.up(l.a, l.b)
	before := l.peer(l.must(l.apply()), "a")
	flow := l.a.command("ping", "-q", "-c", "300", "-i", "0.01", "-W", "10", "10.0.0.1")
	var seen strings.Builder
	flow.Stdout = &seen
	l.a.start(t, flow)
	b := l.peers[1]
	for i := range 25 {
		l.peers[1].AllowedIPs = prefixes("10.2.0.0/24", fmt.Sprintf("10.3.%d.0/24", i))
		l.must(l.apply())
		l.peers = l.peers[:1]
		l.must(l.apply())
		l.peers = append(l.peers, b)
		l.must(l.apply())
	}
	if err := flow.Wait(); err != nil || !strings.Contains(seen.String(), " 0% packet loss") {
		t.Errorf("%v: %s", err, seen.String())
	}
	if after := l.peer(l.must(l.apply()), "a"); after.Received < before.Received+300*84 {
		t.Errorf("the peer was made anew: %+v, before %+v", after, before)
	}
	l.up(l.b)
}

func TestRoamingPeer(t *testing.T) {
	l := newLab(t)
	l.up(l.a)
	l.a.IP(t, "addr flush dev net", "addr add 192.0.2.100/32 dev net", "route add 192.0.2.5/32 dev net")
	l.node.IP(t, "route add 192.0.2.100/32 dev net1")
	l.up(l.a)
	got := l.must(l.apply())
	if at := l.peer(got, "a").Endpoint.Addr().String(); at != "192.0.2.100" || !got.Change.Empty() {
		t.Errorf("the peer is at 192.0.2.100, the device has %s after %+v", at, got.Change)
	}
	if !l.node.pings("10.1.0.1", 5) {
		t.Error("the gateway doesn't reach the peer where it is")
	}
}

func TestPresharedKeyComesAndGoes(t *testing.T) {
	l := newLab(t)
	l.up(l.a, l.b)
	l.peers[1].Missing = "its preshared key is missing"
	if got := l.must(l.apply()); got.Change.Problems["b"] == "" || len(got.State.Peers) != 1 {
		t.Errorf("%+v", got)
	}
	if l.b.pings("10.0.0.1", 3) {
		t.Error("the peer is up without its preshared key")
	}
	l.peers[1].Missing = ""
	l.must(l.apply())
	l.up(l.a, l.b)
}

// notices is a little less than what a site needs to find out by itself that a session is
// worth nothing: 15 seconds without an answer.
const notices = 14 * time.Second

// TestAgentIsKilled leaves the socket behind and takes the device with it.
func TestAgentIsKilled(t *testing.T) {
	l := newLab(t)
	l.up(l.a, l.b)
	for range 3 {
		kill(t, l.agent.Cmd)
		if left, err := filepath.Glob(filepath.Join(l.node.run, "wireguard", "wg0.sock")); err != nil || len(left) != 1 {
			t.Fatalf("no socket was left behind: %v, %v", left, err)
		}
		begun := time.Now()
		l.open()
		for _, s := range []*stock{l.a, l.b} {
			netns.Eventually(t, s.Label()+" reaches the gateway", patience, func() bool { return s.pings("10.0.0.1", 1) })
		}
		took := time.Since(begun)
		t.Logf("sessions with both sites %v after the start", took.Round(time.Millisecond))
		if took > notices {
			t.Errorf("the sites had to notice by themselves")
		}
	}
}

func TestSecondAgentWaitsForTheFirst(t *testing.T) {
	l := newLab(t)
	second := newAgent(t, l.node, vpn.DataplaneUserspace, "")
	if got := second.receive(); !strings.Contains(got.Error, "another process has it") {
		t.Errorf("a second agent: %+v", got)
	}
	l.up(l.a)
	l.agent.send(order{Leave: true})
	if err := l.agent.Wait(); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(l.node.run, "wireguard", "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	l.open()
	l.up(l.a)
}

func TestDeviceIsDeleted(t *testing.T) {
	l := newLab(t)
	l.up(l.a)
	l.node.IP(t, "link del wg0")
	netns.Eventually(t, "the device is gone", patience, func() bool { got := l.apply(); return got.Gone })
	l.route()
	l.must(l.apply())
	l.up(l.a)
}

func TestNodeWithoutWireGuard(t *testing.T) {
	n := newNode(t, "none")
	noTUN := "mount -t tmpfs none /dev/net && "
	for dataplane, want := range map[string]string{
		vpn.DataplaneKernel:    "the kernel of this node has no WireGuard",
		vpn.DataplaneUserspace: "/dev/net/tun: no such file",
	} {
		if got := newAgent(t, n, dataplane, noTUN).receive(); !strings.Contains(got.Error, want) {
			t.Errorf("%s: %+v, want %q", dataplane, got, want)
		}
	}
	n.IP(t, "link add wg0 type veth peer name other")
	if got := newAgent(t, n, vpn.DataplaneKernel, "").receive(); !strings.Contains(got.Error, "it is a veth") {
		t.Errorf("a foreign link of that name: %+v", got)
	}
}

func TestThousandPeersThroughWgctrl(t *testing.T) {
	l := newLab(t)
	l.up(l.a)
	all := append(crowd(1000), l.peers...)
	for i := range all[:1000] {
		all[i].Endpoint, all[i].Preshared = netip.AddrPort{}, nil
		all[i].AllowedIPs = prefixes(fmt.Sprintf("172.%d.%d.0/24", 16+i>>8, i&255))
	}
	before := l.peer(l.must(l.apply()), "a")
	l.peers = all
	got := l.must(l.apply())
	t.Logf("1,000 peers added in %v", got.Took.Round(time.Millisecond))
	var took []time.Duration
	for i := range 11 {
		l.peers[500].Keepalive = time.Duration(i%2) * 25 * time.Second
		got = l.must(l.apply())
		if i > 0 && len(got.Change.Changed) != 1 {
			t.Errorf("%+v", got.Change)
		}
		took = append(took, got.Took)
	}
	slices.Sort(took)
	t.Logf("one of 1,002 changed in %v (median; %v at most), %s in memory", took[5].Round(time.Millisecond), took[10].Round(time.Millisecond), got.Memory)
	if after := l.peer(got, "a"); after.Received < before.Received || after.Handshake.Before(before.Handshake) {
		t.Errorf("%+v, before %+v", after, before)
	}
	l.up(l.a)
}
