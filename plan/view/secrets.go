package view

import (
	"fmt"
	"strings"

	"github.com/vpnctl/vpnctl/plan"
)

// secretsNamed is how many Secrets one line names.
const secretsNamed = 4

// required says what must be in the cluster before a new gateway or peer can work,
// and that nothing here makes; empty where nothing is new, or all is there.
func required(o plan.Owner) string {
	var parts []string
	if o.Namespace != "" {
		parts = append(parts, "namespace "+o.Namespace)
	}
	if len(o.Secrets) > 0 {
		var names []string
		for _, s := range o.Secrets[:min(len(o.Secrets), secretsNamed)] {
			names = append(names, fmt.Sprintf("%s (%s)", s.Name, s.Key))
		}
		what := "Secret "
		if len(o.Secrets) > 1 {
			what = "Secrets "
		}
		parts = append(parts, what+strings.Join(names, ", "))
	}
	if len(parts) == 0 {
		return ""
	}
	s := "needs in the cluster: " + strings.Join(parts, ", ")
	if more := len(o.Secrets) - secretsNamed; more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return Plain(s)
}

// required is what stands in a block: nothing where the gateway is left as it is.
func (b *block) required() string {
	if b.Excluded || b.Blocked != "" || len(b.refused) > 0 {
		return ""
	}
	return required(b.Owner)
}
