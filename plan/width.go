package plan

import (
	"cmp"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Width is how what an exposure leads to differs from before, for a peer that reaches
// it before and after.
type Width string

// The widths. What is neither wider nor less is something else.
const (
	Wider Width = "wider" // more ports of the same target
	Less  Width = "less"  // fewer
	Other Width = "other" // another target, or other ports
)

// everything is what an exposure without ports leads to.
const everything = "every port and protocol"

// targets are where the exposures of a gateway lead before and after this plan, where
// it changes anything that says so.
func (d *draft) targets(p *party) (was, is map[string]vpn.Target) {
	if d.in.Targets == nil || !slices.ContainsFunc(p.changes, configures) {
		return nil, nil
	}
	before, after := resource.Graph{}, resource.Graph{}
	for _, suffix := range []string{rulesSuffix, "-swanctl", "-wireguard"} {
		id := resource.ID{Kind: kindConfigMap, Namespace: p.owner.Namespace, Name: p.owner.Name + suffix}
		if have, ok := d.in.Observed[id]; ok {
			before.Add(have)
		}
		if want, ok := d.in.Desired[id]; ok {
			after.Add(want)
		}
	}
	return d.in.Targets(before), d.in.Targets(after)
}

// configures tells whether a change is one of a ConfigMap that is there.
func configures(c *Change) bool { return c.ID.Kind == kindConfigMap && c.Action == Update }

// width says how a target differs from another one, and how that reads; empty where
// they are alike. A host that is not known is no difference.
func width(was, is vpn.Target) (Width, string) {
	var words []string
	w := span(was, is)
	if a, b := location(was), location(is); a != b && a != "" && b != "" {
		w, words = Other, append(words, "target: "+a+" → "+b)
	}
	if a, b := reached(was), reached(is); a != b {
		words = append(words, "ports: "+a+" → "+b)
	}
	return w, strings.Join(words, "; ")
}

// span compares ports alone.
func span(was, is vpn.Target) Width {
	switch more, all := covers(is, was), covers(was, is); {
	case more && all:
		return ""
	case more:
		return Wider
	case all:
		return Less
	}
	return Other
}

// covers tells whether all ports of one target are among another's.
func covers(wide, t vpn.Target) bool {
	if len(wide.Ports) == 0 {
		return true
	}
	return len(t.Ports) > 0 && wide.Protocol == t.Protocol && !slices.ContainsFunc(t.Ports, func(r vpn.PortRange) bool {
		return !within(wide.Ports, r)
	})
}

// within tells whether sorted, disjoint ranges hold all ports of a range.
func within(ranges []vpn.PortRange, r vpn.PortRange) bool {
	next := int(r.From) // the first port that is not held yet
	for _, x := range ranges {
		if int(x.From) <= next {
			next = max(next, int(x.To)+1)
		}
	}
	return next > int(r.To)
}

// location is where a target is; empty where that is not known.
func location(t vpn.Target) string {
	if t.Address.IsValid() {
		return t.Address.String()
	}
	return t.Host
}

// reached names the ports of a target.
func reached(t vpn.Target) string {
	if len(t.Ports) == 0 {
		return everything
	}
	var all []string
	for _, r := range t.Ports {
		all = append(all, r.String())
	}
	return cmp.Or(t.Protocol, "tcp") + " " + strings.Join(all, ", ")
}
