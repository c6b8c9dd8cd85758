package render

import (
	"fmt"

	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/nat"
	"github.com/vpnctl/vpnctl/render/pod"
	"github.com/vpnctl/vpnctl/render/swanctl"
	"github.com/vpnctl/vpnctl/render/wgconf"
)

// config is the data of the protocol's ConfigMap.
func (r *rendering) config() (map[string]string, error) {
	agent, err := r.expectation().Text()
	if err != nil {
		return nil, fmt.Errorf("writing %s: %w", pod.KeyAgent, err)
	}
	if r.in.Gateway.Protocol == vpn.WireGuard {
		text, err := wgconf.Of(r.in.Gateway, r.in.Ledger.Address).Text()
		return map[string]string{pod.KeyWireGuard: text, pod.KeyAgent: agent}, err
	}
	text, err := swanctl.Of(r.in.Gateway, r.floatingIP, r.in.Ledger.ServiceCIDR).Text()
	return map[string]string{
		pod.KeySwanctl: text,
		pod.KeyDaemon:  swanctl.Daemon(r.in.Estate.Pod.IPsecDataplane),
		pod.KeyAgent:   agent,
	}, err
}

func (r *rendering) ruleset() (string, error) {
	table, err := nat.Of(nat.Input{
		Gateway:   r.in.Gateway,
		Ledger:    r.in.Ledger,
		Internal:  r.in.Estate.InternalSourceCIDRs,
		Dataplane: r.in.Estate.Pod.IPsecDataplane,
		Address:   r.port.Address,
	})
	if err != nil {
		return "", err
	}
	return table.Text()
}

// expectation is what the agent should find and report on.
func (r *rendering) expectation() vpn.Expectation {
	g := r.in.Gateway
	e := vpn.Expectation{
		Estate: r.in.Estate.Name, Gateway: g.Owner, Protocol: g.Protocol, Dataplane: r.in.Estate.Pod.Dataplane(g.Protocol),
		PublicAddress: r.floatingIP, ServiceCIDR: r.in.Ledger.ServiceCIDR, Port: r.port,
		Reserved: r.in.Estate.Reserved(r.in.Ledger.ServiceCIDR), Peers: []vpn.ExpectedPeer{},
	}
	if g.WireGuard != nil {
		e.PrivateKey = g.WireGuard.PrivateKey
	}
	for _, p := range g.Peers {
		e.Peers = append(e.Peers, r.expectedPeer(p))
	}
	for _, x := range g.Exposures {
		if x.Target.Host != "" {
			e.Hosts = append(e.Hosts, vpn.ExpectedHost{
				Exposure: x.Name, Host: x.Target.Host, Map: nat.HostMap(x.Name), VirtualIP: r.in.Ledger.VirtualIP(x.Name),
			})
		}
	}
	return e
}

func (r *rendering) expectedPeer(p vpn.Peer) vpn.ExpectedPeer {
	access := r.in.Gateway.Access(p)
	e := vpn.ExpectedPeer{
		Name: p.Name, Sources: p.Sources(r.in.Ledger.Address(p.Name)), Access: access,
		Unauthorized: len(access.Exposures)+len(access.ReverseExposures) == 0,
	}
	if r.in.Gateway.Protocol == vpn.WireGuard {
		e.PublicKey, e.Endpoint, e.PresharedKey, e.Roaming = p.PublicKey, p.Endpoint, p.PresharedKey, p.Roaming()
		return e
	}
	e.ID, e.PresharedKey = p.ID, p.PSK
	e.Children = swanctl.ChildNames(p)
	return e
}
