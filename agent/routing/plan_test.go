package routing

import (
	"net"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vishvananda/netlink"
)

var compare = []cmp.Option{
	cmp.AllowUnexported(rule{}, route{}, place{}),
	cmp.Comparer(func(a, b netip.Addr) bool { return a == b }), cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }),
}

func plan() Plan {
	return Plan{
		NIC: "net1", Address: netip.MustParseAddr("10.91.0.10"),
		Subnet: netip.MustParsePrefix("10.91.0.0/24"), Gateway: netip.MustParseAddr("10.91.0.1"),
	}
}

func TestRulesOfAPlan(t *testing.T) {
	source := netip.MustParsePrefix("10.91.0.10/32")
	all := []rule{
		{priority: 90, table: 220}, {priority: 99, table: 100, mark: 100}, {priority: 100, table: 100, source: source}, {priority: 101, table: 100, in: "net1"},
	}
	for sentence, c := range map[string]struct {
		change func(*Plan)
		want   []rule
	}{
		"ESP in the kernel comes in by the port": {func(*Plan) {}, all},
		"ESP in charon has an interface": {func(p *Plan) { p.Tunnel = "ipsec0" },
			append(all[:4:4], rule{priority: 102, table: 100, in: "ipsec0"})},
		"WireGuard's own packets don't go into the tunnel": {func(p *Plan) { p.Tunnel, p.WireGuard = "wg0", true },
			append([]rule{{priority: 90, table: 220, mark: 100, not: true}, all[1], all[2], all[3]}, rule{priority: 102, table: 100, in: "wg0"})},
	} {
		p := plan()
		c.change(&p)
		got := p.rules()
		if diff := cmp.Diff(c.want, got, compare...); diff != "" {
			t.Errorf("%s (-want +got)\n%s", sentence, diff)
		}
		for _, r := range got {
			back, plain := ruleOf(*r.kernel())
			if !plain || back != r || !r.ours() {
				t.Errorf("%s: %v comes back as %v, plain %t, ours %t", sentence, r, back, plain, r.ours())
			}
		}
	}
}

func TestRulesOfOthers(t *testing.T) {
	_, n, _ := net.ParseCIDR("10.0.0.0/8")
	mask := uint32(0xff)
	for sentence, change := range map[string]func(*netlink.Rule){
		"another table":           func(r *netlink.Rule) { r.Table = 300 },
		"the main table":          func(r *netlink.Rule) { r.Table = 254 },
		"a priority below ours":   func(r *netlink.Rule) { r.Priority = 98 },
		"a priority above ours":   func(r *netlink.Rule) { r.Priority = 103 },
		"a destination":           func(r *netlink.Rule) { r.Dst = n },
		"an outgoing interface":   func(r *netlink.Rule) { r.OifName = "eth0" },
		"a part of a mark":        func(r *netlink.Rule) { r.Mark, r.Mask = 100, &mask },
		"a protocol":              func(r *netlink.Rule) { r.IPProto = 17 },
		"a port":                  func(r *netlink.Rule) { r.Dport = netlink.NewRulePortRange(53, 53) },
		"a user":                  func(r *netlink.Rule) { r.UIDRange = netlink.NewRuleUIDRange(1, 2) },
		"a suppressed length":     func(r *netlink.Rule) { r.SuppressPrefixlen = 0 },
		"the tunnel's table, 100": func(r *netlink.Rule) { r.Table = 220 },
	} {
		k := plan().rules()[2].kernel()
		change(k)
		if r, plain := ruleOf(*k); plain && r.ours() {
			t.Errorf("%s: taken for ours: %v", sentence, r)
		}
	}
}

func TestRoutesOfAPlan(t *testing.T) {
	p := plan()
	p.Subnet = netip.MustParsePrefix("10.91.0.10/24") // written with an address in it
	for i, r := range p.routes(7) {
		k := r.kernel()
		back, ours := routeOf(*k)
		if diff := cmp.Diff(r, back, compare...); diff != "" || !ours {
			t.Errorf("route %d comes back otherwise, ours %t (-want +got)\n%s", i, ours, diff)
		}
		k.Protocol = 4
		if _, ours := routeOf(*k); ours {
			t.Errorf("route %d of another hand is taken for ours", i)
		}
	}
	if got := p.routes(7)[1].destination.String(); got != "10.91.0.0/24" {
		t.Errorf("the port's network is %s", got)
	}
}

func TestAddressesThatAreNotIPv4AreRefused(t *testing.T) {
	for sentence, change := range map[string]func(*Plan){
		"no address":    func(p *Plan) { p.Address = netip.Addr{} },
		"no subnet":     func(p *Plan) { p.Subnet = netip.Prefix{} },
		"an IPv6 route": func(p *Plan) { p.Gateway = netip.MustParseAddr("2001:db8::1") },
	} {
		p := plan()
		change(&p)
		if err := Ensure(p); err == nil {
			t.Errorf("%s: no error", sentence)
		}
	}
}

func TestAddressOfAnInterfaceMustBeOne(t *testing.T) {
	for _, mac := range []string{"", "(known after apply)", "fa:16:3e:00:00"} {
		if name, found, err := Find(mac); err == nil {
			t.Errorf("%q: found %t %q", mac, found, name)
		}
	}
	if name, found, err := Find("02:00:5e:10:00:ff"); err != nil || found {
		t.Errorf("an address that nothing has: %q, found %t, error %v", name, found, err)
	}
}
