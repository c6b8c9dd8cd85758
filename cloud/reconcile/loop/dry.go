package loop

import (
	"fmt"
	"strings"

	"github.com/vpnctl/vpnctl/plan"
)

// logPlan logs what a dry run would do, when that is other than what was logged last.
func (r *round) logPlan(p plan.Plan) {
	var text strings.Builder
	for _, c := range p.Changes {
		fmt.Fprintln(&text, c.ID, c.Action, c.Reason, c.Impact, c.Held == "")
	}
	for _, x := range p.Refusals {
		fmt.Fprintln(&text, x.Owner, x.ID, x.Message)
	}
	if r.planned == text.String() && r.logged {
		return
	}
	r.planned, r.logged = text.String(), true
	for _, c := range p.Changes {
		words := []any{"change", c.ID.String(), "action", string(c.Action), "reason", c.Reason, "impact", c.Impact.String()}
		if c.Drift {
			words = append(words, "drift", true)
		}
		if c.Held != "" {
			words = append(words, "held", c.Held)
		}
		r.Log.Info("would change", words...)
	}
	for _, x := range p.Refusals {
		r.Log.Warn("would refuse", "gateway", x.Owner.Path(), "message", x.Message)
	}
	if text.Len() == 0 {
		r.Log.Info("nothing would change")
	}
}
