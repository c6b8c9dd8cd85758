package alloc_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

var compare = cmp.Options{
	cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }),
	cmp.Comparer(func(a, b netip.Addr) bool { return a == b }),
}

func owner(name string) vpn.Owner {
	return vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: "acme", Name: name}
}

func addr(s string) netip.Addr     { return netip.MustParseAddr(s) }
func prefix(s string) netip.Prefix { return netip.MustParsePrefix(s) }

// change is an edit of a gateway that a case starts from.
type change func(*vpn.Gateway)

func ipsec(name string, changes ...change) vpn.Gateway {
	g := vpn.Gateway{Owner: owner(name), Protocol: vpn.IPsec}
	for _, c := range changes {
		c(&g)
	}
	return g
}

func wireguard(name string, changes ...change) vpn.Gateway {
	g := vpn.Gateway{Owner: owner(name), Protocol: vpn.WireGuard, WireGuard: &vpn.Interface{}}
	for _, c := range changes {
		c(&g)
	}
	return g
}

func cidr(p string) change { return func(g *vpn.Gateway) { g.ServiceCIDR = prefix(p) } }

func road(p string) change { return func(g *vpn.Gateway) { g.WireGuard.RoadWarriorCIDR = prefix(p) } }

func exposure(name, pin string) change {
	return func(g *vpn.Gateway) {
		g.Exposures = append(g.Exposures, vpn.Exposure{Name: name, VirtualIP: optional(pin)})
	}
}

func reversed(name, pin string) change {
	return func(g *vpn.Gateway) {
		g.ReverseExposures = append(g.ReverseExposures, vpn.Exposure{Name: name, VirtualIP: optional(pin)})
	}
}

func optional(pin string) netip.Addr {
	if pin == "" {
		return netip.Addr{}
	}
	return addr(pin)
}

func site(name string) change {
	return func(g *vpn.Gateway) { g.Peers = append(g.Peers, vpn.Peer{Name: name}) }
}

func granted(name string) change {
	return func(g *vpn.Gateway) { g.Peers = append(g.Peers, vpn.Peer{Name: name, Grants: &vpn.Grants{}}) }
}

func warrior(name, pin string) change {
	return func(g *vpn.Gateway) {
		g.Peers = append(g.Peers, vpn.Peer{Name: name, RoadWarrior: true, TunnelIP: optional(pin)})
	}
}

func estate(gateways ...vpn.Gateway) vpn.Estate {
	return vpn.Estate{Name: "prod", ServiceCIDRPool: prefix("100.64.0.0/16"), Gateways: gateways}
}

// had is an observed ledger.
func had(name, cidr string, changes ...func(*alloc.Ledger)) alloc.Ledger {
	l := alloc.Ledger{Estate: "prod", Owner: owner(name), ServiceCIDR: prefix(cidr), Ref: "sg-" + name}
	for _, c := range changes {
		c(&l)
	}
	return l
}

func vips(octets map[string]byte) func(*alloc.Ledger) {
	return func(l *alloc.Ledger) { l.VirtualIPs = octets }
}

func addresses(octets map[string]byte) func(*alloc.Ledger) {
	return func(l *alloc.Ledger) { l.Addresses = octets }
}

func created(hour int) func(*alloc.Ledger) {
	return func(l *alloc.Ledger) { l.Created = time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC) }
}

func appliedOnce(l *alloc.Ledger) { l.Applied = "h1" }

func movingFrom(cidrs ...string) func(*alloc.Ledger) {
	return func(l *alloc.Ledger) {
		for _, c := range cidrs {
			l.MovingFrom = append(l.MovingFrom, prefix(c))
		}
	}
}

// show writes what was allocated to each owner as "dc1 100.64.0.0/24 web.10".
func show(ledgers map[vpn.Owner]alloc.Ledger) map[string]string {
	shown := map[string]string{}
	for o, l := range ledgers {
		text := l.ServiceCIDR.String()
		for _, e := range l.Entries() {
			if strings.HasPrefix(e.Name, "vips.") || strings.HasPrefix(e.Name, "addresses.") {
				text += " " + e.Value
			}
		}
		shown[o.Name] = text
	}
	return shown
}

func messages(problems []alloc.Problem) []string {
	var texts []string
	for _, p := range problems {
		texts = append(texts, p.Owner.Name+": "+p.Message)
	}
	return texts
}

type assignCase struct {
	in       alloc.Input
	want     map[string]string
	problems []string
}

func runAssign(t *testing.T, cases map[string]assignCase) {
	for sentence, c := range cases {
		t.Run(sentence, func(t *testing.T) {
			got, problems := alloc.Assign(c.in)
			if c.want == nil {
				c.want = map[string]string{}
			}
			if diff := cmp.Diff(c.want, show(got)); diff != "" {
				t.Errorf("ledgers (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.problems, messages(problems)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func linkOwner(name string) vpn.Owner { return vpn.Owner{Kind: vpn.KindClusterLink, Name: name} }
