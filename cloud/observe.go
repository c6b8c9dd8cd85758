package cloud

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/hashicorp/go-multierror"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Observe asks every driver, side by side, and merges what they saw. One driver
// that can't see is an error for the whole: an incomplete picture is none.
func Observe(ctx context.Context, drivers []Driver, e vpn.Estate, s Scope) (*Observation, error) {
	seen := make([]*Observation, len(drivers))
	errs := make([]error, len(drivers))
	var clouds, others sync.WaitGroup
	s.Operators = func(ctx context.Context) (Operators, error) {
		others.Wait()
		return s.operators(seen), ctx.Err()
	}
	run := func(in *sync.WaitGroup, cloud bool) {
		for i, d := range drivers {
			if d.Handles(resource.KindSecurityGroup) == cloud {
				in.Go(func() { seen[i], errs[i] = d.Observe(ctx, e, s) })
			}
		}
	}
	run(&others, false) // all of them, before anybody waits for them
	run(&clouds, true)
	others.Wait()
	clouds.Wait()
	if err := Gather(errs); err != nil {
		return nil, fmt.Errorf("observing estate %s: %w", e.Name, err)
	}
	return merge(seen), nil
}

// Gather makes one error of those that are not nil: nil where there are none, a
// single one as it is.
func Gather(errs []error) error {
	var all *multierror.Error
	for _, err := range errs {
		if err != nil {
			all = multierror.Append(all, err)
		}
	}
	if all != nil && len(all.Errors) == 1 {
		return all.Errors[0]
	}
	return all.ErrorOrNil()
}

func merge(seen []*Observation) *Observation {
	all := &Observation{Graph: resource.Graph{}, Facts: resource.Facts{Gateways: map[string]resource.GatewayFacts{}}}
	for _, o := range seen {
		all.Graph.Merge(o.Graph)
		all.Ledgers = append(all.Ledgers, o.Ledgers...)
		all.Links = append(all.Links, o.Links...)
		all.Occupants = append(all.Occupants, o.Occupants...)
		all.Sides = union(all.Sides, o.Sides)
		all.Claims = append(all.Claims, o.Claims...)
		all.Unknown = append(all.Unknown, o.Unknown...)
		all.Pins = append(all.Pins, o.Pins...)
		all.Problems = append(all.Problems, o.Problems...)
		all.Notices = append(all.Notices, o.Notices...)
		all.Loose = append(all.Loose, o.Loose...)
		all.Ownerless = append(all.Ownerless, o.Ownerless...)
		all.Operated = append(all.Operated, o.Operated...)
		all.OperatorStopped = all.OperatorStopped || o.OperatorStopped
		all.Facts = join(all.Facts, o.Facts)
		all.Rollouts = union(all.Rollouts, o.Rollouts)
		all.Secrets = union(all.Secrets, o.Secrets)
		all.Namespaces = union(all.Namespaces, o.Namespaces)
		if !o.Now.IsZero() {
			all.Now = o.Now
		}
	}
	slices.SortFunc(all.Ledgers, func(a, b alloc.Ledger) int { return a.Owner.Compare(b.Owner) })
	nameNodes(all.Graph, all.Facts.Nodes)
	return all
}

// union is both maps; nil where both are.
func union[K comparable, V any](a, b map[K]V) map[K]V {
	if a == nil {
		return b
	}
	maps.Copy(a, b)
	return a
}

// join completes facts by those of another system; no fact has two sources.
func join(a, b resource.Facts) resource.Facts {
	if b.NetworkID != "" {
		a.NetworkID, a.Subnet, a.SubnetGateway, a.RouterID = b.NetworkID, b.Subnet, b.SubnetGateway, b.RouterID
	}
	a.Nodes = append(a.Nodes, b.Nodes...)
	maps.Copy(a.Gateways, b.Gateways)
	a.Links = union(a.Links, b.Links)
	return a
}

// nameNodes writes the node's name beside the server that a port is attached
// to: the cloud knows servers, only the Kubernetes side knows nodes.
func nameNodes(g resource.Graph, nodes []resource.Node) {
	for id, r := range g {
		if r.Port == nil || r.Port.Server == "" {
			continue
		}
		port := *r.Port
		port.Node = plan.NodeOn(port.Server, nodes, func() []string {
			o, _ := vpn.ParseOwner(r.Owner)
			return []string{plan.ToldNode(g, o)}
		})
		r.Port = &port
		g[id] = r
	}
}
