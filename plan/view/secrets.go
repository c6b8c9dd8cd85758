package view

import (
	"fmt"
	"strings"

	"github.com/vpnctl/vpnctl/plan"
)

// secretsNamed is how many Secrets one line names.
const secretsNamed = 4

// required says what must be in the cluster before a new gateway or peer can work,
// and that nothing here makes; empty where nothing is new.
func required(o plan.Owner) string {
	if len(o.Secrets) == 0 {
		return ""
	}
	var names []string
	for _, s := range o.Secrets[:min(len(o.Secrets), secretsNamed)] {
		names = append(names, fmt.Sprintf("%s (%s)", s.Name, s.Key))
	}
	what := "Secret "
	if len(o.Secrets) > 1 {
		what = "Secrets "
	}
	s := "needs in the cluster: "
	if o.New {
		s += "namespace " + o.Owner.Namespace + ", "
	}
	s += what + strings.Join(names, ", ")
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
