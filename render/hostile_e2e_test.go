//go:build e2e

package render

import (
	"net/netip"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vpnctl/vpnctl/agent/lab/netns"
	"github.com/vpnctl/vpnctl/render/pod"
)

var (
	berlin, oslo, self  = addr("192.168.10.9"), addr("192.168.40.9"), addr("100.64.7.1")
	anyVIP, reverseVIP  = addr("100.64.7.11"), addr("100.64.7.201")
	portAddress, inside = addr("10.254.0.18"), addr("10.254.0.5")
)

// flow is a live one: the side that asks and waits for an answer, and its address.
func (l *lab) flow(n netns.Namespace, from netip.Addr, to netip.AddrPort) (ask func(time.Duration) error, own netip.AddrPort) {
	l.t.Helper()
	c := l.dial(n, from.String(), to.String())
	return func(within time.Duration) error { return exchange(c, within) }, netip.MustParseAddrPort(c.LocalAddr().String())
}

// TestErrorsAboutOthersFlows: a peer makes up ICMP errors that quote flows which aren't
// its own, or would lower the path MTU that services have to all peers.
func TestErrorsAboutOthersFlows(t *testing.T) {
	l := newLab(t, data(t, travelled())[pod.KeyRules])
	l.Ours.Echo(t, "10.20.0.9:7")
	l.Peer.Echo(t, "192.168.10.9:7")
	service, target := netip.AddrPortFrom(anyVIP, 7), netip.AddrPortFrom(reverseVIP, 7)
	ask, client := l.flow(l.Peer, berlin, service)
	askBack, host := l.flow(l.Ours, inside, target)
	for sentence, ask := range map[string]func(time.Duration) error{"exposure": ask, "reverse exposure": askBack} {
		if err := ask(soon); err != nil {
			t.Fatalf("the %s isn't reached: %v", sentence, err)
		}
	}
	answer := netns.UDP(service, client)
	question := netns.UDP(netip.AddrPortFrom(self, host.Port()), netip.AddrPortFrom(berlin, 7))
	forged := l.Peer.Forge(t)
	for sentence, c := range map[string]struct {
		packet []byte
		passes bool
	}{
		"another peer, about a service's answer: too long":  {netns.Unreachable(4, oslo, anyVIP, answer), false},
		"another peer, about a service's answer: no port":   {netns.Unreachable(3, oslo, anyVIP, answer), false},
		"another peer, about our host's question: too long": {netns.Unreachable(4, oslo, self, question), false},
		"another peer, about our host's question: no port":  {netns.Unreachable(3, oslo, self, question), false},
		"the peer itself, about a service's answer":         {netns.Unreachable(4, berlin, anyVIP, answer), false},
		"the peer itself, about our host's question":        {netns.Unreachable(4, berlin, self, question), true},
		"a router behind the peer, about the same":          {netns.Unreachable(1, addr("192.168.10.1"), self, question), true},
	} {
		t.Run(sentence, func(t *testing.T) {
			seen := l.Ours.Capture(t, "t0")
			forged.Send(c.packet)
			time.Sleep(100 * time.Millisecond)
			seen.End()
			arrived := len(seen.Seen(func(p netns.Packet) bool { return p.Protocol == unix.IPPROTO_ICMP }))
			if (arrived == 1) != c.passes {
				t.Errorf("%d of it arrived on our side", arrived)
			}
		})
	}
}

// TestWithdrawnIsDroppedAtOnce: flows of a peer that is removed end with the ruleset,
// while the kernel still follows them and the tunnel's route has gone; and nothing of
// them leaves by our side.
func TestWithdrawnIsDroppedAtOnce(t *testing.T) {
	in := travelled()
	l := newLab(t, data(t, in)[pod.KeyRules])
	l.Ours.Echo(t, "10.20.0.9:7")
	l.Peer.Echo(t, "192.168.10.9:7")
	l.Gateway.IP(t, "route add default via 10.254.0.5")
	ask, client := l.flow(l.Peer, berlin, netip.AddrPortFrom(anyVIP, 7))
	askBack, _ := l.flow(l.Ours, inside, netip.AddrPortFrom(reverseVIP, 7))
	before := l.connections()
	for sentence, ask := range map[string]func(time.Duration) error{"exposure": ask, "reverse exposure": askBack} {
		if err := ask(soon); err != nil {
			t.Fatalf("the %s isn't reached: %v", sentence, err)
		}
	}
	in.Gateway.Peers = in.Gateway.Peers[1:]
	in.Gateway.ReverseExposures = nil
	l.Gateway.Nft(t, data(t, in)[pod.KeyRules])
	l.Gateway.IP(t, "route del 192.168.0.0/17")
	seen := l.Ours.Capture(t, "t0")
	forged := l.Ours.Forge(t)
	for range 20 {
		forged.Send(netns.UDP(netip.AddrPortFrom(addr("10.20.0.9"), 7), netip.AddrPortFrom(portAddress, client.Port())))
	}
	if askBack(never) == nil || ask(never) == nil {
		t.Error("a flow that was withdrawn goes on")
	}
	seen.End()
	if l.connections() < before+2 {
		t.Error("the kernel has forgotten the flows: that proves nothing")
	}
	for _, p := range seen.Seen(func(p netns.Packet) bool { return strings.HasPrefix(p.Destination.String(), "192.168.") }) {
		t.Errorf("for the peer, in the clear: %+v", p)
	}
}

// TestOwnNetworkBindsSources: whoever has the address of an internal source, but isn't
// where the port is, is none.
func TestOwnNetworkBindsSources(t *testing.T) {
	l := newLab(t, data(t, travelled())[pod.KeyRules])
	l.serve(l.Peer, "192.168.10.9:502")
	cluster := netns.New(t, "cluster")
	netns.Wire(t, cluster, "c0", l.Gateway, "eth0")
	cluster.IP(t, "addr add 10.244.1.1/24 dev c0", "addr add 10.254.0.77/32 dev lo", "route add 100.64.7.0/24 via 10.244.1.17")
	l.Gateway.IP(t, "addr add 10.244.1.17/24 dev eth0", "route add 10.254.0.77/32 via 10.244.1.1")
	l.serve(l.Gateway, "0.0.0.0:9903")
	for sentence, c := range map[string]struct {
		n              netns.Namespace
		from, to, want string
	}{
		"our side's":           {l.Ours, "10.254.0.5", "100.64.7.200:502", "100.64.7.1"},
		"the cluster's":        {cluster, "10.254.0.77", "100.64.7.200:502", ""},
		"metrics, for it":      {cluster, "", "10.244.1.17:9903", "10.244.1.1"},
		"metrics, by the port": {l.Ours, "10.254.0.5", "10.254.0.18:9903", ""},
		"metrics, by .1":       {l.Ours, "10.254.0.5", "100.64.7.1:9903", ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := l.call(c.n, c.from, c.to, c.want); got != c.want {
				t.Errorf("from %s to %s: the server saw %q, want %q", c.from, c.to, got, c.want)
			}
		})
	}
}

// TestNobodyFillsTheKernelsList: neither a peer, with what it was granted, nor anybody
// who can send to the tunnel's own port.
func TestNobodyFillsTheKernelsList(t *testing.T) {
	in := travelled()
	in.Gateway.Peers[2].Grants = in.Gateway.Peers[0].Grants
	l := newLab(t, data(t, in)[pod.KeyRules])
	l.Ours.Echo(t, "10.20.0.9:7")

	stranger := l.Ours.Forge(t)
	before := l.connections()
	for i := range 5000 {
		from := netip.AddrFrom4([4]byte{198, 18, byte(i >> 8), byte(i)})
		stranger.Send(netns.UDP(netip.AddrPortFrom(from, 4000), netip.AddrPortFrom(portAddress, 51820)))
	}
	if after := l.connections(); after > before+10 {
		t.Errorf("a stranger's packets are followed as %d connections", after-before)
	}

	const most, sent = 512 * 64, 45000
	peer := l.Peer.Forge(t)
	before = l.connections()
	start := time.Now()
	for i := range sent {
		peer.Send(netns.UDP(netip.AddrPortFrom(berlin, uint16(i%60000+1024)), netip.AddrPortFrom(anyVIP, uint16(9+i/60000))))
	}
	l.Gateway.Quiet(t, "wg0")
	followed := l.connections() - before
	t.Logf("%d packets of a peer, in %v: %d connections", sent, time.Since(start), followed)
	if followed > most+10 || followed < most*3/4 {
		t.Errorf("%d connections of one peer, want at most %d, and not many fewer", followed, most)
	}
	ask, _ := l.flow(l.Peer, oslo, netip.AddrPortFrom(anyVIP, 7))
	if err := ask(soon); err != nil {
		t.Errorf("another peer has no connection left: %v", err)
	}
}

// connections are those that the gateway's kernel follows.
func (l *lab) connections() int {
	l.t.Helper()
	var text []byte
	err := l.Gateway.Do(func() (err error) {
		text, err = os.ReadFile("/proc/sys/net/netfilter/nf_conntrack_count")
		return err
	})
	if err != nil {
		l.t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		l.t.Fatal(err)
	}
	return n
}
