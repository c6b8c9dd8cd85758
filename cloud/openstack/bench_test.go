package openstack

import (
	"fmt"
	"testing"

	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// BenchmarkJudge is observing without the calls: what came back becomes
// resources, ledgers, facts and claims.
func BenchmarkJudge(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				v := manyGateways(n)
				b.StartTimer()
				if o := judge(v); len(o.Graph) != 5*n {
					b.Fatalf("%d resources, want %d", len(o.Graph), 5*n)
				}
			}
		})
	}
}

// manyGateways is the view of an estate with n gateways that are whole.
func manyGateways(n int) *view {
	v := &view{manifest: vpn.Estate{Name: "prod", ServiceCIDRPool: cidr("100.64.0.0/10")}}
	v.prefix, v.router = cidr("10.0.0.0/8"), router{ID: "r", Name: "gateway-router", Project: "p"}
	for i := range n {
		w := gatewayWish(fmt.Sprintf("dc%05d", i), fmt.Sprintf("100.%d.%d.0/24", 64+i/256, i%256), "s")
		address := fmt.Sprintf("10.1.%d.%d", i/250, i%250)
		v.manifest.Gateways = append(v.manifest.Gateways, vpn.Gateway{Owner: w.owner})
		w.ledger.Applied = "h"
		tags, udp, listen, ours := state.Tags("prod", w.owner), "udp", 500, state.RuleDescription("peer")
		g := group{ID: fmt.Sprint("g", i), Project: "p", Tags: state.LedgerTags(w.ledger), Rules: []rule{
			{Direction: "egress", Ether: "IPv4"}, {Direction: "egress", Ether: "IPv6"},
			{Direction: "ingress", Ether: "IPv4", Protocol: &udp, From: &listen, To: &listen, Description: &ours}}}
		p := port{ID: fmt.Sprint("p", i), Project: "p", Tags: tags, Device: "s", Groups: []string{g.ID},
			FixedIPs: []fixedIP{{Address: address}}, Pairs: []pair{{Address: w.ledger.ServiceCIDR.String()}}}
		v.groups = append(v.groups, ledgered{group: g, Ledger: w.ledger})
		v.ports = append(v.ports, p)
		v.floats = append(v.floats, floatingIP{ID: fmt.Sprint("f", i), Project: "p", Tags: tags, Port: &p.ID,
			Address: fmt.Sprintf("203.%d.%d.1", i/256, i%256)})
		v.router.Routes = append(v.router.Routes, hop{w.ledger.ServiceCIDR.String(), address})
	}
	v.routers = []router{v.router}
	v.hops = holdersOf(v.ports)
	return v
}
