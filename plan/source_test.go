package plan

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/resource"
)

// callable is a site's graph with rules that let ranges call its reverse exposure.
func callable(g resource.Graph, s site, from ...string) {
	r := g[s.id(resource.KindSecurityGroup)]
	group := *r.SecurityGroup
	for _, x := range from {
		group.Rules = append(group.Rules, fromInside(x, reverseRule+"plc"))
	}
	resource.SortRules(group.Rules)
	r.SecurityGroup = &group
	g[r.ID] = r
}

func fromInside(source, why string) resource.Rule {
	r := resource.Rule{Direction: "ingress", Ether: "IPv4", Protocol: "tcp", From: 502, To: 502, Why: why}
	if source != "anywhere" {
		r.Remote = netip.MustParsePrefix(source)
	}
	return r
}

func TestSources(t *testing.T) {
	const lan, other, wide, half = "10.254.0.0/24", "10.1.0.0/24", "10.254.0.0/23", "10.254.0.0/25"
	for name, test := range map[string]struct {
		before, after []string
		edit          func(*world)
		want          []string
		opens, closes int
	}{
		"nothing moves":              {before: []string{lan}, after: []string{lan}},
		"a range comes":              {before: []string{lan}, after: []string{lan, other}, want: []string{"10.1.0.0/24 → dc1: plc: true"}, opens: 1},
		"a range goes":               {before: []string{lan, other}, after: []string{lan}, want: []string{"10.1.0.0/24 → dc1: plc: false"}, closes: 1},
		"the first of all":           {after: []string{lan}, want: []string{"10.254.0.0/24 → dc1: plc: true"}, opens: 1},
		"the last of all":            {before: []string{lan}, want: []string{"10.254.0.0/24 → dc1: plc: false"}, closes: 1},
		"one for another":            {before: []string{lan}, after: []string{other}, want: []string{"10.1.0.0/24 → dc1: plc: true", "10.254.0.0/24 → dc1: plc: false"}, opens: 1, closes: 1},
		"a wider one closes nothing": {before: []string{lan}, after: []string{wide}, want: []string{"10.254.0.0/23 → dc1: plc: true (10.254.0.0/24 could before)"}, opens: 1},
		"a narrower one opens nothing": {before: []string{wide}, after: []string{lan, half},
			want: []string{"10.254.0.0/23 → dc1: plc: false (10.254.0.0/24, 10.254.0.0/25 still can)"}, closes: 1},
		"a part that a wider one holds": {before: []string{wide, half}, after: []string{wide, lan}},
		"everyone":                      {before: []string{lan}, after: []string{"anywhere"}, want: []string{"0.0.0.0/0 → dc1: plc: true (10.254.0.0/24 could before)"}, opens: 1},
		"the group is left out":         {before: []string{lan}, after: []string{other}, edit: func(w *world) { w.Options.Only = OnlyKubernetes }},
		"a refused gateway":             {before: []string{lan}, after: []string{other}, edit: func(w *world) { w.Refusals = []Refusal{{Owner: dc1().name(), Message: "no"}} }},
		"another hand had let the range in": {before: []string{lan}, after: []string{lan, other}, edit: func(w *world) {
			w.edit(dc1().id(resource.KindSecurityGroup), func(r *resource.Resource) {
				group := *r.SecurityGroup
				group.Foreign = []resource.Rule{fromInside(other, "by hand")}
				group.Rules = slices.DeleteFunc(slices.Clone(group.Rules), func(r resource.Rule) bool { return r.Why == reverseRule+"plc" })
				r.SecurityGroup = &group
			})
		}, want: []string{"10.254.0.0/24 → dc1: plc: true"}, opens: 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := between([]site{dc1()}, []site{dc1()})
			callable(w.Observed, dc1(), test.before...)
			callable(w.Desired, dc1(), test.after...)
			if test.edit != nil {
				test.edit(w)
			}
			p := Make(w.Input)
			if diff := cmp.Diff(test.want, sourceRows(p)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if s := p.Summary(); s.SourcesOpen != test.opens || s.SourcesClose != test.closes {
				t.Errorf("%d open and %d close, want %d and %d", s.SourcesOpen, s.SourcesClose, test.opens, test.closes)
			}
		})
	}
}

func sourceRows(p Plan) []string {
	var all []string
	for _, s := range p.Sources {
		var reached []string
		for _, r := range s.Reaches {
			reached = append(reached, r.Gateway.Name+": "+strings.Join(r.Exposures, ", "))
		}
		all = append(all, fmt.Sprintf("%s → %s: %v%s", s.Source, strings.Join(reached, "; "), s.After, hinted(s.Note)))
	}
	return all
}

// TestSourcesAreFolded has one change of the Estate concern many gateways, one of
// which is new and one of which has no reverse exposure.
func TestSourcesAreFolded(t *testing.T) {
	before, after := sites(40), sites(41)
	before[39].plc, after[39].plc = 0, 0
	w := between(before, after)
	for _, s := range before[:39] {
		callable(w.Observed, s, "10.254.0.0/24")
	}
	for i, s := range after {
		if i != 39 {
			callable(w.Desired, s, "10.254.0.0/24", "10.1.0.0/24")
		}
	}
	p := Make(w.Input)
	if len(p.Sources) != 1 || len(p.Sources[0].Reaches) != 39 || p.Sources[0].Total() != 39 {
		t.Errorf("sources %v, want one for 39 gateways", sourceRows(p))
	}
}
