package reconcile_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/reconcile"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render"
)

// settled is an estate of n gateways with four peers each, made and unchanged:
// what a run reads of it, and what it renders.
type settled struct {
	in      reconcile.Input
	seen    *cloud.Observation
	desired resource.Graph
}

func settle(b *testing.B, n int) settled {
	b.Helper()
	e := many(b, n)
	e.ServiceCIDRPool = netip.MustParsePrefix("100.0.0.0/8")
	s := settled{
		in:      reconcile.Input{Estate: e, Manifests: 5 * n, Now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)},
		seen:    &cloud.Observation{Graph: resource.Graph{}},
		desired: resource.Graph{},
	}
	s.seen.Facts = resource.Facts{NetworkID: "network", RouterID: "router", Subnet: netip.MustParsePrefix("10.128.0.0/9"),
		SubnetGateway: netip.MustParseAddr("10.128.0.1"), Gateways: map[string]resource.GatewayFacts{}}
	for _, node := range e.Kubernetes.Nodes {
		s.seen.Facts.Nodes = append(s.seen.Facts.Nodes, resource.Node{Name: node.Name, ServerID: node.ServerID, Ready: true})
	}
	ledgers, problems := alloc.Assign(alloc.Input{Estate: e})
	if len(problems) > 0 {
		b.Fatal(problems)
	}
	var standing []vpn.Owner
	for i, g := range e.Gateways {
		s.provision(b, i, g, ledgers[g.Owner])
		standing = append(standing, g.Owner)
	}
	slices.SortFunc(s.seen.Ledgers, func(x, y alloc.Ledger) int { return x.Owner.Compare(y.Owner) })
	s.observe(render.Index(e.Name, standing)...)
	return s
}

// provision gives one gateway all that it has after an apply.
func (s *settled) provision(b *testing.B, i int, g vpn.Gateway, l alloc.Ledger) {
	node := s.seen.Facts.Nodes[i%len(s.seen.Facts.Nodes)]
	facts := s.seen.Facts
	facts.Gateways = map[string]resource.GatewayFacts{g.Owner.String(): {
		FloatingIP:  netip.AddrFrom4([4]byte{11, byte(i >> 16), byte(i >> 8), byte(i)}),
		PortID:      fmt.Sprintf("port of %s", g.Owner),
		PortAddress: netip.AddrFrom4([4]byte{10, 129 + byte(i>>16), byte(i >> 8), byte(i)}),
		MAC:         fmt.Sprintf("fa:16:3e:%02x:%02x:%02x", byte(i>>16), byte(i>>8), byte(i)),
		ServerID:    node.ServerID,
	}}
	s.seen.Facts.Gateways[g.Owner.String()] = facts.Gateway(g.Owner.String())
	graph, problems := render.Gateway(render.Input{Estate: s.in.Estate, Gateway: g, Ledger: l, Node: node, Facts: facts})
	if len(problems) > 0 {
		b.Fatal(problems)
	}
	s.desired.Merge(graph)
	for _, id := range graph.IDs() {
		if a := graph[id].Applied; a != nil {
			l.Applied = a.Hash
		}
		s.observe(graph[id])
	}
	l.Ref = "group of " + g.Owner.String()
	s.seen.Ledgers = append(s.seen.Ledgers, l)
}

// observe makes resources ones that are seen, with texts of their own, as if they
// had been read.
func (s *settled) observe(rs ...resource.Resource) {
	for _, r := range rs {
		r.Owner, r.Needs, r.Ref, r.Proof = strings.Clone(r.Owner), nil, "ref", "tag owner="+r.Owner
		if r.Object != nil {
			o := *r.Object
			o.Content = strings.Clone(o.Content)
			r.Object = &o
		}
		s.seen.Graph.Add(r)
	}
}

// BenchmarkPlanningAlone allocates and plans an unchanged estate of four peers a
// gateway from graphs that were rendered and read before. That the time for a
// gateway is the same at each size shows that it grows in proportion.
func BenchmarkPlanningAlone(b *testing.B) {
	for _, n := range []int{1000, 5000, 10000} {
		b.Run(fmt.Sprintf("gateways=%d", n), func(b *testing.B) {
			s := settle(b, n)
			before := render.Before(s.seen.Graph)
			in := plan.Input{
				Estate: s.in.Estate, Desired: s.desired, Observed: s.seen.Graph, Ledgers: s.seen.Ledgers, Now: s.in.Now, Manifests: s.in.Manifests,
				Judge: render.Judge, Before: before,
				Index: func(standing []vpn.Owner) []resource.Resource { return render.Index(s.in.Estate.Name, standing) },
			}
			b.ReportAllocs()
			for b.Loop() {
				if got, problems := alloc.Assign(alloc.Input{Estate: s.in.Estate, Ledgers: s.seen.Ledgers}); len(got) != n || len(problems) > 0 {
					b.Fatalf("%d ledgers, problems %v", len(got), problems)
				}
				wantUnchanged(b, plan.Make(in))
			}
			perGateway(b, n)
		})
	}
}

// BenchmarkDecide is all of a run that is no I/O: it allocates, places, renders
// and plans an unchanged estate of 1,000 gateways.
func BenchmarkDecide(b *testing.B) {
	s := settle(b, 1000)
	b.ReportAllocs()
	for b.Loop() {
		wantUnchanged(b, reconcile.Decide(s.in, s.seen).Plan)
	}
	perGateway(b, 1000)
}

func perGateway(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n), "µs/gateway")
}

func wantUnchanged(b *testing.B, p plan.Plan) {
	b.Helper()
	if len(p.Refusals) > 0 {
		b.Fatalf("%d refusals, the first: %+v", len(p.Refusals), p.Refusals[0])
	}
	if changes := p.Pending(); len(changes) > 0 {
		b.Fatalf("%d changes, the first: %s %s: %s", len(changes), changes[0].Action, changes[0].ID, changes[0].Reason)
	}
}
