//go:build e2e

package lab

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// fabric is the network around the gateways: a router with the public network, the
// transit network and the services' network on it, each a bridge.
type fabric struct {
	ns       netns
	services netns // holds every service's address
	host     netns // on the transit network, and so one that may use reverse exposures
	stranger netns // on the public network
}

const (
	hostAddress     = "10.254.0.250"
	strangerAddress = "198.51.100.99"
)

func newFabric(t *testing.T) *fabric {
	t.Helper()
	f := &fabric{ns: newNetns(t, "fabric"), services: newNetns(t, "services"), host: newNetns(t, "host"), stranger: newNetns(t, "stranger")}
	f.ns.sysctl(t, "net.ipv4.ip_forward", "1")
	f.ns.sysctl(t, "net.ipv4.conf.all.send_redirects", "0")
	f.ns.sysctl(t, "net.ipv4.conf.default.send_redirects", "0")
	for bridge, address := range map[string]string{"public": "198.51.100.1/24", "transit": "10.254.0.1/24", "services": "10.20.0.1/24"} {
		f.ns.ip(t, "link add "+bridge+" type bridge", "addr add "+address+" dev "+bridge, "link set "+bridge+" up")
	}
	f.join(t, f.services, "services", "10.20.0.15/24", "10.20.0.1")
	f.services.ip(t, "addr add 10.20.0.16/24 dev eth0", "addr add 10.20.0.17/24 dev eth0", "addr add 10.20.0.18/24 dev eth0")
	f.join(t, f.host, "transit", hostAddress+"/24", "10.254.0.1")
	f.join(t, f.stranger, "public", strangerAddress+"/24", "198.51.100.1")
	f.nft(t, "table ip lab { chain prerouting { type nat hook prerouting priority dstnat; }\nchain postrouting { type nat hook postrouting priority srcnat; }\n}")
	return f
}

// join puts a namespace on a bridge.
func (f *fabric) join(t *testing.T, n netns, bridge, address, gateway string) {
	t.Helper()
	port := "to-" + n.label()
	wire(t, n, "eth0", f.ns, port)
	f.ns.ip(t, "link set "+port+" master "+bridge)
	n.ip(t, "addr add "+address+" dev eth0", "route add default via "+gateway)
}

// port is what Nova and Neutron do for a gateway: a port on the transit network with
// its MAC address, its floating IP, and the route to its service CIDR.
func (f *fabric) port(t *testing.T, p *pod, mac string) {
	t.Helper()
	e := p.rendered.expect
	name := "port-" + p.name
	wire(t, p.ns, "net1", f.ns, name)
	p.ns.ip(t, "link set net1 down", "link set net1 address "+mac)
	f.ns.ip(t, "link set "+name+" master transit", fmt.Sprintf("route add %s via %s", e.ServiceCIDR, e.Port.Address))
	f.ns.ip(t, "addr add "+e.PublicAddress+"/32 dev public") // answers for it
	f.nft(t, fmt.Sprintf(`add rule ip lab prerouting ip daddr %[1]s dnat to %[2]s
add rule ip lab postrouting oifname "public" ip saddr %[2]s snat to %[1]s
`, e.PublicAddress, e.Port.Address))
}

func (f *fabric) nft(t *testing.T, ruleset string) {
	t.Helper()
	var out logged
	cmd := exec.Command("nft", "-f", "-")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(ruleset), &out, &out
	if err := f.ns.start(cmd); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("nft: %v\n%s", err, out.String())
	}
}
