package plan

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vpnctl/vpnctl/plan/resource"
)

// room is crowded: who comes to worker-1 waits for who leaves it.
func room(w *world) { w.Crowded = map[string]bool{"worker-1": true} }

func TestACrowdedServer(t *testing.T) {
	next := dc1().with(func(s *site) {
		s.owner, s.cidr, s.address, s.hop = "VPNGateway/zeta/next", "100.64.77.0/24", "", ""
	})
	for name, test := range map[string]struct {
		before, after []site
		edit          func(*world)
		needs         []resource.ID // of other owners
		held          bool
		refusals      []string
	}{
		"who comes waits for who goes": {
			before: []site{dc1()}, after: []site{next}, edit: func(w *world) { room(w); prune(w) },
			needs: []resource.ID{dc1().id(resource.KindPort)},
		},
		"and for its pods": {
			before: []site{dc1()}, after: []site{next}, edit: func(w *world) { room(w); prune(w); tree(w) },
			needs: []resource.ID{dc1().id(resource.KindPort)}, held: true,
		},
		"not for who goes from another server": {
			before: []site{dc1().with(func(s *site) { s.server = "worker-2" })}, after: []site{next}, edit: func(w *world) { room(w); prune(w) },
		},
		"nor does who comes to another server": {
			before: []site{dc1()}, after: []site{next.with(func(s *site) { s.server = "worker-2" })}, edit: func(w *world) { room(w); prune(w) },
		},
		"who moves there waits, too": {
			before: []site{dc1(), next.with(func(s *site) { s.server = "worker-2" })}, after: []site{next}, edit: func(w *world) { room(w); prune(w) },
			needs: []resource.ID{dc1().id(resource.KindPort)},
		},
		"whose removal is refused keeps the place": {
			before: []site{dc1()}, after: []site{next},
			edit: func(w *world) {
				room(w)
				prune(w)
				w.Refusals = []Refusal{{Owner: dc1().name(), Message: "two ports"}}
			},
			refusals: []string{"acme/dc1: two ports", "zeta/next: node worker-1 is full while acme/dc1 is there (see what is said of acme/dc1)"},
		},
		"without a crowd nobody waits": {
			before: []site{dc1()}, after: []site{next}, edit: prune,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := between(test.before, test.after)
			test.edit(w)
			p := Make(w.Input)
			var refusals []string
			for _, r := range p.Refusals {
				refusals = append(refusals, r.Owner.Path()+": "+r.Message+hinted(r.Hint))
			}
			if diff := cmp.Diff(test.refusals, refusals); diff != "" {
				t.Fatalf("refusals (-want +got):\n%s", diff)
			}
			i := slices.IndexFunc(p.Changes, func(c Change) bool { return c.ID == next.id(resource.KindPort) })
			if i < 0 {
				if len(refusals) == 0 {
					t.Fatalf("no change of the port: %v", outline(p))
				}
				return
			}
			others := slices.DeleteFunc(slices.Clone(p.Changes[i].Needs), func(id resource.ID) bool { return id.Namespace == "zeta" })
			if diff := cmp.Diff(test.needs, others, cmpopts.EquateEmpty()); diff != "" || (p.Changes[i].Held != "") != test.held {
				t.Errorf("held %q, needs (-want +got):\n%s", p.Changes[i].Held, diff)
			}
			if err := p.check(); err != nil {
				t.Error(err)
			}
		})
	}
}
