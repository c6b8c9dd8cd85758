package reconcile

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render"
	"github.com/vpnctl/vpnctl/render/live"
)

// Input is what a run starts from.
type Input struct {
	Estate    vpn.Estate
	Manifests int // how many manifests were read
	Drivers   []cloud.Driver
	Options   plan.Options
	Now       time.Time // by the clock here; what the cloud's says comes before it

	// Deleted are the owners whose manifests are being deleted. Nil: whoever has no
	// manifest is gone. Otherwise nobody but these is removed.
	Deleted map[vpn.Owner]bool

	// Conceded are the links among them whose manifests say that their customer's side may be
	// left behind. Where it can't be reached, that is put on record before they go.
	Conceded map[vpn.Owner]bool

	// Known is what was found to be as desired in an earlier run of the same process, which
	// spares comparing it again. Nil: nothing is known.
	Known *live.Memory

	plan.Survey // what was not read: whoever stands there is not gone
}

// Result is a plan and all that carrying it out needs.
type Result struct {
	Plan    plan.Plan
	Seen    *cloud.Observation
	Ledgers map[vpn.Owner]alloc.Ledger     // as they will be
	Inputs  map[vpn.Owner]render.Input     // what each gateway was rendered from
	Links   map[vpn.Owner]render.LinkInput // those that could be rendered
	Desired resource.Graph                 // what they were rendered to

	Gateways []vpn.Gateway // all that have a manifest
	Linked   []vpn.Link    // the same of links
	LeftOut  []plan.Change // in a cluster: of the cloud side, which the options leave out

	drivers []cloud.Driver
	tree    bool // the Kubernetes side is files
}

// Plan observes the estate and decides what has to change. It changes nothing.
func Plan(ctx context.Context, in Input) (*Result, error) {
	seen, err := cloud.Observe(ctx, in.Drivers, in.Estate, cloud.Scope{
		Leftovers: in.Options.Prune, Operated: in.Options.Operated, OperatorStopped: in.Options.OperatorStopped, Leaving: len(in.Deleted) > 0,
	})
	if err != nil {
		return nil, err
	}
	seen.Claims = append(seen.Claims, in.operatorsClaims()...)
	if in.Deleted != nil { // its people write them, and keep them: labels of an apply don't matter
		maps.DeleteFunc(seen.Graph, func(id resource.ID, _ resource.Resource) bool { return id.Kind.Manifest() })
	} else {
		kin(seen)
	}
	if err := in.gather(ctx, seen); err != nil {
		return nil, err
	}
	d, err := prepare(in, seen).housed(ctx)
	if err != nil {
		return nil, err
	}
	seen = d.raw
	if err := d.forgo(ctx); err != nil {
		return nil, err
	}
	for _, driver := range in.Drivers {
		if o, ok := driver.(obstructed); ok {
			found, err := o.Obstacles(ctx, d.desired, seen.Graph)
			if err != nil {
				return nil, err
			}
			d.note(d.concerning(found)...)
		}
	}
	if err := d.checkTenants(ctx); err != nil {
		return nil, err
	}
	return d.result(), nil
}

// obstructed is a driver that can tell what stands in the way of what is desired.
type obstructed interface {
	Obstacles(ctx context.Context, desired, observed resource.Graph) ([]plan.Refusal, error)
}

// Apply carries the plan out. The execution's drivers, renderer and recheck are
// filled in here.
func (r *Result) Apply(ctx context.Context, x cloud.Execution) *cloud.Report {
	x.Drivers, x.Render, x.Index = r.drivers, r.renderAgain, r.index
	for _, d := range r.drivers {
		if c, ok := d.(rechecker); ok {
			x.Recheck = c.Recheck
		}
	}
	return cloud.Apply(ctx, r.Plan, x)
}

// rechecker is a driver that can tell who lost a claim.
type rechecker interface {
	Recheck(ctx context.Context, owners []vpn.Owner) (map[vpn.Owner]string, error)
}

// renderAgain renders one gateway with what the run has learnt of it.
func (r *Result) renderAgain(o vpn.Owner, news resource.GatewayFacts) (resource.Graph, error) {
	if in, ok := r.Links[o]; ok {
		in.Facts = in.Facts.Learn(o.String(), news)
		return render.Link(in)
	}
	in, ok := r.Inputs[o]
	if !ok { // its manifest is gone: nothing of it is rendered
		return resource.Graph{}, nil
	}
	in.Facts = in.Facts.Learn(o.String(), news)
	graph, problems := render.Gateway(in)
	if len(problems) > 0 {
		return nil, fmt.Errorf("rendering %s: %s", o.Path(), problems[0].Message)
	}
	return graph, nil
}
