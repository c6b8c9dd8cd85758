package wireguard

import (
	"bytes"
	"errors"
	"net"
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"golang.zx2c4.com/wireguard/conn"
	"golang.zx2c4.com/wireguard/tun/tuntest"
)

// end is a device in this process with its own UDP socket on loopback, and an
// interface that is a channel: neither needs root.
type end struct {
	*Device
	tun     *tuntest.ChannelTUN
	private Secret
	public  string
	port    int
}

// unmarked is a socket that takes a mark and drops it: setting one is for root.
type unmarked struct{ conn.Bind }

func (unmarked) SetMark(uint32) error { return nil }

func newEnd(t testing.TB) *end {
	t.Helper()
	e := &end{tun: tuntest.NewChannelTUN(), port: freePort(t)}
	e.private, e.public = newKey(t)
	p := newProcess(e.tun.TUN(), unmarked{conn.NewDefaultBind()})
	path := filepath.Join(t.TempDir(), "run", "wg0.sock")
	if err := errors.Join(p.device.Up(), p.listen(path)); err != nil {
		t.Fatal(err)
	}
	e.Device = &Device{name: "wg0", control: socket{path}, process: p, now: time.Now, closers: []func() error{p.close}}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func freePort(t testing.TB) int {
	t.Helper()
	c, err := net.ListenUDP("udp", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return c.LocalAddr().(*net.UDPAddr).Port
}

func (e *end) at() netip.AddrPort {
	return netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), uint16(e.port))
}

// config is that of the end, with these peers.
func (e *end) config(peers ...Peer) Config {
	return Config{PrivateKey: e.private, ListenPort: e.port, FirewallMark: FirewallMark, Peers: peers}
}

// as is the end seen by another one.
func (e *end) as(name string, networks ...string) Peer {
	return Peer{Name: name, PublicKey: e.public, Endpoint: e.at(), AllowedIPs: prefixes(networks...)}
}

func (e *end) apply(t testing.TB, c Config) Change {
	t.Helper()
	change, err := e.Apply(c)
	if err != nil {
		t.Fatal(err)
	}
	return change
}

func (e *end) state(t testing.TB, name string) PeerState {
	t.Helper()
	s, err := e.Read()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range s.Peers {
		if p.Name == name {
			return p
		}
	}
	t.Fatalf("%s is not on the device", name)
	return PeerState{}
}

// settled is the state once what was sent is counted: that comes after the sending.
func (e *end) settled(t testing.TB, name string) PeerState {
	t.Helper()
	last := e.state(t, name)
	for same := 0; same < 4; same++ {
		time.Sleep(50 * time.Millisecond)
		now := e.state(t, name)
		if now.Sent != last.Sent || now.Received != last.Received {
			same = 0
		}
		last = now
	}
	return last
}

func prefixes(texts ...string) []netip.Prefix {
	var all []netip.Prefix
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

// reaches sends one packet from an address of this end to one of the other, and tells
// whether it came out there in time.
func (e *end) reaches(other *end, from, to string, wait time.Duration) bool {
	packet := tuntest.Ping(netip.MustParseAddr(to), netip.MustParseAddr(from))
	e.tun.Outbound <- packet
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		select {
		case got := <-other.tun.Inbound:
			if bytes.Equal(got, packet) {
				return true
			}
		case <-timer.C:
			return false
		}
	}
}

func mustReach(t testing.TB, a, b *end, from, to string) {
	t.Helper()
	if !a.reaches(b, from, to, 10*time.Second) {
		t.Fatalf("no packet from %s to %s", from, to)
	}
}

func mustNotReach(t testing.TB, a, b *end, from, to string) {
	t.Helper()
	if a.reaches(b, from, to, 300*time.Millisecond) {
		t.Fatalf("a packet from %s to %s", from, to)
	}
}
