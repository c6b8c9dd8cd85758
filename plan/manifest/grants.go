package manifest

import (
	"fmt"
	"slices"
	"strings"
)

// grantsExist refuses grants of what the gateway doesn't have.
func (g *gateway) grantsExist() {
	for _, p := range g.parties {
		if p.model.Grants == nil {
			continue
		}
		g.granted(p, "spec.authorization.exposures", p.model.Grants.Exposures, false)
		g.granted(p, "spec.authorization.reverseExposures", p.model.Grants.ReverseExposures, true)
	}
}

func (g *gateway) granted(p *party, list string, names []string, reverse bool) {
	for _, name := range names {
		i := slices.IndexFunc(g.exposed, func(x exposure) bool { return x.Name == name })
		if i >= 0 && g.exposed[i].reverse == reverse || i < 0 && g.unnamed() {
			continue
		}
		no := refuse("%s %s has no %s %s", g.kind, g.path(), listName(reverse), quoted(name))
		if i >= 0 {
			no.with("it is one of the %ss; grant it there", listName(!reverse))
		} else {
			no.did(name, g.exposureNames(reverse))
		}
		p.fail(p.entry(list, name), no, g.position("spec."+strings.TrimPrefix(list, "spec.authorization.")))
	}
}

// unnamed tells whether the name of an exposure could not be read, or a list of
// them: then a grant may well mean that one.
func (g *gateway) unnamed() bool {
	return slices.ContainsFunc(g.exposed, func(x exposure) bool { return x.Name == "" }) ||
		slices.ContainsFunc(g.broken, func(field string) bool { return strings.Contains(strings.ToLower(field), "exposure") })
}

// entry is the field of the first item of a list that has a given text.
func (c check) entry(list, text string) string {
	if v := c.root.Find(list); v != nil {
		for i, item := range v.Items {
			if item.Text == text {
				return fmt.Sprintf("%s[%d]", list, i)
			}
		}
	}
	return list
}

func listName(reverse bool) string {
	if reverse {
		return "reverse exposure"
	}
	return "exposure"
}

func (g *gateway) exposureNames(reverse bool) []string {
	var out []string
	for _, x := range g.exposed {
		if x.reverse == reverse && x.Name != "" {
			out = append(out, x.Name)
		}
	}
	return out
}

// nobody warns about a gateway whose peers may not reach anything: a first peer
// reaches everything by default, and loses that when a second one joins.
func (g *gateway) nobody() {
	if g.model.Open || len(g.parties) < 2 || len(g.exposed) == 0 {
		return
	}
	for _, p := range g.parties {
		if grants := p.model.Grants; p.bad || grants != nil && len(grants.Exposures)+len(grants.ReverseExposures) > 0 {
			return
		}
	}
	list, hint := "spec.exposures", "add authorization.exposures"
	if g.exposed[0].reverse { // they come last
		list, hint = "spec.reverseExposures", "add authorization.reverseExposures"
	}
	g.warn(list, refuse("no peer of %s may reach anything", g.path()).
		with("%s to a VPNPeer: where there are several, only what is granted is reached", hint))
}
