package loop

import (
	"errors"
	"slices"
	"time"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/reconcile"
	"github.com/vpnctl/vpnctl/cloud/reconcile/standing"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// due are those who may be tried, all where nobody is named, and whether any of them has
// something to be tried.
func (r *round) due(seen *reconcile.Result) (selected plan.Options, due bool) {
	now, resting := time.Now(), false
	for _, o := range seen.Plan.Owners {
		switch {
		case r.queue.resting(o.Owner, now):
			resting = true
		case o.Owner.Gateway():
			selected.Gateways = append(selected.Gateways, o.Owner.Path())
		case !o.Owner.IsZero():
			selected.Links = append(selected.Links, o.Owner.Name)
		}
	}
	blocked := map[resource.ID]bool{} // what waits for somebody who rests
	for _, c := range seen.Plan.Pending() {
		blocked[c.ID] = r.queue.resting(c.Owner, now) || slices.ContainsFunc(c.Needs, func(id resource.ID) bool { return blocked[id] })
		due = due || !blocked[c.ID]
	}
	if !resting {
		return plan.Options{}, due
	}
	return selected, due && len(selected.Gateways)+len(selected.Links) > 0
}

// waiting are those who rest before something of theirs is tried again. What was
// said of them holds.
func (r *round) waiting(p plan.Plan) map[vpn.Owner]bool {
	left, now := map[vpn.Owner]bool{}, time.Now()
	for _, c := range p.Pending() {
		left[c.Owner] = left[c.Owner] || r.queue.resting(c.Owner, now)
	}
	return left
}

// excluded are those whom a plan is not about.
func excluded(p plan.Plan) map[vpn.Owner]bool {
	left := map[vpn.Owner]bool{}
	for _, o := range p.Owners {
		left[o.Owner] = o.Excluded
	}
	return left
}

// leaveLinks leaves links out as well that wait for a way back to a gateway which is left
// out: what was said of that one's way holds.
func (done turn) leaveLinks() {
	for link, gateways := range standing.Awaited(done.Result) {
		if slices.ContainsFunc(gateways, func(o vpn.Owner) bool { return done.left[o] }) {
			done.left[link] = true
		}
	}
}

// cutShort are the gateways of whom an apply hasn't begun something, and nothing failed.
func cutShort(report *cloud.Report) map[vpn.Owner]bool {
	cut := map[vpn.Owner]bool{}
	for _, x := range report.Outcomes {
		if errors.Is(x.Err, cloud.ErrStopped) {
			cut[x.Change.Owner] = true
		}
	}
	for _, x := range report.With(cloud.Failed) {
		delete(cut, x.Change.Owner)
	}
	return cut
}
