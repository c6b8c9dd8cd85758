package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// listing is the one index of these tests: a file that names the gateways.
func listing(standing []vpn.Owner) []resource.Resource {
	if len(standing) == 0 {
		return nil
	}
	var names []string
	for _, o := range standing {
		names = append(names, o.Path())
	}
	return []resource.Resource{{
		ID:     resource.ID{Kind: "kubernetes.kustomization", Name: "top"},
		Object: &resource.Object{Kind: "Kustomization", Name: "top", Path: "kustomization.yaml", Content: strings.Join(names, "\n")},
	}}
}

func TestIndex(t *testing.T) {
	for name, test := range map[string]struct {
		before, after []site
		edit          func(*world)
		want          string // the listing afterwards; empty: it is not changed
		action        Action
	}{
		"unchanged":                  {before: sites(2), after: sites(2)},
		"the first gateway":          {after: sites(1), want: "acme/dc1", action: Create},
		"a selection of nobody":      {before: sites(1), after: sites(1), edit: func(w *world) { stale(w); w.Options.Gateways = []string{"acme/dc9"} }},
		"a list that went astray":    {before: sites(1), after: sites(1), edit: stale, want: "acme/dc1", action: Update},
		"one more":                   {before: sites(1), after: sites(2), want: "acme/dc1\nacme/dc2", action: Update},
		"one less without prune":     {before: sites(2), after: sites(1)},
		"one less":                   {before: sites(2), after: sites(1), edit: prune, want: "acme/dc1", action: Update},
		"none":                       {before: sites(1), edit: prune, action: Delete},
		"one more, but it's refused": {before: sites(1), after: sites(2), edit: func(w *world) { w.Refusals = []Refusal{{Owner: numbered(2).name(), Message: "no"}} }},
		"one more, not selected":     {before: sites(1), after: sites(2), edit: func(w *world) { w.Options.Gateways = []string{"acme/dc1"} }},
		"the cloud side alone":       {before: sites(1), after: sites(2), edit: func(w *world) { w.Options.Only = OnlyCloud }},
	} {
		t.Run(name, func(t *testing.T) {
			w := between(test.before, test.after)
			w.Index = listing
			var owners []vpn.Owner
			for _, s := range test.before {
				owners = append(owners, s.name())
			}
			for _, r := range listing(owners) {
				w.Observed.Add(seen(r))
			}
			if test.edit != nil {
				test.edit(w)
			}
			p := Make(w.Input)
			i := slices.IndexFunc(p.Changes, func(c Change) bool { return c.Owner.IsZero() })
			if test.action == "" {
				if i >= 0 {
					t.Errorf("changes: %v", outline(p))
				}
				return
			}
			if i < 0 || p.Changes[i].Action != test.action {
				t.Fatalf("no %s of the listing: %v", test.action, outline(p))
			}
			if c := p.Changes[i]; c.After != nil {
				if diff := cmp.Diff(test.want, c.After.Object.Content); diff != "" {
					t.Errorf("listing (-want +got):\n%s", diff)
				}
			}
			if i != len(p.Changes)-1 {
				t.Errorf("the listing comes before %v", outline(p)[i+1:])
			}
		})
	}
}

// stale changes the listing by another hand.
func stale(w *world) {
	w.edit(resource.ID{Kind: "kubernetes.kustomization", Name: "top"}, func(r *resource.Resource) {
		o := *r.Object
		o.Content = "something else"
		r.Object = &o
	})
}

// TestNoTreeBeginsWithARefusal: a list that stands without gateways too is not made
// where all of them are refused.
func TestNoTreeBeginsWithARefusal(t *testing.T) {
	w := between(nil, sites(1))
	w.Index = func(standing []vpn.Owner) []resource.Resource {
		return listing(append(standing, vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: "always", Name: "there"}))
	}
	w.Refusals = []Refusal{{Owner: numbered(1).name(), Message: "no"}}
	if p := Make(w.Input); len(p.Changes) > 0 {
		t.Errorf("changes: %v", outline(p))
	}
}

func TestIndexNeedsWhatItLists(t *testing.T) {
	w := between(sites(1), sites(2))
	w.Index = listing
	p := Make(w.Input)
	want := []resource.ID{numbered(2).id("kubernetes.kustomization")}
	if diff := cmp.Diff(want, p.Changes[len(p.Changes)-1].Needs); diff != "" {
		t.Errorf("needs (-want +got):\n%s", diff)
	}
}

// TestIndexWithoutItsGateway: an index that was rendered for a gateway that is
// refused must not list it.
func TestIndexWithoutItsGateway(t *testing.T) {
	w := between(nil, sites(2))
	top := listing([]vpn.Owner{numbered(1).name(), numbered(2).name()})[0]
	top.Needs = []resource.ID{numbered(1).id("kubernetes.kustomization"), numbered(2).id("kubernetes.kustomization")}
	w.Desired.Add(top)
	w.Refusals = []Refusal{{Owner: numbered(2).name(), Message: "no"}}
	p := Make(w.Input)
	if last := p.Changes[len(p.Changes)-1]; last.ID != top.ID || last.Held == "" {
		t.Errorf("the listing is not held: %v", outline(p))
	}
}

// TestIndexDoesNotWaitForAFolderThatStands: a gateway whose change is held has its
// folder, and keeps no other from being listed.
func TestIndexDoesNotWaitForAFolderThatStands(t *testing.T) {
	w := between(sites(1), sites(2))
	w.Index = func(standing []vpn.Owner) []resource.Resource {
		top := listing(standing)
		top[0].Needs = []resource.ID{numbered(1).id("kubernetes.kustomization"), numbered(2).id("kubernetes.kustomization")}
		return top
	}
	for _, r := range listing([]vpn.Owner{numbered(1).name()}) {
		w.Observed.Add(seen(r))
	}
	group := w.Desired[numbered(1).id(resource.KindSecurityGroup)]
	ledger := *group.SecurityGroup
	ledger.Ledger = append(slices.Clone(ledger.Ledger), resource.Entry{Name: "vips.1", Value: "new:77"})
	group.SecurityGroup = &ledger
	w.Desired.Add(group)
	w.edit(numbered(1).id("kubernetes.kustomization"), func(r *resource.Resource) {
		o := *r.Object
		o.Content += "- less\n"
		r.Object = &o
	})
	for id, r := range w.Desired { // the cloud side of the second one is there
		if r.Owner == numbered(2).owner && id.Kind.Cloud() {
			w.Observed.Add(seen(r))
		}
	}
	w.Options.Only = OnlyKubernetes
	p := Make(w.Input)
	i := slices.IndexFunc(p.Changes, func(c Change) bool { return c.ID == numbered(1).id("kubernetes.kustomization") })
	if i < 0 || p.Changes[i].Held == "" {
		t.Fatalf("the first gateway's change is not held: %v", outline(p))
	}
	last := p.Changes[len(p.Changes)-1]
	if !last.Owner.IsZero() || last.Held != "" || last.After.Object.Content != "acme/dc1\nacme/dc2" {
		t.Errorf("the listing waits: %v, %q", outline(p), last.Held)
	}
}
