package plan

import (
	"cmp"
	"fmt"
	"maps"
	"strings"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

// said is what a reader is told of a change besides what it does and why.
func (c *Change) said() string {
	parts := []string{"impact " + c.Impact.String()}
	add := func(what, s string) {
		if s != "" {
			parts = append(parts, what+s)
		}
	}
	add("", c.Consequence)
	add("interrupts ", strings.Join(c.Interrupts, ", "))
	add("must act: ", strings.Join(c.Customers, ", "))
	add("ours: ", c.Proof)
	add("by ", c.Credential)
	if c.Drift {
		parts = append(parts, "drift")
	}
	return strings.Join(parts, "; ")
}

// consequences are the differences in what two plans say that do the same: of gateways
// that are worked on, and of who reaches what. Where something else differs of an owner
// already, that says it.
func consequences(saved, now Plan, known []Difference) []Difference {
	told := map[vpn.Owner]bool{}
	for _, d := range known {
		told[d.Owner] = true
	}
	was, is := saved.sayings(), now.sayings()
	var list []Difference
	for s := range maps.Keys(was) {
		if was[s] != is[s] && !told[s.owner] {
			list = append(list, s.difference(was[s], is[s]))
		}
	}
	for s := range maps.Keys(is) {
		if _, both := was[s]; !both && !told[s.owner] {
			list = append(list, s.difference("", is[s]))
		}
	}
	return list
}

// saying is what a plan says something about.
type saying struct {
	owner vpn.Owner
	about string
}

func (s saying) difference(was, is string) Difference {
	return Difference{Owner: s.owner, Planned: s.about + ": " + cmp.Or(was, "nothing"), Now: s.about + ": " + cmp.Or(is, "nothing")}
}

// sayings are what the plan says of the gateways that are worked on or blocked, why
// each change is planned, and of every access that changes.
func (p Plan) sayings() map[saying]string {
	all := map[saying]string{}
	worked := map[vpn.Owner]bool{}
	for i := range p.Changes {
		c := &p.Changes[i]
		worked[c.Owner] = true
		all[saying{c.Owner, "the reason of " + c.ID.String()}] = c.Reason
	}
	for _, o := range p.Owners {
		if worked[o.Owner] || o.Blocked != "" {
			all[saying{o.Owner, "gateway"}] = o.said()
		}
	}
	for _, a := range p.Access {
		before, after := reachable(a.Before, a.BeforeUnknown), reachable(a.After, a.AfterUnknown)
		if before != after || a.Width != "" {
			arrow := map[bool]string{false: " → ", true: " ← "}[a.Reverse]
			all[saying{a.Gateway, a.Peer + arrow + a.Exposure}] = join(join(before+", then "+after, string(a.Width)), a.Note)
		}
	}
	for _, x := range p.Sources {
		for _, r := range x.Reaches {
			all[saying{r.Gateway, x.Source.String() + " → " + strings.Join(r.Exposures, ", ")}] = fmt.Sprintf("%t, then %t", x.Before, x.After)
		}
	}
	return all
}

func reachable(b *bool, unknown bool) string {
	switch {
	case unknown:
		return "not known"
	case b == nil:
		return "not there"
	case *b:
		return "reached"
	}
	return "not reached"
}

// said is what a reader is told of a gateway besides its changes.
func (o Owner) said() string {
	s := string(o.Protocol)
	for _, x := range []struct {
		so   bool
		what string
	}{{o.New, "new"}, {o.Gone, "gone"}, {o.Excluded, "not selected"}, {o.Blocked != "", o.Blocked}} {
		if x.so {
			s = join(s, x.what)
		}
	}
	return join(s, "peers "+strings.Join(o.Peers, ", "))
}
