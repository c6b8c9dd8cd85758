package plan

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// lose takes away all that was rendered.
func lose(w *world) {
	w.Before = nil
	for id := range w.Observed {
		if !id.Kind.Cloud() {
			delete(w.Observed, id)
		}
	}
}

func cell(b *bool, unknown bool) string {
	switch {
	case unknown:
		return "?"
	case b == nil:
		return "–"
	case *b:
		return "yes"
	}
	return "no"
}

func TestAccess(t *testing.T) {
	granted := func(s *site) { s.grants = map[string][]string{"plant1": {"web"}, "plant2": {"web"}} }
	for name, test := range map[string]struct {
		before, after []site
		edit          func(*world)
		want          []string
		opens, closes int
		unsure        int
		lost          string // the consequence for those who stay
	}{
		"a new gateway": {
			after: []site{dc1()},
			want:  []string{"plant1 → web: – yes", "plant1 ← plc: – yes"}, opens: 2,
		},
		"an exposure without ports": {
			after: []site{dc1()},
			edit: func(w *world) {
				for i := range w.Estate.Gateways {
					w.Estate.Gateways[i].Exposures[0].Target.Ports = nil
				}
			},
			want: []string{"plant1 → web: – yes (every port and protocol)", "plant1 ← plc: – yes"}, opens: 2,
		},
		"a second peer without a grant ends what nobody wrote down": {
			before: []site{dc1()}, after: []site{dc1().with(func(s *site) { s.peers["plant2"] = "198.51.100.2" })},
			want: []string{
				"plant1 → web: yes no (second peer without a grant: add authorization.exposures: [web])",
				"plant1 ← plc: yes no (second peer without a grant: add authorization.reverseExposures: [plc])",
				"plant2 → web: – no (no authorization: add authorization.exposures: [web])",
			},
			closes: 2, lost: "plant1 loses web, plc",
		},
		"a grant opens": {
			before: []site{two()}, after: []site{two().with(granted)},
			want:  []string{"plant1 → web: yes yes", "plant1 ← plc: no no", "plant2 → web: no yes"},
			opens: 1,
		},
		"a grant closes": {
			before: []site{two().with(granted)}, after: []site{two()},
			want: []string{
				"plant1 → web: yes yes", "plant1 ← plc: no no",
				"plant2 → web: yes no (no grant names it any more: add authorization.exposures: [web])",
			},
			closes: 1, lost: "plant2 loses web",
		},
		"a peer that is pruned": {
			before: []site{two().with(granted)}, after: []site{two().with(func(s *site) { delete(s.peers, "plant2") })}, edit: prune,
			want:   []string{"plant1 → web: yes yes", "plant1 ← plc: no no", "plant2 → web: yes – (the peer goes)"},
			closes: 1,
		},
		"a peer that goes on under another name": {
			before: []site{two().with(granted)}, edit: func(w *world) { prune(w); w.Renamed = romeWasPlant2 },
			after: []site{rome().with(func(s *site) { s.grants["rome"] = []string{"web"} })},
			want: []string{
				"plant1 → web: yes yes", "plant1 ← plc: no no", "plant2 → web: yes – (goes on as rome)", "rome → web: – yes",
			},
			opens: 1, closes: 1,
		},
		"a peer that is lost, but not pruned": {
			before: []site{two().with(granted)}, after: []site{two().with(func(s *site) { delete(s.peers, "plant2") })},
			want: []string{"plant1 → web: yes yes", "plant1 ← plc: no no", "plant2 → web: yes yes"},
		},
		"a gateway that is pruned": {
			before: []site{dc1()}, edit: prune,
			want:   []string{"plant1 → web: yes – (the gateway goes)", "plant1 ← plc: yes – (the gateway goes)"},
			closes: 2,
		},
		"a gateway without a manifest": {
			before: []site{dc1()},
			want:   []string{"plant1 → web: yes yes", "plant1 ← plc: yes yes"},
		},
		"a reverse exposure that goes": {
			before: []site{dc1()}, after: []site{dc1().with(func(s *site) { s.plc = 0 })},
			want:   []string{"plant1 → web: yes yes", "plant1 ← plc: yes – (the exposure goes)"},
			closes: 1, lost: "plant1 loses plc",
		},
		"the cloud side alone changes nobody's reach": {
			before: []site{two()}, after: []site{two().with(granted)}, edit: func(w *world) { w.Options.Only = OnlyCloud },
			want: []string{"plant1 → web: yes yes", "plant1 ← plc: no no", "plant2 → web: no no"},
		},
		"a refused gateway keeps what it has": {
			before: []site{two()}, after: []site{two().with(granted)},
			edit: func(w *world) { w.Refusals = []Refusal{{Owner: two().name(), Message: "no"}} },
			want: []string{"plant1 → web: yes yes", "plant1 ← plc: no no", "plant2 → web: no no"},
		},
		"the files are lost, and what was applied is what is desired": {
			before: []site{dc1()}, after: []site{dc1()}, edit: lose,
			want: []string{"plant1 → web: yes yes", "plant1 ← plc: yes yes"},
		},
		"the files are lost, and grants were applied as they are desired": {
			before: []site{two().with(granted)}, after: []site{two().with(granted)}, edit: lose,
			want: []string{"plant1 → web: yes yes", "plant1 ← plc: no no", "plant2 → web: yes yes"},
		},
		"the files are lost: a ledger without grants says that all was reached": {
			before: []site{dc1()}, after: []site{dc1().with(func(s *site) { s.peers["plant2"] = "198.51.100.2" })}, edit: lose,
			want: []string{
				"plant1 → web: yes no (second peer without a grant: add authorization.exposures: [web])",
				"plant1 ← plc: yes no (second peer without a grant: add authorization.reverseExposures: [plc])",
				"plant2 → web: – no (no authorization: add authorization.exposures: [web])",
			},
			closes: 2, lost: "plant1 loses web, plc",
		},
		"the files are lost: nobody knows what was granted": {
			before: []site{two()}, after: []site{two().with(granted)}, edit: lose,
			want: []string{
				"plant1 → web: ? yes", "plant1 ← plc: ? no", "plant2 → web: ? yes",
			},
			unsure: 3,
		},
		"the files are lost: what no ledger has is new": {
			before: []site{two().with(func(s *site) { s.plc = 0 })}, after: []site{two().with(granted)}, edit: lose,
			want: []string{"plant1 → web: ? yes", "plant1 ← plc: – no", "plant2 → web: ? yes"}, unsure: 2,
		},
		"the files are lost, and the ledger is not to be had": {
			before: []site{dc1()}, after: []site{dc1().with(granted)},
			edit: func(w *world) { lose(w); w.Ledgers = nil },
			want: []string{"plant1 → web: ? yes", "plant1 ← plc: ? no"}, unsure: 2,
		},
		"the files are lost, and the gateway is left as it is": {
			before: []site{two()}, after: []site{two().with(granted)},
			edit: func(w *world) { lose(w); w.Refusals = []Refusal{{Owner: two().name(), Message: "no"}} },
			want: []string{"plant1 → web: ? ?", "plant1 ← plc: ? ?", "plant2 → web: ? ?"},
		},
		"the files are lost, and the gateway is pruned": {
			before: []site{dc1()}, edit: func(w *world) { lose(w); prune(w) },
			want:   []string{"plant1 → web: yes – (the gateway goes)", "plant1 ← plc: yes – (the gateway goes)"},
			closes: 2,
		},
		"the files are lost, and a peer is pruned": {
			before: []site{two()}, after: []site{dc1().with(granted)}, edit: func(w *world) { lose(w); prune(w) },
			want: []string{
				"plant1 → web: ? yes", "plant1 ← plc: ? no",
				"plant2 → web: ? – (the peer goes)", "plant2 ← plc: ? – (the peer goes)",
			},
			unsure: 4,
		},
		"the files can't be read": {
			before: []site{two()}, after: []site{two().with(granted)}, edit: func(w *world) { w.Before = nil },
			want: []string{"plant1 → web: ? yes", "plant1 ← plc: ? no", "plant2 → web: ? yes"}, unsure: 3,
		},
		"in a cluster, after a first apply that made the cloud side alone": {
			before: []site{dc1()}, after: []site{dc1()},
			edit: func(w *world) { lose(w); unapplied(w) },
			want: []string{"plant1 → web: – yes", "plant1 ← plc: – yes"}, opens: 2,
		},
		"with files, its pod may run where nobody looks": {
			before: []site{dc1()}, after: []site{dc1()},
			edit: func(w *world) {
				lose(w)
				unapplied(w)
				w.Estate.Kubernetes.Target = vpn.TargetDirectory
			},
			want: []string{"plant1 → web: yes yes", "plant1 ← plc: yes yes"},
		},
		"a gateway that was never built reaches nothing yet": {
			before: []site{dc1()}, after: []site{dc1()},
			edit: func(w *world) {
				lose(w)
				w.Ledgers[0].Applied = ""
				for _, k := range []resource.Kind{resource.KindFloatingIP, resource.KindApplied} {
					delete(w.Observed, dc1().id(k))
				}
			},
			want: []string{"plant1 → web: – yes", "plant1 ← plc: – yes"}, opens: 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := between(test.before, test.after)
			if test.edit != nil {
				test.edit(w)
			}
			p := Make(w.Input)
			var got []string
			for _, a := range p.Access {
				row := fmt.Sprintf("%s %s %s: %s %s", a.Peer, map[bool]string{true: "←", false: "→"}[a.Reverse], a.Exposure, cell(a.Before, a.BeforeUnknown), cell(a.After, a.AfterUnknown))
				got = append(got, row+hinted(a.Note))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
			lost := ""
			for _, c := range p.Changes {
				if c.ID.Name == "dc1-nat" && c.Action != Delete {
					lost += c.Consequence
				}
			}
			if lost != test.lost {
				t.Errorf("consequence %q, want %q", lost, test.lost)
			}
			if s := p.Summary(); s.Opens != test.opens || s.Closes != test.closes || s.Unsure != test.unsure {
				t.Errorf("%d open, %d close and %d are not known, want %d, %d and %d", s.Opens, s.Closes, s.Unsure, test.opens, test.closes, test.unsure)
			}
		})
	}
}
