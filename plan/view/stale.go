package view

import (
	"fmt"
	"io"
	"strings"

	"github.com/vpnctl/vpnctl/plan"
)

// staleLines is how many differences are worth a line each.
const staleLines = 20

// Stale says why a plan that was agreed to is not carried out: what came out
// differently, and how. Nothing was changed by then.
func Stale(w io.Writer, name string, agreed plan.Plan, moved []plan.Difference) error {
	var b strings.Builder
	s := agreed.Summary()
	fmt.Fprintf(&b, "%s is stale: %d of %s came out differently\n", Plain(name), len(moved), count(max(s.Pending()+s.Held, len(moved)), "change"))
	width := 0
	for _, d := range moved {
		width = max(width, min(len(place(d)), idWidth))
	}
	for i, d := range moved {
		if i == staleLines {
			fmt.Fprintf(&b, "  and %d more\n", len(moved)-i)
			break
		}
		fmt.Fprintf(&b, "  %s  planned: %s\n", pad(place(d), width), clip(Plain(d.Planned), cellLimit))
		fmt.Fprintf(&b, "  %s  now:     %s\n", pad("", width), clip(Plain(d.Now), cellLimit))
	}
	b.WriteString("Nothing was changed. Make a new plan.\n")
	return write(w, b.String())
}

// place names what a difference is about.
func place(d plan.Difference) string {
	switch {
	case !d.ID.IsZero():
		return Plain(d.ID.String())
	case !d.Owner.IsZero():
		return Plain(d.Owner.Path())
	}
	return "estate"
}
