package alloc_test

import (
	"fmt"
	"testing"

	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// large is an estate of n gateways with two exposures, a reverse exposure, two
// sites and two road warriors each.
func large(n int) alloc.Input {
	in := alloc.Input{Estate: estate()}
	in.Estate.ServiceCIDRPool = prefix("100.0.0.0/8")
	for i := range n {
		in.Estate.Gateways = append(in.Estate.Gateways, wireguard(fmt.Sprintf("g%05d", i),
			exposure("web", ""), exposure("db", ""), reversed("plc", ""),
			granted("plant1"), granted("plant2"), warrior("ina", ""), warrior("bob", "")))
		in.Claims = append(in.Claims, alloc.Claim{Prefix: prefix(fmt.Sprintf("100.200.%d.%d/32", i/256%256, i%256)), By: "route"})
	}
	return in
}

func BenchmarkAssign(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		in := large(n)
		b.Run(fmt.Sprintf("new/%d", n), func(b *testing.B) { benchAssign(b, in, n) })
		got, _ := alloc.Assign(in)
		for _, l := range got {
			in.Ledgers = append(in.Ledgers, l)
		}
		b.Run(fmt.Sprintf("unchanged/%d", n), func(b *testing.B) { benchAssign(b, in, n) })
	}
}

func benchAssign(b *testing.B, in alloc.Input, n int) {
	b.ReportAllocs()
	for b.Loop() {
		if got, problems := alloc.Assign(in); len(got) != n || len(problems) > 0 {
			b.Fatalf("%d ledgers, problems %v", len(got), problems)
		}
	}
}

func BenchmarkPlace(b *testing.B) {
	var gateways []vpn.Owner
	var nodes []resource.Node
	for i := range 10000 {
		gateways = append(gateways, owner(fmt.Sprintf("g%05d", i)))
	}
	for i := range 600 {
		nodes = append(nodes, ready(fmt.Sprintf("n%03d", i)))
	}
	for b.Loop() {
		if placed := alloc.Place(gateways, nodes, alloc.Tenants{Most: 20}); len(placed.Nodes) != len(gateways) {
			b.Fatal("not all were placed")
		}
	}
}

func BenchmarkEntries(b *testing.B) {
	got, _ := alloc.Assign(large(1000))
	b.ReportAllocs()
	for b.Loop() {
		for _, l := range got {
			if _, err := alloc.ParseEntries(l.Entries()); err != nil {
				b.Fatal(err)
			}
		}
	}
}
