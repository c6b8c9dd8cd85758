package reconcile

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// searcher is a driver that finds objects of gateways that go which lost their marks by
// another hand, and refuses those that stand in the way of removing the rest.
type searcher interface {
	Strays(ctx context.Context, estate string, leaving []vpn.Owner, observed resource.Graph) ([]resource.Resource, []plan.Refusal, error)
}

// leaving are the owners that this run removes, as far as they are known.
func (in Input) leaving(seen *cloud.Observation) []vpn.Owner {
	goes := maps.Clone(in.Deleted)
	if in.Deleted == nil {
		goes = map[vpn.Owner]bool{}
		for _, o := range present(seen) {
			goes[o] = in.Options.Prune && !in.Spares(o)
		}
	}
	for o := range in.written() {
		delete(goes, o)
	}
	maps.DeleteFunc(goes, func(_ vpn.Owner, is bool) bool { return !is })
	return slices.SortedFunc(maps.Keys(goes), vpn.Owner.Compare)
}

// gather puts into the graph what belongs to gateways that go and doesn't say so: it
// would be left behind, and its port and address taken from under a pod. What belongs to
// others without saying so is left to them.
func (in Input) gather(ctx context.Context, seen *cloud.Observation) error {
	leaving := in.leaving(seen)
	for _, driver := range in.Drivers {
		d, searches := driver.(searcher)
		if !searches || len(leaving) == 0 {
			continue
		}
		// what carries our labels is known, though not whose it is
		known := maps.Clone(seen.Graph)
		for _, r := range seen.Ownerless {
			if _, goes := goesWith(r, in.Estate, leaving); goes {
				known.Add(r)
			}
		}
		found, refused, err := d.Strays(ctx, in.Estate.Name, leaving, known)
		if err != nil {
			return err
		}
		for _, r := range found {
			seen.Graph.Add(r)
		}
		seen.Problems = append(seen.Problems, refused...)
	}
	for _, r := range seen.Ownerless {
		if _, found := seen.Graph[r.ID]; found || in.Deleted != nil && r.ID.Kind.Manifest() {
			continue
		}
		if o, goes := goesWith(r, in.Estate, leaving); goes {
			r.Owner, r.Proof = o.String(), "label "+state.LabelGateway+"="+o.Name
			seen.Graph.Add(r)
			continue
		}
		seen.Notices = append(seen.Notices, plan.Notice{
			Message: fmt.Sprintf("%s carries the estate's labels, but not the annotation %s: left alone", r.ID, resource.OwnerAnnotation),
			Hint:    "put the annotation back, or take the labels off",
		})
	}
	return nil
}

// goesWith is the gateway that an object without an owner goes with: its label names it,
// and no gateway of that name stays.
func goesWith(r resource.Resource, e vpn.Estate, leaving []vpn.Owner) (vpn.Owner, bool) {
	name := gatewayLabel(r)
	if _, stays := e.Gateway(r.ID.Namespace + "/" + name); name == "" || stays {
		return vpn.Owner{}, false
	}
	i := slices.IndexFunc(leaving, func(o vpn.Owner) bool { return o.Namespace == r.ID.Namespace && o.Name == name })
	if i < 0 {
		return vpn.Owner{}, false
	}
	return leaving[i], true
}

// gatewayLabel is which gateway an object's label names, as it was observed.
func gatewayLabel(r resource.Resource) string {
	if r.Object == nil || r.Object.Live == nil {
		return ""
	}
	meta, _ := r.Object.Live.Value()["metadata"].(map[string]any)
	labels, _ := meta["labels"].(map[string]any)
	name, _ := labels[state.LabelGateway].(string)
	return name
}
