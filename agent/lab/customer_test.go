//go:build e2e

package lab

import (
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// customer is a site with stock strongSwan, and one host behind it.
type customer struct {
	name, address, id string
	networks          []string // 192.168.10, without the last octet; .1 the router, .40 the host
	ns, host          netns
	dir               string
	daemon            *exec.Cmd
	log               *logged
}

// customerDaemon is strongswan.conf. ESP is in user space, and a peer that is away is
// given up soon.
const customerDaemon = `charon-systemd {
  load = random nonce aes sha1 sha2 hmac kdf gcm openssl pem pkcs1 pubkey kernel-libipsec kernel-netlink socket-default updown counters vici
  install_virtual_ip = no
  plugins {
    vici { socket = unix://%[1]s/charon.vici }
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
		ns: newNetns(t, name), host: newNetns(t, name+"-host"), dir: labPath(t, "customers", name), log: &logged{},
	}
	f.join(t, c.ns, "public", address+"/24", "198.51.100.1")
	c.ns.sysctl(t, "net.ipv4.ip_forward", "1")
	wire(t, c.ns, "lan", c.host, "eth0")
	for i, n := range networks {
		c.ns.ip(t, "addr add "+n+".1/24 dev lan")
		c.host.ip(t, "addr add "+n+".40/24 dev eth0")
		if i == 0 {
			c.host.ip(t, "route add default via "+n+".1")
		}
	}
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	c.start(t)
	t.Cleanup(func() {
		c.kill()
		if t.Failed() {
			t.Logf("the log of %s ends\n%s", name, c.log.tail(3000))
		}
	})
	return c
}

// start runs charon until it answers.
func (c *customer) start(t *testing.T) {
	t.Helper()
	conf := c.dir + "/strongswan.conf"
	if err := os.WriteFile(conf, fmt.Appendf(nil, customerDaemon, c.dir), 0o600); err != nil {
		t.Fatal(err)
	}
	c.daemon = exec.Command("charon-systemd")
	c.daemon.Env = []string{"PATH=" + searchPath, "STRONGSWAN_CONF=" + conf}
	c.daemon.Stdout, c.daemon.Stderr = c.log, c.log
	if err := c.ns.start(c.daemon); err != nil {
		t.Fatal(err)
	}
	for range 200 {
		if _, err := command("swanctl", "--stats", "--uri", c.uri()); err == nil {
			return
		}
	}
	t.Fatalf("charon of %s doesn't answer\n%s", c.name, c.log.tail(2000))
}

// kill ends charon without a word to its peer.
func (c *customer) kill() {
	if c.daemon != nil {
		_ = c.daemon.Process.Kill()
		_ = c.daemon.Wait()
		c.daemon = nil
	}
}

func (c *customer) uri() string { return "unix://" + c.dir + "/charon.vici" }

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
	text := fmt.Sprintf(`connections {
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
`, gateway, p.ike, c.id, children.String(), hex.EncodeToString(secret))
	file := c.dir + "/swanctl.conf"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, "swanctl", "--load-creds", "--clear", "--file", file, "--uri", c.uri())
	run(t, "swanctl", "--load-conns", "--file", file, "--uri", c.uri())
}

// sas is what swanctl shows.
func (c *customer) sas(t *testing.T) string {
	t.Helper()
	return run(t, "swanctl", "--list-sas", "--uri", c.uri())
}
