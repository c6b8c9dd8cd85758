package plan

import (
	"cmp"
	"slices"

	"github.com/vpnctl/vpnctl/plan/resource"
)

// Denial is that a plan holds changes with a greater impact than somebody allows.
type Denial struct {
	Limit   Impact        `json:"limit"`   // this impact and worse ones are denied
	Worst   Impact        `json:"worst"`   // of the changes
	Changes []resource.ID `json:"changes"` // pending ones, the worst first, else in the plan's order
}

// Denies judges the plan by a limit; nil where it passes. No impact is no limit.
func (p Plan) Denies(limit Impact) *Denial {
	over := p.Exceeds(limit)
	if limit == ImpactNone || len(over) == 0 {
		return nil
	}
	slices.SortStableFunc(over, func(a, b Change) int { return cmp.Compare(b.Impact, a.Impact) })
	d := &Denial{Limit: limit, Worst: over[0].Impact}
	for _, c := range over {
		d.Changes = append(d.Changes, c.ID)
	}
	return d
}
