package agent

import (
	"net"
	"net/netip"

	"github.com/vpnctl/vpnctl/agent/firewall"
	"github.com/vpnctl/vpnctl/agent/routing"
	"github.com/vpnctl/vpnctl/render/nat"
)

// kernelNetwork is the network namespace that this process runs in.
type kernelNetwork struct{}

func (kernelNetwork) Find(mac string) (string, bool, error) { return routing.Find(mac) }

func (kernelNetwork) Addresses() ([]netip.Addr, error) {
	all, err := net.InterfaceAddrs()
	var own []netip.Addr
	for _, a := range all {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			own = append(own, p.Addr())
		}
	}
	return own, err
}

func (kernelNetwork) Sysctls(nic, tunnel string) []string {
	return routing.Sysctls{}.Ensure(nic, tunnel)
}

func (kernelNetwork) Route(p routing.Plan) error { return routing.Ensure(p) }

func (kernelNetwork) RouteTunnel(device string, peers []netip.Prefix) error {
	return routing.EnsureTunnel(device, peers)
}

// kernelFirewall is that namespace's nftables table and its connections.
type kernelFirewall struct{ firewall.Table }

func (*kernelFirewall) Cut(t nat.Table, hosts []firewall.Host) (int, error) {
	return firewall.CutFlows(t, hosts)
}
