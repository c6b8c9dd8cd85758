package render

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

func TestRules(t *testing.T) {
	egress := []string{"egress any anywhere (default)", "egress ipv6 any anywhere (default)"}
	wireguard := func(peers ...vpn.Peer) vpn.Gateway {
		return vpn.Gateway{Protocol: vpn.WireGuard, WireGuard: &vpn.Interface{ListenPort: 51820}, Peers: peers}
	}
	reverse := func(name, protocol string, ports ...vpn.PortRange) vpn.Exposure {
		return vpn.Exposure{Name: name, Target: vpn.Target{Protocol: protocol, Ports: ports}}
	}
	for sentence, c := range map[string]struct {
		gateway  vpn.Gateway
		internal []string
		want     []string
	}{
		"nothing comes in where there is no peer": {vpn.Gateway{Protocol: vpn.IPsec}, nil, nil},
		"an IPsec peer may speak IKE and ESP in UDP": {
			vpn.Gateway{Protocol: vpn.IPsec, Peers: []vpn.Peer{site("a", "198.51.100.7")}}, nil,
			[]string{"ingress udp 500 198.51.100.7/32 (peer a)", "ingress udp 4500 198.51.100.7/32 (peer a)"},
		},
		"two peers behind one address share their rules": {
			vpn.Gateway{Protocol: vpn.IPsec, Peers: []vpn.Peer{site("b", "198.51.100.7"), site("a", "198.51.100.7")}}, nil,
			[]string{"ingress udp 500 198.51.100.7/32 (peer a, peer b)", "ingress udp 4500 198.51.100.7/32 (peer a, peer b)"},
		},
		"a WireGuard peer is pinned by a literal endpoint": {
			wireguard(vpn.Peer{Name: "a", Endpoint: "198.51.100.7:1"}), nil, []string{"ingress udp 51820 198.51.100.7/32 (peer a)"},
		},
		"a host name, no endpoint and a road warrior come from anywhere": {
			wireguard(vpn.Peer{Name: "a", Endpoint: "a.example.org:1"}, vpn.Peer{Name: "b"}, vpn.Peer{Name: "c", RoadWarrior: true}), nil,
			[]string{"ingress udp 51820 anywhere (peer a, peer b, peer c)"},
		},
		"a road warrior comes from anywhere, whatever its endpoint": {
			wireguard(vpn.Peer{Name: "a", RoadWarrior: true, Endpoint: "198.51.100.7:1"}), nil, []string{"ingress udp 51820 anywhere (peer a)"},
		},
		"a reverse exposure is open to each internal source, by port": {
			vpn.Gateway{ReverseExposures: []vpn.Exposure{reverse("x", "tcp", vpn.PortRange{From: 80, To: 80}, vpn.PortRange{From: 8000, To: 8010})}},
			[]string{"10.1.0.0/16", "10.2.0.0/16"},
			[]string{
				"ingress tcp 80 10.1.0.0/16 (reverse exposure x)", "ingress tcp 80 10.2.0.0/16 (reverse exposure x)",
				"ingress tcp 8000-8010 10.1.0.0/16 (reverse exposure x)", "ingress tcp 8000-8010 10.2.0.0/16 (reverse exposure x)",
			},
		},
		"one without ports is open for everything": {
			vpn.Gateway{ReverseExposures: []vpn.Exposure{reverse("x", "")}}, []string{"10.1.0.0/16"},
			[]string{"ingress any 10.1.0.0/16 (reverse exposure x)"},
		},
		"two of one port share a rule": {
			vpn.Gateway{ReverseExposures: []vpn.Exposure{reverse("x", "tcp", vpn.PortRange{From: 80, To: 80}), reverse("y", "tcp", vpn.PortRange{From: 80, To: 80})}},
			[]string{"10.1.0.0/16"}, []string{"ingress tcp 80 10.1.0.0/16 (reverse exposure x, reverse exposure y)"},
		},
		"without internal sources nothing of it is open": {
			vpn.Gateway{ReverseExposures: []vpn.Exposure{reverse("x", "udp", vpn.PortRange{From: 53, To: 53})}}, nil, nil,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			var got []string
			for _, r := range rules(c.gateway, networks(c.internal...)) {
				got = append(got, r.String()+" ("+r.Why+")")
			}
			if diff := cmp.Diff(append(egress[:2:2], c.want...), got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
