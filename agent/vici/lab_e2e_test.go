//go:build e2e

package vici

import (
	"encoding/hex"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/agent/lab/netns"
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
	password    = "correct horse"
)

func TestMain(m *testing.M) { os.Exit(netns.Main(m)) }

// node is one charon with its network.
type node struct {
	netns.Namespace
	*netns.Charon
}

// lab builds both sides and starts both charons. Settings are added to the
// gateway's strongswan.conf.
func lab(t *testing.T, settings ...string) (gateway, peer node) {
	t.Helper()
	gateway = newNode(t, "gw", settings...)
	// The peer is made for many sessions from one address.
	peer = newNode(t, "peer", "dos_protection = no")
	netns.Wire(t, gateway.Namespace, "net1", peer.Namespace, "net1")
	gateway.IP(t, "addr add 192.0.2.1/30 dev net1", "addr add 100.64.3.1/32 dev lo", "link add void type veth peer name sink", "link set void arp off",
		"link set void up", "link set sink up", "route add 198.18.0.0/16 dev void")
	peer.IP(t, "addr add 192.0.2.2/30 dev net1")
	for k := range 64 {
		peer.IP(t, fmt.Sprintf("addr add 10.0.%d.1/32 dev lo", k))
	}
	gateway.Charon.Start(t)
	peer.Charon.Start(t)
	return gateway, peer
}

// newNode has the settings of a gateway pod, and further ones.
func newNode(t *testing.T, name string, settings ...string) node {
	t.Helper()
	n := netns.New(t, name)
	return node{n, netns.NewCharon(t, n, t.TempDir(), netns.PodSettings(settings...))}
}

// established is a lab with a tunnel that is up, and a session with the gateway's
// charon.
func established(t *testing.T, c swanctl.Connection) (gateway, peer node, s *Session, sa SA) {
	t.Helper()
	gateway, peer = lab(t)
	s = dial(t, gateway.Socket())
	peer.serves(t, []byte(password), c)
	pushed(t, s, []byte(password), c)
	initiate(t, s, c)
	return gateway, peer, s, up(t, s, c)
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
func (n node) serves(t *testing.T, secret []byte, tunnels ...swanctl.Connection) {
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
	n.Load(t, "connections {\n"+conns.String()+"}\nsecrets {\n"+keys.String()+"}\n")
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
	netns.Eventually(t, c.Name+" is up", 20*time.Second, func() bool {
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
