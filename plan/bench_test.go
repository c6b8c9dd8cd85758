package plan

import (
	"fmt"
	"testing"

	"github.com/vpnctl/vpnctl/plan/resource"
)

// estateOf is n gateways with four peers each and eighteen resources, made and
// unchanged. Both sides hold texts of their own, as they do when one is rendered
// and the other read.
func estateOf(n int) Input {
	sites := make([]site, n)
	for i := range sites {
		s := site{
			owner: fmt.Sprintf("VPNGateway/customer-%d/gateway-%d", i%(n/10+1), i), peers: map[string]string{}, grants: map[string][]string{},
			cidr: fmt.Sprintf("100.%d.%d.0/24", 64+i>>8, i&255), web: 10, plc: 200, server: fmt.Sprintf("worker-%d", i%100),
			address: fmt.Sprintf("203.%d.%d.1", i>>8, i&255), hop: fmt.Sprintf("10.254.%d.%d", i>>8, i&255), image: "vpnctl:1",
		}
		for n := range 4 {
			name := fmt.Sprintf("peer-%d", n)
			s.peers[name], s.grants[name] = fmt.Sprintf("198.%d.%d.%d", i>>8, i&255, n), []string{"web"}
		}
		sites[i] = s
	}
	w := between(sites, sites)
	for i := range sites { // the objects that the sites of these tests don't have
		for n := range 8 {
			id := resource.ID{Kind: "kubernetes.role", Namespace: sites[i].name().Namespace, Name: fmt.Sprintf("gateway-%d-%d", i, n)}
			r := resource.Resource{ID: id, Owner: sites[i].owner, Object: &resource.Object{Kind: "Role", Content: fmt.Sprintf("rules of %s\n", id)}}
			w.Desired.Add(r)
			r.Object = &resource.Object{Kind: "Role", Content: fmt.Sprintf("rules of %s\n", id)}
			r.Owner = string([]byte(r.Owner))
			w.Observed.Add(seen(r))
		}
	}
	return w.Input
}

func BenchmarkMake(b *testing.B) {
	for _, n := range []int{1000, 2000, 5000, 10000} {
		b.Run(fmt.Sprintf("gateways=%d", n), func(b *testing.B) {
			in := estateOf(n)
			b.ReportAllocs()
			for b.Loop() {
				if p := Make(in); len(p.Changes) > 0 || len(p.Refusals) > 0 {
					b.Fatalf("planned %v, refused %v", outline(p), p.Refusals)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n), "µs/gateway")
		})
	}
	for _, n := range []int{1000, 10000} {
		b.Run(fmt.Sprintf("new/gateways=%d", n), func(b *testing.B) {
			in := estateOf(n)
			in.Observed, in.Ledgers = nil, nil
			for b.Loop() {
				if p := Make(in); len(p.Changes) != len(in.Desired) {
					b.Fatalf("planned %d changes of %d", len(p.Changes), len(in.Desired))
				}
			}
		})
	}
}
