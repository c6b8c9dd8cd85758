package view

import (
	"fmt"
	"strings"

	"github.com/vpnctl/vpnctl/plan"
)

// Denial says by what a plan is denied and which of its changes is the worst:
// "denied by --deny-impact reload: openstack.port/acme/dc1 (impact: restart) and 2 more
// changes".
func Denial(d plan.Denial) string {
	s := fmt.Sprintf("denied by --deny-impact %s: %s (impact: %s)", d.Limit, Plain(d.Changes[0].String()), d.Worst)
	if more := len(d.Changes) - 1; more > 0 {
		s += " and " + count(more, "more change")
	}
	return s
}

// upper begins a sentence.
func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
