package wireguard

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.zx2c4.com/wireguard/conn"
	"golang.zx2c4.com/wireguard/tun/tuntest"
)

const (
	here = "10.0.0.1"  // inside the tunnel: the gateway
	at1  = "10.1.0.20" // and the peers
	at2  = "10.2.0.20"
)

// site is another end that has the gateway as its peer.
func site(t *testing.T, gateway *end, change func(*Peer)) *end {
	t.Helper()
	s := newEnd(t)
	p := gateway.as("gateway", here+"/32")
	if change != nil {
		change(&p)
	}
	s.apply(t, s.config(p))
	return s
}

func TestOthersKeepTheirSessions(t *testing.T) {
	gateway := newEnd(t)
	one, two := site(t, gateway, nil), site(t, gateway, nil)
	first, second := one.as("one", "10.1.0.0/24"), two.as("two", "10.2.0.0/24", "10.3.0.0/24")
	shared, key := newKey(t)
	_, otherKey := newKey(t)
	gateway.apply(t, gateway.config(first, second))
	mustReach(t, gateway, one, here, at1)
	mustReach(t, gateway, two, here, at2)

	steps := []struct {
		sentence string
		change   func()
		want     Change
	}{
		{"nothing is changed", func() {}, Change{}},
		{"a network is added", func() { second.AllowedIPs = prefixes("10.2.0.0/24", "10.3.0.0/24", "10.4.0.0/24") }, Change{Changed: []string{"two"}}},
		{"a network is taken away", func() { second.AllowedIPs = prefixes("10.2.0.0/24", "10.4.0.0/24") }, Change{Changed: []string{"two"}}},
		{"it is to send keepalives", func() { second.Keepalive = 25 * time.Second }, Change{Changed: []string{"two"}}},
		{"it has a preshared key", func() { second.Preshared = shared }, Change{Changed: []string{"two"}}},
		{"it has none again", func() { second.Preshared = nil }, Change{Changed: []string{"two"}}},
		{"its address is another", func() { second.Endpoint = first.Endpoint }, Change{Changed: []string{"two"}}},
		{"its key is another", func() { second.PublicKey = key }, Change{Added: []string{"two"}, Removed: []string{"two"}}},
		{"and another", func() { second.PublicKey = otherKey }, Change{Added: []string{"two"}, Removed: []string{"two"}}},
		{"its preshared key goes missing", func() { second.Missing = "gone" },
			Change{Removed: []string{"two"}, Problems: map[string]string{"two": "gone"}}},
	}
	before := gateway.settled(t, "one")
	for _, step := range steps {
		step.change()
		got := gateway.apply(t, gateway.config(first, second))
		if len(got.Problems) == 0 {
			got.Problems = nil
		}
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", step.sentence, diff)
		}
		after := gateway.state(t, "one")
		if diff := cmp.Diff(before, after, byText); diff != "" {
			t.Errorf("%s: the other peer is not what it was (-before +after)\n%s", step.sentence, diff)
		}
	}
	mustReach(t, gateway, one, here, at1)
	if after := gateway.settled(t, "one"); !after.Handshake.Equal(before.Handshake) || after.Sent <= before.Sent {
		t.Errorf("the session didn't go on: %+v, before %+v", after, before)
	}
}

func TestPeerMovesAndStaysWhereItIs(t *testing.T) {
	gateway := newEnd(t)
	one := site(t, gateway, nil)
	peer := one.as("one", "10.1.0.0/24")
	gateway.apply(t, gateway.config(peer))
	mustReach(t, gateway, one, here, at1)

	// The peer sends from another port from now on.
	one.port = freePort(t)
	one.apply(t, one.config(gateway.as("gateway", here+"/32")))
	mustReach(t, one, gateway, at1, here)
	if got := gateway.state(t, "one").Endpoint; got != one.at() {
		t.Fatalf("the gateway sends to %s, the peer is at %s", got, one.at())
	}
	if change := gateway.apply(t, gateway.config(peer)); !change.Empty() || gateway.state(t, "one").Endpoint != one.at() {
		t.Errorf("%+v: the peer is taken back to where it was", change)
	}

	// An agent that starts anew finds a living session and leaves it alone, until
	// another address is configured.
	gateway.known = memory{}
	if change := gateway.apply(t, gateway.config(peer)); !change.Empty() || gateway.state(t, "one").Endpoint != one.at() {
		t.Errorf("%+v: the peer is taken back by a new agent", change)
	}
	mustReach(t, gateway, one, here, at1)
	peer.Endpoint = gateway.at()
	gateway.known.endpoints[must(parseKey([]byte(peer.PublicKey)))] = one.at()
	if gateway.apply(t, gateway.config(peer)); gateway.state(t, "one").Endpoint != gateway.at() {
		t.Error("another configured address is not set")
	}
}

func TestNewPeerIsSpokenToAtOnce(t *testing.T) {
	gateway := newEnd(t)
	one, two, three := site(t, gateway, nil), site(t, gateway, nil), site(t, gateway, nil)
	first, second, third := one.as("one", "10.1.0.0/24"), two.as("two", "10.2.0.0/24"), three.as("three", "10.3.0.0/24")
	second.Endpoint = netip.AddrPort{}
	third.Endpoint = gateway.at() // where nobody answers for it
	c := gateway.config(first, second, third)
	c.Seen = map[string]netip.AddrPort{"two": two.at(), "three": three.at()}
	gateway.apply(t, c)
	for end, name := range map[*end]string{one: "one", two: "two"} {
		for deadline := time.Now().Add(10 * time.Second); end.state(t, "gateway").Handshake.IsZero(); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s has heard nothing", name)
			}
		}
		if p := gateway.state(t, name); p.Keepalive != 0 {
			t.Errorf("%s is spoken to every %v", name, p.Keepalive)
		}
	}
	if p := gateway.state(t, "three"); p.Endpoint != gateway.at() {
		t.Errorf("what was seen counts more than what is configured: %+v", p)
	}
}

func TestPeerIsSpokenToOnceItCanBe(t *testing.T) {
	for name, late := range map[string]func(gateway *end, c *Config){
		"its address comes later": func(_ *end, c *Config) { c.Peers[0].Endpoint = netip.AddrPort{} },
		"our key comes later":     func(_ *end, c *Config) { c.PrivateKey = nil },
	} {
		t.Run(name, func(t *testing.T) {
			gateway := newEnd(t)
			one := site(t, gateway, nil)
			one.apply(t, one.config()) // and from now on it waits to be spoken to
			waiting := gateway.as("gateway", here+"/32")
			waiting.Endpoint = netip.AddrPort{}
			one.apply(t, one.config(waiting))
			peer := one.as("one", "10.1.0.0/24")
			early := gateway.config(peer)
			late(gateway, &early)
			_, _ = gateway.Apply(early) // without a key that is an error
			if !one.state(t, "gateway").Handshake.IsZero() {
				t.Fatal("there is a session already")
			}
			gateway.apply(t, gateway.config(peer))
			for deadline := time.Now().Add(10 * time.Second); one.state(t, "gateway").Handshake.IsZero(); time.Sleep(10 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("the peer has heard nothing")
				}
			}
			if p := gateway.state(t, "one"); p.Keepalive != 0 {
				t.Errorf("it is spoken to every %v", p.Keepalive)
			}
			if change := gateway.apply(t, gateway.config(peer)); !change.Empty() {
				t.Errorf("the same again: %+v", change)
			}
		})
	}
}

func TestNeverUpWithoutThePresharedKey(t *testing.T) {
	gateway := newEnd(t)
	shared, _ := newKey(t)
	wrong, _ := newKey(t)
	one := site(t, gateway, func(p *Peer) { p.Preshared = shared })
	peer := one.as("one", "10.1.0.0/24")

	peer.Missing = "its preshared key is missing"
	gateway.apply(t, gateway.config(peer))
	mustNotReach(t, one, gateway, at1, here)

	peer.Missing, peer.Preshared = "", []byte("not a key")
	if change := gateway.apply(t, gateway.config(peer)); change.Problems["one"] == "" || len(change.Added) > 0 {
		t.Errorf("a key that is none is set: %+v", change)
	}
	peer.Preshared = wrong
	gateway.apply(t, gateway.config(peer))
	mustNotReach(t, gateway, one, here, at1)

	peer.Preshared = shared
	gateway.apply(t, gateway.config(peer))
	if s := gateway.state(t, "one"); !s.Preshared {
		t.Error("the device has no preshared key for the peer")
	}
	// A handshake with the wrong key is tried again after five seconds; a new one
	// begins with a peer that is new.
	one.apply(t, one.config())
	again := gateway.as("gateway", here+"/32")
	again.Preshared = shared
	one.apply(t, one.config(again))
	mustReach(t, one, gateway, at1, here)

	peer.Missing = "its preshared key is missing"
	gateway.apply(t, gateway.config(peer))
	mustNotReach(t, one, gateway, at1, here)
}

func TestAnotherPrivateKeyEndsEverySession(t *testing.T) {
	gateway := newEnd(t)
	one := site(t, gateway, nil)
	gateway.apply(t, gateway.config(one.as("one", "10.1.0.0/24")))
	mustReach(t, gateway, one, here, at1)
	gateway.private, gateway.public = newKey(t)
	if change := gateway.apply(t, gateway.config(one.as("one", "10.1.0.0/24"))); !change.Device {
		t.Errorf("%+v", change)
	}
	mustNotReach(t, gateway, one, here, at1)
	if s, err := gateway.Read(); err != nil || s.PublicKey != gateway.public {
		t.Errorf("the device has the public key %s, want %s (%v)", s.PublicKey, gateway.public, err)
	}
}

func TestWhatCannotBeSetKeepsNothingElseFromBeing(t *testing.T) {
	gateway := newEnd(t)
	one := site(t, gateway, nil)
	peer := one.as("one", "10.1.0.0/24")
	gateway.apply(t, gateway.config(peer))
	mustReach(t, gateway, one, here, at1)

	c := gateway.config(peer)
	c.PrivateKey = nil
	if change, err := gateway.Apply(c); errors.Unwrap(err) != ErrNoKey || !change.Empty() {
		t.Errorf("no private key: %+v, %v", change, err)
	}
	mustReach(t, gateway, one, here, at1)
	c.PrivateKey, c.Peers = []byte("x"), nil
	if change, err := gateway.Apply(c); err == nil || len(change.Removed) != 1 {
		t.Errorf("a private key that is none keeps a peer in: %+v, %v", change, err)
	}

	taken, err := net.ListenUDP("udp", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	c = gateway.config(peer)
	c.ListenPort = taken.LocalAddr().(*net.UDPAddr).Port
	if _, err := gateway.Apply(c); err == nil {
		t.Error("a port that is taken is no error")
	}
	gateway.known.names = nil
	if s, err := gateway.Read(); err != nil || len(s.Peers) != 1 {
		t.Errorf("a port that is taken keeps a peer out: %+v, %v", s, err)
	}
}

func TestDeviceThatIsGone(t *testing.T) {
	gateway := newEnd(t)
	gateway.apply(t, gateway.config())
	gateway.process.device.Close()
	if _, err := gateway.Apply(gateway.config()); !errors.Is(err, ErrGone) {
		t.Errorf("applying: %v", err)
	}
	if _, err := gateway.Read(); !errors.Is(err, ErrGone) {
		t.Errorf("reading: %v", err)
	}
}

func TestSocketThatWasLeftBehind(t *testing.T) {
	path := filepath.Join(t.TempDir(), "wg0.sock")
	killed, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	killed.SetUnlinkOnClose(false)
	killed.Close()
	p := newProcess(tuntest.NewChannelTUN().TUN(), unmarked{conn.NewDefaultBind()})
	if err := p.listen(path); err != nil {
		t.Fatal(err)
	}
	if _, err := (socket{path}).Device("wg0"); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("who may set the device up: %v, %v", info.Mode(), err)
	}
	// Someone who stays connected keeps nobody from closing.
	idle, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	if err := p.close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a device that is closed leaves its socket behind: %v", err)
	}
}

func TestNoErrorHoldsAKey(t *testing.T) {
	gateway := newEnd(t)
	secrets := []string{"c2VjcmV0LXByaXZhdGUta2V5", "c2VjcmV0LXByZXNoYXJlZC1rZXk="}
	c := gateway.config(Peer{Name: "one", PublicKey: gateway.public, Preshared: Secret(secrets[1]), AllowedIPs: prefixes("10.1.0.0/24")})
	c.PrivateKey = Secret(secrets[0])
	change, err := gateway.Apply(c)
	if err == nil || change.Problems["one"] == "" {
		t.Fatalf("keys that are none are set: %+v, %v", change, err)
	}
	for _, secret := range secrets {
		if strings.Contains(err.Error()+change.Problems["one"], secret) {
			t.Errorf("%s is in %v or %v", secret, err, change)
		}
	}
}
