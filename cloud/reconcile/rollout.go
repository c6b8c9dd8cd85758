package reconcile

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Patience is how a run waits for the pods whose Deployments it wrote.
type Patience struct {
	Limit time.Duration // zero: it doesn't wait
	Every time.Duration // between two looks; default 2 seconds
	Stop  <-chan struct{}
	// Look tells how all Deployments of the estate stand, by owner (text).
	Look func(ctx context.Context) (map[string]cloud.Rollout, error)
	// Progress is told whenever a pod that is waited for stands otherwise than before.
	Progress func(o vpn.Owner, now cloud.Rollout)
}

// Await waits for the pods of the Deployments that a report wrote. It returns how all
// stood at its last look, and those whose pods didn't run by then, sorted. An error is
// that of the last look.
func (p Patience) Await(ctx context.Context, report *cloud.Report) (map[string]cloud.Rollout, []vpn.Owner, error) {
	due := time.NewTimer(p.Limit)
	defer due.Stop()
	tick := time.NewTicker(cmp.Or(p.Every, 2*time.Second))
	defer tick.Stop()
	waiting, last := written(report), map[vpn.Owner]cloud.Rollout{}
	for {
		seen, err := p.Look(ctx)
		if err == nil {
			waiting = slices.DeleteFunc(waiting, func(o vpn.Owner) bool {
				now := seen[o.String()]
				if before, told := last[o]; (!told || before != now) && p.Progress != nil && p.Limit > 0 {
					p.Progress(o, now)
				}
				last[o] = now
				return now.Available
			})
		}
		if err == nil && (len(waiting) == 0 || p.Limit <= 0) {
			return seen, waiting, nil
		}
		select {
		case <-ctx.Done():
			return seen, waiting, cmp.Or(err, ctx.Err())
		case <-p.Stop:
			return seen, waiting, err
		case <-due.C:
			return seen, waiting, err
		case <-tick.C:
		}
	}
}

// written are the gateways whose Deployment a report wrote, sorted.
func written(report *cloud.Report) []vpn.Owner {
	var all []vpn.Owner
	if report == nil {
		return nil
	}
	for _, x := range report.With(cloud.Done) {
		if x.Change.ID.Kind == resource.KubernetesKind("Deployment") && x.Change.After != nil {
			all = append(all, x.Change.Owner)
		}
	}
	slices.SortFunc(all, vpn.Owner.Compare)
	return slices.Compact(all)
}
