package plan

import (
	"cmp"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Difference is a change that comes out otherwise than it was planned.
type Difference struct {
	ID      resource.ID `json:"id"`
	Owner   vpn.Owner   `json:"owner,omitzero"`
	Planned string      `json:"planned"` // in words
	Now     string      `json:"now"`
}

const nothing = "nothing to do"

// Compare tells where a plan that was saved and one made now differ in what they
// do, and in what they say of it: its impact, whom it concerns, who reaches what. So
// nobody agrees to something else than is done, whatever became of a saved file.
// Positions and times don't count, but a change that was held and is no longer does.
// Where an owner is refused now, the refusal stands for all its changes.
func Compare(saved, now Plan) []Difference {
	planned, made := byID(saved), byID(now)
	refused := map[vpn.Owner]bool{}
	var list []Difference
	for _, r := range news(saved, now) {
		refused[r.Owner] = true
		was := nothing
		if c := planned[r.ID]; c != nil {
			was = c.words()
		}
		list = append(list, Difference{ID: r.ID, Owner: r.Owner, Planned: was, Now: r.Message})
	}
	for id, c := range planned {
		other := made[id]
		switch {
		case other == nil && !refused[c.Owner]:
			list = append(list, Difference{id, c.Owner, c.words(), nothing})
		case other != nil && !alike(c, other):
			list = append(list, difference(c, other))
		}
	}
	for id, c := range made {
		if planned[id] == nil {
			list = append(list, Difference{id, c.Owner, nothing, c.words()})
		}
	}
	list = append(list, consequences(saved, now, list)...)
	slices.SortFunc(list, func(a, b Difference) int {
		return cmp.Or(a.Owner.Compare(b.Owner), a.ID.Compare(b.ID), strings.Compare(a.Now, b.Now))
	})
	return list
}

func byID(p Plan) map[resource.ID]*Change {
	all := make(map[resource.ID]*Change, len(p.Changes))
	for i := range p.Changes {
		all[p.Changes[i].ID] = &p.Changes[i]
	}
	return all
}

// news are the refusals that the saved plan does not have.
func news(saved, now Plan) []Refusal {
	return slices.DeleteFunc(slices.Clone(now.Refusals), func(r Refusal) bool { return slices.Contains(saved.Refusals, r) })
}

// alike tells whether two changes do the same.
func alike(a, b *Change) bool {
	return a.Action == b.Action && (a.Held == "") == (b.Held == "") &&
		slices.Equal(timeless(a.Attributes), timeless(b.Attributes)) && arrives(a.After, b.After) && a.said() == b.said()
}

// timeless leaves out what only says when.
func timeless(list []Attribute) []Attribute {
	list = slices.Clone(list)
	for i, a := range list {
		if a.Name == attrDraining {
			list[i].Before, list[i].After = mask(a.Before), mask(a.After)
		}
	}
	return list
}

func mask(s string) string {
	if s == "" {
		return ""
	}
	return "since a moment"
}

// arrives tells whether two resources would be made the same.
func arrives(a, b *resource.Resource) bool {
	if a == nil || b == nil {
		return a == b
	}
	x, y := *a, *b
	if x.SecurityGroup != nil && y.SecurityGroup != nil {
		g, h := *x.SecurityGroup, *y.SecurityGroup
		if g.Draining.IsZero() == h.Draining.IsZero() {
			g.Draining = h.Draining
		}
		x.SecurityGroup, y.SecurityGroup = &g, &h
	}
	return same(&x, &y) && same(&y, &x)
}

// difference puts two changes of one resource beside each other.
func difference(planned, now *Change) Difference {
	d := Difference{ID: planned.ID, Owner: planned.Owner, Planned: planned.words(), Now: now.words()}
	switch {
	case d.Planned != d.Now:
	case planned.said() != now.said():
		d.Planned, d.Now = planned.said(), now.said()
	default:
		d.Now += ", but with other content"
	}
	return d
}

// words say what a change does, in one line.
func (c *Change) words() string {
	var parts []string
	for _, a := range c.Attributes {
		switch {
		case a.Diff != "":
			parts = append(parts, a.Name)
		case c.Action == Delete || c.Action == Release:
		case a.After == "":
			parts = append(parts, a.Name+" without "+oneLine(a.Before))
		default:
			parts = append(parts, a.Name+" "+oneLine(a.After))
		}
	}
	words := string(c.Action)
	if len(parts) > 0 {
		words += ": " + strings.Join(parts, ", ")
	}
	if c.Held != "" {
		words += " (held)"
	}
	return words
}

func oneLine(s string) string { return strings.ReplaceAll(s, "\n", " and ") }
