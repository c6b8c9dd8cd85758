package openstack

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// What a manifest pins may lie on something that the lists show: then nobody is given it.
func TestRangesOfOthersAreClaims(t *testing.T) {
	l := newLab(t, simulator.Options{Seed: simulator.Seed{FloatingIPCIDR: "203.0.112.0/23"}})
	h := l.hand()
	f := h.facts()
	subnet := func(name, cidr string) {
		network := h.post("network", "networks", map[string]any{"name": name})
		h.post("subnet", "subnets", map[string]any{"name": name, "network_id": network, "ip_version": 4, "cidr": cidr})
	}
	subnet("around-the-pool", "100.64.0.0/10")
	subnet("in-the-pool", "100.64.9.0/28")
	l.reserve("203.0.113.150")
	h.post("port", portsPath, map[string]any{"network_id": f.NetworkID, "fixed_ips": []fixedIP{{Address: "10.254.0.88"}}})
	for _, to := range []string{"172.20.1.0/24", "172.20.2.128/25", "172.16.0.0/12", "172.30.3.0/25"} {
		h.do("PUT", routersPath+"/"+f.RouterID+"/add_extraroutes", body([]hop{{to, "10.254.0.88"}}))
	}
	for sentence, c := range map[string]struct {
		pin  string
		edit func(*vpn.Gateway)
		want string // who has it; empty: nobody
	}{
		"the transit subnet":               {"10.254.0.0/24", nil, "transit subnet vpn-transit"},
		"another subnet of the project":    {"10.250.7.0/24", nil, "subnet service-cluster-v4"},
		"one in the pool":                  {"100.64.9.0/24", nil, "subnet in-the-pool"},
		"beside it":                        {"100.64.10.0/24", nil, ""},
		"a router's outer address":         {"203.0.112.0/24", nil, "outer address of router gateway-router"},
		"a range that is routed elsewhere": {"172.20.1.0/24", nil, "route on router gateway-router via 10.254.0.88"},
		"a part of it is":                  {"172.20.2.0/24", nil, "route on router gateway-router via 10.254.0.88"},
		"a range around it is":             {"172.20.3.0/24", nil, ""},
		"the range around a pinned road warriors'": {"172.30.3.0/24", func(g *vpn.Gateway) {
			g.ServiceCIDR, g.WireGuard = netip.Prefix{}, &vpn.Interface{RoadWarriorCIDR: cidr("172.30.3.192/26")}
		}, "route on router gateway-router via 10.254.0.88"},
		"what nobody has": {"192.0.2.0/24", nil, ""},
		"a floating IP":   {"203.0.113.0/24", func(g *vpn.Gateway) { g.FloatingIP = netip.MustParseAddr("203.0.113.150") }, "a floating IP"},
	} {
		t.Run(sentence, func(t *testing.T) {
			pin := cidr(c.pin)
			g := vpn.Gateway{Owner: owner("dc1"), Protocol: vpn.IPsec, ServiceCIDR: pin}
			if c.edit != nil {
				c.edit(&g)
			}
			e := estate()
			e.Gateways = []vpn.Gateway{g}
			o, err := l.connect("operator").Observe(t.Context(), e, keep)
			if err != nil {
				t.Fatal(err)
			}
			by := ""
			for _, x := range o.Claims {
				if x.Prefix.Overlaps(pin) && by == "" {
					by = x.By
				}
			}
			if diff := cmp.Diff(c.want, by); diff != "" {
				t.Errorf("(-want +got):\n%s\nclaims %v", diff, o.Claims)
			}
		})
	}
}

// Of a network that another project lends, the call shows the pools' subnets instead,
// where these may be seen, and nothing of third projects.
func TestRangesBesideALentNetwork(t *testing.T) {
	l := newLab(t, simulator.Options{})
	theirs := hand{l, l.connect("customer")}
	network := theirs.post("network", "networks", map[string]any{"name": "lent"})
	theirs.post("subnet", "subnets", map[string]any{"network_id": network, "ip_version": 4, "cidr": "10.77.0.0/24"})
	admin := hand{l, l.connect("operator-admin")}
	admin.put("network", "networks/"+network, map[string]any{"shared": true})
	e := estate()
	e.OpenStack.Network = "lent"
	for name, want := range map[string][]alloc.Claim{
		"operator":       {{Prefix: cidr("10.77.0.0/24"), By: "transit subnet lent"}},
		"operator-admin": {{Prefix: cidr("10.77.0.0/24"), By: "transit subnet lent"}, {Prefix: cidr("203.0.113.0/24"), By: "subnet public-v4"}},
	} {
		o, err := l.connect(name).Observe(t.Context(), e, keep)
		if err != nil {
			t.Fatal(err)
		}
		var got []alloc.Claim
		for _, c := range o.Claims {
			if c.Prefix.Bits() < 32 {
				got = append(got, c)
			}
		}
		if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
