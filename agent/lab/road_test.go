//go:build e2e

package lab

import (
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/agent/lab/netns"
)

// road is a customer's device with stock WireGuard: a site with a network behind it,
// or a laptop.
type road struct {
	name, address   string // on the public network
	private, public string
	ns, host        netns.Namespace // a laptop is its own host
	inner           string
	log             *netns.Log
}

// newRoad makes the namespace and the device, without keys yet. A network, if any, is
// without its last octet.
func newRoad(t *testing.T, f *fabric, name, address, network string) *road {
	t.Helper()
	key, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	r := &road{
		name: name, address: address, ns: netns.New(t, name), log: &netns.Log{},
		private: base64.StdEncoding.EncodeToString(key.Bytes()), public: base64.StdEncoding.EncodeToString(key.PublicKey().Bytes()),
	}
	r.host = r.ns
	f.join(t, r.ns, "public", address+"/24", "198.51.100.1")
	if network != "" {
		r.inner, r.host = network+".40", netns.New(t, name+"-host")
		r.ns.Sysctl(t, "net.ipv4.ip_forward", "1")
		netns.Wire(t, r.ns, "lan", r.host, "eth0")
		r.ns.IP(t, "addr add "+network+".1/24 dev lan")
		r.host.IP(t, "addr add "+r.inner+"/24 dev eth0", "route add default via "+network+".1")
	}
	daemon := exec.Command("wireguard-go", "-f", r.device())
	daemon.Env = []string{"PATH=" + searchPath, "LOG_LEVEL=error", "WG_PROCESS_FOREGROUND=1"}
	daemon.Stdout, daemon.Stderr = r.log, r.log
	if err := r.ns.Start(daemon); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = daemon.Process.Kill()
		_ = daemon.Wait()
		if text := r.log.Tail(2000); t.Failed() && text != "" {
			t.Logf("the log of wireguard-go of %s ends\n%s", name, text)
		}
	})
	netns.Eventually(t, "wireguard-go of "+name+" listens", 2*time.Second, func() bool {
		_, err := os.Stat("/run/wireguard/" + r.device() + ".sock")
		return err == nil
	})
	return r
}

// relocate gives the device another public address.
func (r *road) relocate(t *testing.T, address string) {
	t.Helper()
	r.ns.IP(t, "addr del "+r.address+"/24 dev eth0", "addr add "+address+"/24 dev eth0", "route replace default via 198.51.100.1")
	r.address = address
}

func (r *road) device() string { return "wg-" + r.name }

// configure writes what wg(8) takes. An empty endpoint leaves it to the gateway to speak
// first.
func (r *road) configure(t *testing.T, gatewayKey, endpoint, preshared string) {
	t.Helper()
	text := fmt.Sprintf("[Interface]\nPrivateKey = %s\nListenPort = 51820\n[Peer]\nPublicKey = %s\nAllowedIPs = 100.64.0.0/24\n", r.private, gatewayKey)
	if endpoint != "" {
		text += "Endpoint = " + endpoint + "\nPersistentKeepalive = 1\n"
	}
	if preshared != "" {
		text += "PresharedKey = " + preshared + "\n"
	}
	file := labPath(t, r.name+".conf")
	if err := os.MkdirAll(labPath(t), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	netns.Run(t, "wg", "setconf", r.device(), file)
	if r.host == r.ns {
		r.ns.IP(t, "addr replace "+r.inner+"/32 dev "+r.device())
	}
	r.ns.IP(t, "link set "+r.device()+" mtu 1420 up", "route replace 100.64.0.0/24 dev "+r.device())
}

func presharedKey() string {
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	return base64.StdEncoding.EncodeToString(key)
}
