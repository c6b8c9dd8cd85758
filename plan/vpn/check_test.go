package vpn_test

import (
	"net/netip"
	"testing"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

func whole() vpn.Estate {
	return vpn.Estate{
		Name: "prod", ServiceCIDRPool: netip.MustParsePrefix("100.64.0.0/16"), Kubernetes: vpn.Kubernetes{Target: vpn.TargetDirectory},
		Gateways: []vpn.Gateway{{
			Owner: vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: "acme", Name: "dc1"}, Protocol: vpn.IPsec, IKE: &vpn.IKE{},
			Exposures: []vpn.Exposure{{Name: "web", Target: vpn.Target{Host: "web.example.org"}}},
			Peers:     []vpn.Peer{{Name: "plant1", Address: netip.MustParseAddr("198.51.100.7"), ID: "plant1", Subnets: []netip.Prefix{netip.MustParsePrefix("192.168.10.0/24")}}},
			Links:     []string{"south"},
		}},
		Links: []vpn.Link{
			{Owner: vpn.Owner{Kind: vpn.KindClusterLink, Name: "north"}, Router: "north", CIDR: netip.MustParsePrefix("10.40.0.0/16"), TransitIP: netip.MustParseAddr("10.254.0.7")},
			{Owner: vpn.Owner{Kind: vpn.KindClusterLink, Name: "south"}, Router: "south", CIDR: netip.MustParsePrefix("10.50.0.0/16"), CustomerProject: "0f3c2a", Credentials: vpn.NamespacedRef{Namespace: "vpn", Name: "clusterlink-south"}},
		},
	}
}

func TestCheck(t *testing.T) {
	if err := whole().Check(); err != nil {
		t.Fatal(err)
	}
	for what, spoil := range map[string]func(e *vpn.Estate, g *vpn.Gateway){
		"no name":           func(e *vpn.Estate, _ *vpn.Gateway) { e.Name = "" },
		"no pool":           func(e *vpn.Estate, _ *vpn.Gateway) { e.ServiceCIDRPool = netip.Prefix{} },
		"an IPv6 pool":      func(e *vpn.Estate, _ *vpn.Gateway) { e.ServiceCIDRPool = netip.MustParsePrefix("fd00::/16") },
		"an unknown target": func(e *vpn.Estate, _ *vpn.Gateway) { e.Kubernetes.Target = "moon" },
		"a source with host bits": func(e *vpn.Estate, _ *vpn.Gateway) {
			e.InternalSourceCIDRs = []netip.Prefix{netip.MustParsePrefix("10.0.0.1/8")}
		},
		"the same gateway twice":   func(e *vpn.Estate, _ *vpn.Gateway) { e.Gateways = append(e.Gateways, e.Gateways[0]) },
		"a link as a gateway":      func(_ *vpn.Estate, g *vpn.Gateway) { g.Owner.Kind = vpn.KindClusterLink },
		"a namespace that climbs":  func(_ *vpn.Estate, g *vpn.Gateway) { g.Owner.Namespace = ".." },
		"no IKE":                   func(_ *vpn.Estate, g *vpn.Gateway) { g.IKE = nil },
		"no protocol":              func(_ *vpn.Estate, g *vpn.Gateway) { g.Protocol, g.IKE = "", nil },
		"both protocols":           func(_ *vpn.Estate, g *vpn.Gateway) { g.WireGuard = &vpn.Interface{} },
		"a /16 for a gateway":      func(_ *vpn.Estate, g *vpn.Gateway) { g.ServiceCIDR = netip.MustParsePrefix("100.64.0.0/16") },
		"an exposure with a brace": func(_ *vpn.Estate, g *vpn.Gateway) { g.Exposures[0].Name = "a}" },
		"an exposure twice":        func(_ *vpn.Estate, g *vpn.Gateway) { g.ReverseExposures = g.Exposures },
		"no target":                func(_ *vpn.Estate, g *vpn.Gateway) { g.Exposures[0].Target = vpn.Target{} },
		"ports of no protocol":     func(_ *vpn.Estate, g *vpn.Gateway) { g.Exposures[0].Target.Ports = []vpn.PortRange{{From: 1, To: 2}} },
		"a port range backwards": func(_ *vpn.Estate, g *vpn.Gateway) {
			g.Exposures[0].Target.Protocol, g.Exposures[0].Target.Ports = "tcp", []vpn.PortRange{{From: 2, To: 1}}
		},
		"a peer with a newline":   func(_ *vpn.Estate, g *vpn.Gateway) { g.Peers[0].Name = "a\nb" },
		"a peer twice":            func(_ *vpn.Estate, g *vpn.Gateway) { g.Peers = append(g.Peers, g.Peers[0]) },
		"a peer without address":  func(_ *vpn.Estate, g *vpn.Gateway) { g.Peers[0].Address = netip.Addr{} },
		"a site without subnets":  func(_ *vpn.Estate, g *vpn.Gateway) { g.Peers[0].Subnets = nil },
		"a link that is no label": func(_ *vpn.Estate, g *vpn.Gateway) { g.Links[0] = "a,b" },
		"the same link twice":     func(e *vpn.Estate, _ *vpn.Gateway) { e.Links = append(e.Links, e.Links[0]) },
		"a gateway as a link":     func(e *vpn.Estate, g *vpn.Gateway) { e.Links[0].Owner = g.Owner },
		"a link with a namespace": func(e *vpn.Estate, _ *vpn.Gateway) { e.Links[0].Owner.Namespace = "acme" },
		"a link of many parts":    func(e *vpn.Estate, _ *vpn.Gateway) { e.Links[0].Owner.Name = "north/../south" },
		"a link without router":   func(e *vpn.Estate, _ *vpn.Gateway) { e.Links[0].Router = "" },
		"a link with host bits":   func(e *vpn.Estate, _ *vpn.Gateway) { e.Links[0].CIDR = netip.MustParsePrefix("10.40.0.1/16") },
		"a link without network":  func(e *vpn.Estate, _ *vpn.Gateway) { e.Links[0].CIDR = netip.Prefix{} },
		"an IPv6 transit address": func(e *vpn.Estate, _ *vpn.Gateway) { e.Links[0].TransitIP = netip.MustParseAddr("fd00::7") },
		"a project and no Secret": func(e *vpn.Estate, _ *vpn.Gateway) { e.Links[1].Credentials = vpn.NamespacedRef{} },
		"a Secret and no project": func(e *vpn.Estate, _ *vpn.Gateway) { e.Links[1].CustomerProject = "" },
		"a pin in a customer's":   func(e *vpn.Estate, _ *vpn.Gateway) { e.Links[1].TransitIP = netip.MustParseAddr("10.254.0.8") },
	} {
		e := whole()
		spoil(&e, &e.Gateways[0])
		if e.Check() == nil {
			t.Errorf("%s: accepted", what)
		}
	}
}
