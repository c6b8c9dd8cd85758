package cloud

import (
	"errors"
	"fmt"

	"github.com/hashicorp/go-multierror"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// ErrStopped: the run was asked to stop before this change began.
var ErrStopped = errors.New("stopped before it began")

// Report is what became of every pending change, in the plan's order.
type Report struct {
	Outcomes []Outcome
	Learnt   map[vpn.Owner]resource.GatewayFacts // what the run found out, by gateway
}

// Outcome is what became of one change.
type Outcome struct {
	Change plan.Change
	State  State // Done, Failed or Skipped
	Err    error // why it failed or was skipped

	order int
}

// With are the outcomes in one state.
func (r *Report) With(s State) []Outcome {
	var some []Outcome
	for _, o := range r.Outcomes {
		if o.State == s {
			some = append(some, o)
		}
	}
	return some
}

// Err gathers the failures; skipped changes count only when nothing failed, so
// that a run that was stopped is an error as well.
func (r *Report) Err() error {
	var all *multierror.Error
	for _, o := range r.With(Failed) {
		all = multierror.Append(all, fmt.Errorf("%s: %w", o.Change.ID, o.Err))
	}
	if skipped := r.With(Skipped); all == nil && len(skipped) > 0 {
		return fmt.Errorf("%d of %d changes were not done: %w", len(skipped), len(r.Outcomes), skipped[0].Err)
	}
	return all.ErrorOrNil()
}
