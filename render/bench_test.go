package render

import (
	"fmt"
	"testing"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// BenchmarkRender renders gateways with four peers each. An iteration is all of them.
func BenchmarkRender(b *testing.B) {
	for _, n := range []int{100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			all := many(n)
			for b.Loop() {
				graph := resource.Graph{}
				for _, in := range all {
					g, problems := Gateway(in)
					if len(problems) > 0 {
						b.Fatal(problems)
					}
					graph.Merge(g)
				}
			}
		})
	}
}

// BenchmarkBefore reads what is granted now from the rendered objects.
func BenchmarkBefore(b *testing.B) {
	graph := resource.Graph{}
	for _, in := range many(1000) {
		g, _ := Gateway(in)
		graph.Merge(g)
	}
	for b.Loop() {
		if len(Before(graph)) != 1000 {
			b.Fatal("not all were read")
		}
	}
}

func many(n int) []Input {
	var all []Input
	for i := range n {
		in := acme()
		in.Gateway.Owner.Name = fmt.Sprintf("gw-%d", i)
		in.Gateway.Peers = nil
		for p := range 4 {
			peer := site(fmt.Sprintf("p%d-%d", i, p), fmt.Sprintf("198.51.100.%d", p), fmt.Sprintf("192.168.%d.0/24", p))
			peer.Grants = &vpn.Grants{Exposures: []string{"web"}}
			in.Gateway.Peers = append(in.Gateway.Peers, peer)
		}
		in.Gateway.Manifests = manifests(in.Gateway)
		in.Facts = facts(in.Gateway.Owner, in.Facts.Gateway("VPNGateway/acme/dc1"))
		all = append(all, in)
	}
	return all
}
