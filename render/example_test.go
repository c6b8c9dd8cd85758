package render

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"time"

	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

func addr(s string) netip.Addr      { return netip.MustParseAddr(s) }
func network(s string) netip.Prefix { return netip.MustParsePrefix(s) }

func networks(all ...string) []netip.Prefix {
	var out []netip.Prefix
	for _, s := range all {
		out = append(out, network(s))
	}
	return out
}

func estate() vpn.Estate {
	return vpn.Estate{
		Name:                "prod-fra1",
		OpenStack:           vpn.OpenStack{Network: "vpn-transit", Router: "gateway-router", FloatingIPPool: "public"},
		Kubernetes:          vpn.Kubernetes{Target: vpn.TargetDirectory, Directory: "deploy"},
		ServiceCIDRPool:     network("100.64.0.0/16"),
		InternalSourceCIDRs: networks("10.254.0.0/24"),
		Pod:                 vpn.Pod{MaxGatewaysPerNode: 20, IPsecDataplane: vpn.DataplaneKernel},
		NetworkPolicy:       true,
	}
}

func facts(owner vpn.Owner, known resource.GatewayFacts) resource.Facts {
	return resource.Facts{
		NetworkID: "11111111-1111-1111-1111-111111111111", Subnet: network("10.254.0.0/24"), SubnetGateway: addr("10.254.0.1"),
		RouterID: "22222222-2222-2222-2222-222222222222",
		Gateways: map[string]resource.GatewayFacts{owner.String(): known},
	}
}

func manifests(g vpn.Gateway) []vpn.Manifest {
	one := func(kind, name, spec string) vpn.Manifest {
		data, _ := json.Marshal(map[string]any{
			"apiVersion": "vpn.bnerd.net/v1alpha1", "kind": kind,
			"metadata": map[string]any{"name": name, "labels": map[string]string{"team": "network"}},
			"spec":     json.RawMessage(spec),
		})
		return vpn.Manifest{APIVersion: "vpn.bnerd.net/v1alpha1", Kind: kind, Namespace: g.Owner.Namespace, Name: name, JSON: string(data)}
	}
	all := []vpn.Manifest{one("VPNGateway", g.Owner.Name, fmt.Sprintf(`{"protocol":%q}`, g.Protocol))}
	for _, p := range g.Peers {
		all = append(all, one("VPNPeer", p.Name, fmt.Sprintf(`{"gatewayRef":%q}`, g.Owner.Name)))
	}
	return all
}

func ike() *vpn.IKE {
	return &vpn.IKE{Proposals: []string{"aes256-sha256-ecp256"}, Lifetime: 24 * time.Hour, DPDDelay: 30 * time.Second, DPDTimeout: 150 * time.Second}
}

func site(name, address string, subnets ...string) vpn.Peer {
	return vpn.Peer{
		Name: name, Address: addr(address), ID: name + ".example.org", Subnets: networks(subnets...), Selectors: vpn.PerSubnet,
		ESPProposals: []string{"aes256gcm16-prfsha384-ecp384"}, ESPLifetime: 12 * time.Hour, PSK: vpn.SecretRef{Name: name + "-psk", Key: "psk"},
	}
}

// acme is an IPsec gateway with one peer, two exposures and one reverse exposure.
func acme() Input {
	owner := vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: "acme", Name: "dc1"}
	g := vpn.Gateway{
		Owner: owner, Position: "acme.yaml:1:1", Protocol: vpn.IPsec, IKE: ike(),
		Exposures: []vpn.Exposure{
			{Name: "erp", Target: vpn.Target{Host: "erp.internal.example.org", Protocol: "tcp", Ports: []vpn.PortRange{{From: 443, To: 443}}}},
			{Name: "web", Target: vpn.Target{Address: addr("10.20.0.5"), Protocol: "tcp", Ports: []vpn.PortRange{{From: 80, To: 80}, {From: 443, To: 443}}}},
		},
		ReverseExposures: []vpn.Exposure{{Name: "scada", Target: vpn.Target{Address: addr("192.168.10.9"), Protocol: "tcp", Ports: []vpn.PortRange{{From: 502, To: 502}}}}},
		Peers:            []vpn.Peer{site("plant1", "198.51.100.7", "192.168.10.0/24", "192.168.20.0/24")},
	}
	g.Manifests = manifests(g)
	return Input{
		Estate: estate(), Gateway: g,
		Ledger: alloc.Ledger{Estate: "prod-fra1", Owner: owner, Protocol: vpn.IPsec, ServiceCIDR: network("100.64.3.0/24"),
			VirtualIPs: map[string]byte{"erp": 10, "web": 11, "scada": 200}, Peers: []string{"plant1"}},
		Node:  resource.Node{Name: "worker-2", ServerID: "33333333-3333-3333-3333-333333333333", Ready: true},
		Facts: facts(owner, resource.GatewayFacts{FloatingIP: addr("203.0.113.20"), PortID: "p", PortAddress: addr("10.254.0.17"), MAC: "fa:16:3e:00:00:17"}),
	}
}

// globex is a WireGuard gateway with two sites and a road warrior, and grants.
func globex() Input {
	owner := vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: "globex", Name: "remote"}
	g := vpn.Gateway{
		Owner: owner, Protocol: vpn.WireGuard,
		WireGuard: &vpn.Interface{ListenPort: 51820, PrivateKey: vpn.SecretRef{Name: "remote-wg-key", Key: "privateKey"}, GeneratedKey: true},
		Exposures: []vpn.Exposure{
			{Name: "dns", Target: vpn.Target{Address: addr("10.20.0.53"), Protocol: "udp", Ports: []vpn.PortRange{{From: 53, To: 53}}}},
			{Name: "files", Target: vpn.Target{Address: addr("10.20.0.9")}},
		},
		Peers: []vpn.Peer{
			{Name: "berlin", PublicKey: "xTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8Dg=", Subnets: networks("192.168.10.0/24"), Endpoint: "198.51.100.30:51820",
				Keepalive: 25, PresharedKey: vpn.SecretRef{Name: "berlin-psk", Key: "psk"}, Grants: &vpn.Grants{Exposures: []string{"dns", "files"}}},
			{Name: "ina", PublicKey: "TrMvSoP4jYQlY6RIzBgbssQqY3vxI2Pi+y71lOWWXX0=", RoadWarrior: true, Grants: &vpn.Grants{Exposures: []string{"dns"}}},
			{Name: "oslo", PublicKey: "gN65BkIKy1eCE9pP1wdc8ROUtkHLF2PfAqYdyYBz6EA=", Subnets: networks("192.168.40.0/24"), Endpoint: "vpn.oslo.example.org:51820"},
		},
	}
	g.Manifests = manifests(g)
	return Input{
		Estate: estate(), Gateway: g,
		Ledger: alloc.Ledger{Estate: "prod-fra1", Owner: owner, Protocol: vpn.WireGuard, ServiceCIDR: network("100.64.7.0/24"),
			VirtualIPs: map[string]byte{"dns": 10, "files": 11}, Addresses: map[string]byte{"ina": 199}, Peers: []string{"berlin", "ina", "oslo"}, Grants: true},
		Node:  resource.Node{Name: "worker-3", ServerID: "44444444-4444-4444-4444-444444444444", Ready: true},
		Facts: facts(owner, resource.GatewayFacts{FloatingIP: addr("203.0.113.21"), PortID: "p", PortAddress: addr("10.254.0.18"), MAC: "fa:16:3e:00:00:18"}),
	}
}

// initech is an IPsecGateway with two tunnels, nothing of which exists yet, on an
// estate with everything that is optional.
func initech() Input {
	owner := vpn.Owner{Kind: vpn.KindIPsecGateway, Namespace: "initech", Name: "old"}
	g := vpn.Gateway{
		Owner: owner, Protocol: vpn.IPsec, IKE: ike(), Open: true, SourcesOptional: true,
		Exposures: []vpn.Exposure{{Name: "web", Target: vpn.Target{Address: addr("10.20.0.5"), Protocol: "tcp", Ports: []vpn.PortRange{{From: 443, To: 443}}}}},
		Peers:     []vpn.Peer{site("east", "198.51.100.40", "172.16.0.0/24"), site("west", "198.51.100.41", "172.16.1.0/24", "172.16.2.0/24")},
	}
	for i := range g.Peers {
		g.Peers[i].Selectors, g.Peers[i].PSK = vpn.Joined, vpn.SecretRef{Name: "old-psk", Key: "psk"}
	}
	g.Manifests = []vpn.Manifest{{APIVersion: "ipsec.bnerd.net/v1alpha1", Kind: "IPsecGateway", Namespace: "initech", Name: "old", JSON: `{"metadata":{"name":"old"},"spec":{"ike":{"version":2}}}`}}
	e := estate()
	e.Monitoring = vpn.Monitoring{PodMonitor: true, PrometheusRule: true}
	e.Pod = vpn.Pod{
		Image: "images.example.org/vpnctl:1", PriorityClassName: "system-cluster-critical", IPsecDataplane: vpn.DataplaneUserspace,
		Resources: json.RawMessage(`{"limits":{"memory":"512Mi"},"requests":{"cpu":"0.1"}}`), Tolerations: json.RawMessage(`[{"key":"gateways","operator":"Exists"}]`),
	}
	return Input{
		Estate: e, Gateway: g,
		Ledger: alloc.Ledger{Estate: "prod-fra1", Owner: owner, Protocol: vpn.IPsec, ServiceCIDR: network("100.64.9.0/24"), VirtualIPs: map[string]byte{"web": 10}},
		Facts:  facts(owner, resource.GatewayFacts{}),
	}
}
