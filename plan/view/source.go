package view

import (
	"fmt"
	"strings"

	"github.com/vpnctl/vpnctl/plan"
)

// namedExposures is how many reverse exposures a row names; more are counted.
const namedExposures = 2

// sourceRow is the row of a range on our side.
func sourceRow(s plan.Source) row {
	return row{who: s.Source.String(), arrow: "→", what: callees(s), before: cell(&s.Before, false), after: cell(&s.After, false),
		note: Plain(s.Note), opens: s.After, closes: s.Before}
}

// callees says what a range on our side may call: by name, or how much.
func callees(s plan.Source) string {
	if s.Total() > namedExposures {
		return fmt.Sprintf("%s of %s", count(s.Total(), "reverse exposure"), count(len(s.Reaches), "gateway"))
	}
	var all []string
	for _, r := range s.Reaches {
		for _, x := range r.Exposures {
			all = append(all, r.Gateway.Name+"/"+x)
		}
	}
	return Plain(strings.Join(all, ", "))
}
