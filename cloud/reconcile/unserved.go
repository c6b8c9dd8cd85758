package reconcile

import (
	"context"
	"maps"
	"slices"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
)

// frugal is a driver that can tell which kinds of what is desired can't be made where it
// writes, and aren't needed: the rest is.
type frugal interface {
	Unserved(ctx context.Context, desired, observed resource.Graph) (map[resource.Kind]plan.Notice, error)
}

// forgo leaves out of what is desired the kinds that can't be made and aren't needed, and
// says so once for all gateways.
func (d *decision) forgo(ctx context.Context) error {
	for _, driver := range d.Drivers {
		f, ok := driver.(frugal)
		if !ok {
			continue
		}
		unserved, err := f.Unserved(ctx, d.desired, d.seen.Graph)
		if err != nil {
			return err
		}
		if len(unserved) > 0 {
			d.desired = without(d.desired, unserved)
		}
		for _, k := range slices.Sorted(maps.Keys(unserved)) {
			d.notices = append(d.notices, unserved[k])
		}
	}
	return nil
}

// without leaves resources of some kinds out, and out of what others wait for.
func without(g resource.Graph, kinds map[resource.Kind]plan.Notice) resource.Graph {
	unserved := func(id resource.ID) bool {
		_, is := kinds[id.Kind]
		return is
	}
	rest := make(resource.Graph, len(g))
	for id, r := range g {
		if unserved(id) {
			continue
		}
		if slices.ContainsFunc(r.Needs, unserved) {
			r.Needs = slices.DeleteFunc(slices.Clone(r.Needs), unserved)
		}
		rest[id] = r
	}
	return rest
}
