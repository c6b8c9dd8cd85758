//go:build e2e

package vici

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/swanctl"
)

// These tests want root, /dev/net/tun, charon (charon-systemd,
// libcharon-extra-plugins) and swanctl (strongswan-swanctl).
//
//	gateway 192.0.2.1 --- 192.0.2.2 peer          198.18.0.0/16: nobody answers
//	100.64.3.1 on lo      10.0.K.1 on lo
//
// Both run charon with ESP in user space, in network namespaces of their own. The
// addresses on lo are what it takes for an address inside the traffic selectors.

const (
	gatewayID   = "203.0.113.20"
	peerAddress = "192.0.2.2"
)

// node is one charon with its network.
type node struct {
	dir, netns string
	settings   []string // of charon's, besides those of the gateway pod
	daemon     *exec.Cmd
	log        *logged
}

// logged is a daemon's output, readable while it is written.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// lab builds both sides and starts both charons. Settings are added to the
// gateway's strongswan.conf.
func lab(t *testing.T, settings ...string) (gateway, peer *node) {
	t.Helper()
	gateway = newNode(t, "gw", settings...)
	// The peer is made for many sessions from one address.
	peer = newNode(t, "peer", "dos_protection = no")
	run(t, "ip", "-n", gateway.netns, "link", "add", "net1", "type", "veth", "peer", "name", "net1", "netns", peer.netns)
	gateway.ip(t, "addr add 192.0.2.1/30 dev net1", "addr add 100.64.3.1/32 dev lo", "link add void type veth peer name sink", "link set void arp off",
		"link set net1 up", "link set void up", "link set sink up", "route add 198.18.0.0/16 dev void")
	peer.ip(t, "addr add 192.0.2.2/30 dev net1", "link set net1 up")
	for k := range 64 {
		peer.ip(t, fmt.Sprintf("addr add 10.0.%d.1/32 dev lo", k))
	}
	gateway.start(t)
	peer.start(t)
	return gateway, peer
}

func newNode(t *testing.T, name string, settings ...string) *node {
	t.Helper()
	n := &node{dir: t.TempDir(), netns: fmt.Sprintf("vp-vici-%d-%s", os.Getpid(), name), settings: settings, log: &logged{}}
	run(t, "ip", "netns", "add", n.netns)
	t.Cleanup(func() {
		n.kill(t)
		run(t, "ip", "netns", "del", n.netns)
		if t.Failed() {
			t.Logf("%s's log ends\n%s", name, tail(n.log.String(), 6000))
		}
	})
	n.ip(t, "link set lo up")
	return n
}

func tail(text string, n int) string { return text[max(0, len(text)-n):] }

func (n *node) ip(t *testing.T, commands ...string) {
	t.Helper()
	for _, c := range commands {
		run(t, "ip", append([]string{"-n", n.netns}, strings.Fields(c)...)...)
	}
}

func (n *node) socket() string { return filepath.Join(n.dir, "charon.vici") }

// start runs charon with the settings of a gateway pod until it answers.
func (n *node) start(t *testing.T) {
	t.Helper()
	text := strings.Replace(swanctl.Daemon(vpn.DataplaneUserspace), swanctl.Socket, n.socket(), 1)
	text = strings.Replace(text, "  install_virtual_ip", "  "+strings.Join(append(n.settings, "install_virtual_ip"), "\n  "), 1)
	conf := filepath.Join(n.dir, "strongswan.conf")
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	n.daemon = exec.Command("ip", "netns", "exec", n.netns, "charon-systemd")
	n.daemon.Env = append(os.Environ(), "STRONGSWAN_CONF="+conf)
	n.daemon.Stdout, n.daemon.Stderr = n.log, n.log
	if err := n.daemon.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "charon answers", 20*time.Second, func() bool {
		s, err := Dial(t.Context(), n.socket())
		if err != nil {
			return false
		}
		defer s.Close()
		_, err = s.Version(t.Context())
		return err == nil
	})
}

func (n *node) signal(t *testing.T, sig syscall.Signal) {
	t.Helper()
	if err := n.daemon.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
}

// kill ends charon as kill -9 does; its socket stays behind.
func (n *node) kill(t *testing.T) {
	t.Helper()
	if n.daemon != nil {
		n.signal(t, syscall.SIGKILL)
		_ = n.daemon.Wait()
		n.daemon = nil
	}
}

func (n *node) swanctl(t *testing.T, args ...string) string {
	t.Helper()
	return run(t, "swanctl", append(args, "--uri", "unix://"+n.socket())...)
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

func eventually(t *testing.T, what string, within time.Duration, is func() bool) {
	t.Helper()
	for end := time.Now().Add(within); !is(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %s: %s", within, what)
		}
	}
}

// tunnel is a connection to the peer; its only child reaches 10.0.K.0/24.
func tunnel(name string, k int) swanctl.Connection {
	c := plant(name)
	c.LocalID, c.Address, c.RemoteID = gatewayID, netip.MustParseAddr(peerAddress), name+".example"
	c.Children = c.Children[:1]
	c.Children[0].Remote = []netip.Prefix{netip.MustParsePrefix(fmt.Sprintf("10.0.%d.0/24", k))}
	c.Children[0].Proposals = []string{"aes256-sha256-ecp256"}
	return c
}

// serves makes the peer ready for tunnels: as customers do it, with swanctl's own
// files. The secret is written in hex, which swanctl decodes itself.
func (n *node) serves(t *testing.T, secret []byte, tunnels ...swanctl.Connection) {
	t.Helper()
	var conns, keys strings.Builder
	for _, c := range tunnels {
		fmt.Fprintf(&conns, `%s {
  version = 2
  proposals = %s
  unique = replace
  local {
    auth = psk
    id = %s
  }
  remote {
    auth = psk
    id = %s
  }
  children {
    net {
      local_ts = %s
      remote_ts = %s
      esp_proposals = %s
    }
  }
}
`, c.Name, strings.Join(c.Proposals, ","), c.RemoteID, c.LocalID, c.Children[0].Remote[0], c.Children[0].Local, strings.Join(c.Children[0].Proposals, ","))
		fmt.Fprintf(&keys, "ike-%s {\n  id-1 = %s\n  id-2 = %s\n  secret = 0x%s\n}\n", c.Name, c.RemoteID, c.LocalID, hex.EncodeToString(secret))
	}
	file := filepath.Join(n.dir, "swanctl.conf")
	text := "connections {\n" + conns.String() + "}\nsecrets {\n" + keys.String() + "}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	n.swanctl(t, "--load-creds", "--clear", "--file", file)
	n.swanctl(t, "--load-conns", "--file", file)
}

// pushed loads tunnels with one key for all into the gateway.
func pushed(t *testing.T, s *Session, secret []byte, tunnels ...swanctl.Connection) {
	t.Helper()
	for _, c := range tunnels {
		if err := s.LoadKey(t.Context(), c.Name, []string{c.LocalID, c.RemoteID}, secret); err != nil {
			t.Fatal(err)
		}
		if err := s.Load(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
}

// up waits until a tunnel's child is installed, and returns its SA.
func up(t *testing.T, s *Session, c swanctl.Connection) SA {
	t.Helper()
	var found SA
	eventually(t, c.Name+" is up", 20*time.Second, func() bool {
		all, err := s.SAs(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, sa := range all {
			if sa.Connection == c.Name && sa.State == Established && len(sa.Children) > 0 && sa.Children[0].State == Installed {
				found = sa
				return true
			}
		}
		return false
	})
	return found
}

func initiate(t *testing.T, s *Session, c swanctl.Connection) {
	t.Helper()
	if err := s.Initiate(t.Context(), c.Name, c.Children[0].Name); err != nil {
		t.Fatal(err)
	}
}
