package resource

import (
	"cmp"
	"fmt"
	"strings"
)

// Key is the rule without its reason: what equality of rules means.
func (r Rule) Key() Rule {
	r.Why = ""
	return r
}

// Compare orders rules by everything but their reason.
func (r Rule) Compare(o Rule) int {
	return cmp.Or(
		strings.Compare(r.Direction, o.Direction),
		strings.Compare(r.Ether, o.Ether),
		strings.Compare(r.Protocol, o.Protocol),
		cmp.Compare(r.From, o.From),
		cmp.Compare(r.To, o.To),
		strings.Compare(r.Remote.String(), o.Remote.String()),
		strings.Compare(r.Group, o.Group),
	)
}

// String writes "ingress udp 500 198.51.100.20/32".
func (r Rule) String() string {
	parts := []string{r.Direction}
	if r.Ether == "IPv6" {
		parts = append(parts, "ipv6")
	}
	parts = append(parts, cmp.Or(r.Protocol, "any"))
	switch {
	case r.From == 0 && r.To == 0:
	case r.From == r.To:
		parts = append(parts, fmt.Sprint(r.From))
	default:
		parts = append(parts, fmt.Sprintf("%d-%d", r.From, r.To))
	}
	if r.Group != "" {
		return strings.Join(append(parts, "group", r.Group), " ")
	}
	if r.Remote.IsValid() {
		return strings.Join(append(parts, r.Remote.String()), " ")
	}
	return strings.Join(append(parts, "anywhere"), " ")
}
