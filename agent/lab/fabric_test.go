//go:build e2e

package lab

import (
	"fmt"
	"testing"

	"github.com/vpnctl/vpnctl/agent/lab/netns"
)

// fabric is the network around the gateways: a router with the public network, the
// transit network and the services' network on it, each a bridge.
type fabric struct {
	ns       netns.Namespace
	services netns.Namespace // holds every service's address
	host     netns.Namespace // on the transit network, and so one that may use reverse exposures
	stranger netns.Namespace // on the public network
}

const (
	hostAddress     = "10.254.0.250"
	strangerAddress = "198.51.100.99"
)

func newFabric(t *testing.T) *fabric {
	t.Helper()
	f := &fabric{ns: netns.New(t, "fabric"), services: netns.New(t, "services"), host: netns.New(t, "host"), stranger: netns.New(t, "stranger")}
	f.ns.Sysctl(t, "net.ipv4.ip_forward", "1")
	f.ns.Sysctl(t, "net.ipv4.conf.all.send_redirects", "0")
	f.ns.Sysctl(t, "net.ipv4.conf.default.send_redirects", "0")
	for bridge, address := range map[string]string{"public": "198.51.100.1/24", "transit": "10.254.0.1/24", "services": "10.20.0.1/24"} {
		f.ns.IP(t, "link add "+bridge+" type bridge", "addr add "+address+" dev "+bridge, "link set "+bridge+" up")
	}
	f.join(t, f.services, "services", "10.20.0.15/24", "10.20.0.1")
	f.services.IP(t, "addr add 10.20.0.16/24 dev eth0", "addr add 10.20.0.17/24 dev eth0", "addr add 10.20.0.18/24 dev eth0")
	f.join(t, f.host, "transit", hostAddress+"/24", "10.254.0.1")
	f.join(t, f.stranger, "public", strangerAddress+"/24", "198.51.100.1")
	f.ns.Nft(t, "table ip lab { chain prerouting { type nat hook prerouting priority dstnat; }\nchain postrouting { type nat hook postrouting priority srcnat; }\n}")
	return f
}

// join puts a namespace on a bridge.
func (f *fabric) join(t *testing.T, n netns.Namespace, bridge, address, gateway string) {
	t.Helper()
	port := "to-" + n.Label()
	netns.Wire(t, n, "eth0", f.ns, port)
	f.ns.IP(t, "link set "+port+" master "+bridge)
	n.IP(t, "addr add "+address+" dev eth0", "route add default via "+gateway)
}

// port is what Nova and Neutron do for a gateway: a port on the transit network with
// its MAC address, its floating IP, and the route to its service CIDR.
func (f *fabric) port(t *testing.T, p *pod, mac string) {
	t.Helper()
	e := p.rendered.expect
	name := "port-" + p.name
	netns.Wire(t, p.ns, "net1", f.ns, name)
	p.ns.IP(t, "link set net1 down", "link set net1 address "+mac)
	f.ns.IP(t, "link set "+name+" master transit", fmt.Sprintf("route add %s via %s", e.ServiceCIDR, e.Port.Address))
	f.ns.IP(t, "addr add "+e.PublicAddress+"/32 dev public") // answers for it
	f.ns.Nft(t, fmt.Sprintf(`add rule ip lab prerouting ip daddr %[1]s dnat to %[2]s
add rule ip lab postrouting oifname "public" ip saddr %[2]s snat to %[1]s
`, e.PublicAddress, e.Port.Address))
}
