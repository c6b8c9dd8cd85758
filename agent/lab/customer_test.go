//go:build e2e

package lab

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/vpnctl/vpnctl/agent/lab/netns"
	"github.com/vpnctl/vpnctl/render/swanctl"
)

// customer is a site with stock strongSwan, and one host behind it.
type customer struct {
	name, address, id string
	networks          []string // 192.168.10, without the last octet; .1 the router, .40 the host
	ns, host          netns.Namespace
	charon            *netns.Charon
}

// customerDaemon is strongswan.conf. ESP is in user space, and a peer that is away is
// given up soon.
const customerDaemon = `charon-systemd {
  load = random nonce aes sha1 sha2 hmac kdf gcm openssl pem pkcs1 pubkey kernel-libipsec kernel-netlink socket-default updown counters vici
  install_virtual_ip = no
  plugins {
    vici { socket = unix://` + swanctl.Socket + ` }
    kernel-libipsec { allow_peer_ts = yes }
  }
  filelog { stdout { flush_line = yes
    default = 1 } }
}
`

func newCustomer(t *testing.T, f *fabric, name, address string, networks ...string) *customer {
	t.Helper()
	c := &customer{
		name: name, address: address, id: "fw." + name + ".example", networks: networks,
		ns: netns.New(t, name), host: netns.New(t, name+"-host"),
	}
	f.join(t, c.ns, "public", address+"/24", "198.51.100.1")
	c.ns.Sysctl(t, "net.ipv4.ip_forward", "1")
	netns.Wire(t, c.ns, "lan", c.host, "eth0")
	for i, n := range networks {
		c.ns.IP(t, "addr add "+n+".1/24 dev lan")
		c.host.IP(t, "addr add "+n+".40/24 dev eth0")
		if i == 0 {
			c.host.IP(t, "route add default via "+n+".1")
		}
	}
	c.charon = netns.NewCharon(t, c.ns, labPath(t, "customers", name), customerDaemon)
	c.charon.Start(t)
	return c
}

// proposals are what the customer's administrator wrote.
type proposals struct{ ike, esp string }

var usual = proposals{"aes256-sha256-ecp256", "aes256-sha256-ecp256"}

// configure loads what the customer's administrator has written: the gateway's public
// address, and the shared secret. The secret stands in hexadecimal, so that strongSwan
// takes it byte for byte.
func (c *customer) configure(t *testing.T, gateway string, secret []byte, p proposals) {
	t.Helper()
	var children strings.Builder
	for _, n := range c.networks {
		fmt.Fprintf(&children, "net-%s { local_ts = %s.0/24\nremote_ts = 100.64.0.0/24\nesp_proposals = %s }\n", strings.ReplaceAll(n, ".", "-"), n, p.esp)
	}
	c.charon.Load(t, fmt.Sprintf(`connections {
  gateway { version = 2
    remote_addrs = %[1]s
    proposals = %[2]s
    unique = replace
    local { auth = psk
      id = %[3]s }
    remote { auth = psk
      id = %[1]s }
    children { %[4]s }
  }
}
secrets { ike-gateway { id-1 = %[3]s
    id-2 = %[1]s
    secret = 0x%[5]s }
}
`, gateway, p.ike, c.id, children.String(), hex.EncodeToString(secret)))
}

// sas is what swanctl shows.
func (c *customer) sas(t *testing.T) string {
	t.Helper()
	return c.charon.Swanctl(t, "--list-sas")
}
