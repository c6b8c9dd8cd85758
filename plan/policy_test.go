package plan

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// numbered is dc1 under another name and in another range.
func numbered(i int) site {
	return dc1().with(func(s *site) {
		s.owner = fmt.Sprintf("VPNGateway/acme/dc%d", i)
		s.cidr, s.address, s.hop = fmt.Sprintf("100.64.%d.0/24", i), fmt.Sprintf("203.0.113.%d", i), fmt.Sprintf("10.254.0.%d", i)
	})
}

func sites(n int) []site {
	all := make([]site, n)
	for i := range all {
		all[i] = numbered(i + 1)
	}
	return all
}

func moved(s site) site { return s.with(func(s *site) { s.image = "vpnctl:2" }) }

func TestPolicy(t *testing.T) {
	for name, test := range map[string]struct {
		before, after []site
		edit          func(*world)
		changes       []string // owners that change
		notices       []string
		refusals      []string
	}{
		"a gateway without a manifest stays": {
			before: sites(2), after: []site{moved(numbered(1))},
			changes: []string{"acme/dc1"},
			notices: []string{"no manifest any more: 10 resources are left alone (--prune deletes it)"},
		},
		"a gateway without a manifest that was pruned half": {
			before:  sites(1),
			edit:    func(w *world) { drainingSince(w, noon); w.Estate.Kubernetes.Target = vpn.TargetCluster },
			notices: []string{"no manifest any more, draining since 2026-03-01T12:00:00Z: 5 resources are left alone (--prune deletes the rest)"},
		},
		"a gateway whose pods may still run": {
			before:  sites(1),
			edit:    func(w *world) { drainingSince(w, noon.Add(-time.Minute)) },
			notices: []string{"no manifest any more, draining since 2026-03-01T11:59:00Z: 5 resources are left alone (pods may still run: run apply --prune again after 2026-03-01T12:09:00Z, or --pods-gone)"},
		},
		"a gateway whose pods had their time": {
			before:  sites(1),
			edit:    func(w *world) { drainingSince(w, noon.Add(-time.Hour)) },
			notices: []string{"no manifest any more, draining since 2026-03-01T11:00:00Z: 5 resources are left alone (--prune deletes the rest)"},
		},
		"and goes with prune": {
			before: sites(2), after: []site{moved(numbered(1))}, edit: prune,
			changes: []string{"acme/dc1", "acme/dc2"},
		},
		"five gateways with a peer each are the most": {
			before: sites(6), after: sites(1), edit: prune,
			changes: []string{"acme/dc2", "acme/dc3", "acme/dc4", "acme/dc5", "acme/dc6"},
		},
		"six are too many, and others go on": {
			before: sites(7), after: []site{moved(numbered(1))}, edit: prune,
			changes:  []string{"acme/dc1"},
			refusals: []string{"12 gateways and peers would be deleted, more than 10: acme/dc2 with plant1, acme/dc3 with plant1, acme/dc4 with plant1, acme/dc5 with plant1, acme/dc6 with plant1, acme/dc7 with plant1 (--max-deletes 12, if that is meant: a gateway counts, and each of its peers)"},
		},
		"none may go": {
			before: sites(2), after: sites(1), edit: func(w *world) { prune(w); w.Options.MaxDeletes = -1 },
			refusals: []string{"2 gateways and peers would be deleted, more than 0: acme/dc2 with plant1 (--max-deletes 2, if that is meant: a gateway counts, and each of its peers)"},
		},
		"no manifest at all": {
			before: sites(1), edit: func(w *world) { prune(w); w.Manifests = 0 },
			refusals: []string{"no manifest was read (--allow-empty, if the last one was removed on purpose)"},
		},
		"no manifest at all, and nothing to prune": {
			edit:    func(w *world) { prune(w); w.Manifests = 0 },
			notices: []string{"no manifest was read: nothing is done"},
		},
		"no manifest at all, without prune": {
			before: sites(1), edit: func(w *world) { w.Manifests = 0 },
			notices: []string{"no manifest was read: nothing is done"},
		},
		"a gateway in a file that was not read": {
			before: sites(2), after: []site{moved(numbered(1))},
			edit: func(w *world) {
				prune(w)
				w.Unread = map[vpn.Owner]string{numbered(2).name(): "gw/b/g.yaml"}
			},
			changes: []string{"acme/dc1"},
			notices: []string{"acme/dc2 stands in gw/b/g.yaml, which was not read: left alone"},
		},
		"another kind of the same name in a file that was not read": {
			before: sites(2), after: sites(1),
			edit: func(w *world) {
				prune(w)
				w.Unread = map[vpn.Owner]string{{Kind: vpn.KindIPsecGateway, Namespace: "acme", Name: "dc2"}: "gw/b/g.yaml"}
			},
			changes: []string{"acme/dc2"},
		},
		"the peers of a gateway without a manifest stand in a file that was not read": {
			before: sites(2), after: sites(1),
			edit: func(w *world) {
				prune(w)
				w.UnreadPeers = map[string]string{"acme/dc2/plant1": "gw/b/p.yaml"}
			},
			notices: []string{"peer plant1 stands in gw/b/p.yaml, which was not read: left alone"},
		},
		"a peer in a file that was not read": {
			before: []site{two()}, after: []site{moved(two()).with(func(s *site) { delete(s.peers, "plant2") })},
			edit: func(w *world) {
				prune(w)
				w.UnreadPeers = map[string]string{"acme/dc1/plant2": "gw/b/p.yaml"}
			},
			notices: []string{"peer plant2 stands in gw/b/p.yaml, which was not read: left alone"},
		},
		"an unread gateway does not count": {
			before: sites(2), after: sites(1),
			edit: func(w *world) {
				prune(w)
				w.Options.MaxDeletes, w.Unread = -1, map[vpn.Owner]string{numbered(2).name(): "gw/b/g.yaml"}
			},
			notices: []string{"acme/dc2 stands in gw/b/g.yaml, which was not read: left alone"},
		},
		"a file that can't be read withholds what would be deleted": {
			before: []site{two(), numbered(2), numbered(3)}, after: []site{two().with(func(s *site) { delete(s.peers, "plant2") }), moved(numbered(3))},
			edit:     func(w *world) { prune(w); w.Obscure = []string{"gw/b.yaml", "gw/a.yaml"} },
			changes:  []string{"acme/dc3"},
			refusals: []string{"nothing is deleted: gw/a.yaml, gw/b.yaml could not be read, and incomplete input is no input (mend what can't be read, or move it out of the Estate's folder)"},
		},
		"many files that can't be read": {
			before: sites(2), after: sites(1),
			edit:     func(w *world) { prune(w); w.Obscure = []string{"7", "6", "5", "4", "3", "2", "1"} },
			refusals: []string{"nothing is deleted: 1, 2, 3, 4, 5 and 2 more could not be read, and incomplete input is no input (mend what can't be read, or move it out of the Estate's folder)"},
		},
		"a file that can't be read harms nothing where nothing would be deleted": {
			before: sites(1), after: []site{moved(numbered(1))},
			edit:    func(w *world) { prune(w); w.Obscure = []string{"chart/templates/x.yaml"} },
			changes: []string{"acme/dc1"},
		},
		"no manifest at all, on purpose": {
			before: sites(1), edit: func(w *world) { prune(w); w.Manifests, w.Options.AllowEmpty = 0, true },
			changes: []string{"acme/dc1"},
		},
		"a gateway that lost a peer stays whole": {
			before: []site{two()}, after: []site{moved(two()).with(func(s *site) { delete(s.peers, "plant2") })},
			notices: []string{"no manifest any more for plant2: the gateway is left whole as it is (--prune deletes what is gone)"},
		},
		"a lost peer goes with prune": {
			before: []site{two()}, after: []site{two().with(func(s *site) { delete(s.peers, "plant2") })}, edit: prune,
			changes: []string{"acme/dc1"},
		},
		"a lost peer counts": {
			before: []site{two()}, after: []site{two().with(func(s *site) { delete(s.peers, "plant2") })},
			edit:     func(w *world) { prune(w); w.Options.MaxDeletes = -1 },
			refusals: []string{"1 gateway or peer would be deleted, more than 0: plant2 of acme/dc1 (--max-deletes 1, if that is meant: a gateway counts, and each of its peers)"},
		},
		"the last peer without a block": {
			before: []site{two()}, after: []site{two().with(func(s *site) { delete(s.peers, "plant2"); s.grants = nil })}, edit: prune,
			refusals: []string{"VPNGateway/acme/dc1: plant1 would reach everything, as the only peer and without authorization: nobody wrote that down (give plant1 an authorization block)"},
		},
		"the only peer loses its block": {
			before:   []site{dc1().with(func(s *site) { s.grants = map[string][]string{"plant1": nil} })},
			after:    []site{dc1()},
			refusals: []string{"VPNGateway/acme/dc1: plant1 would reach everything, as the only peer and without authorization: nobody wrote that down (give plant1 an authorization block)"},
		},
		"the first peer of a gateway needs no block": {
			before:  []site{dc1().with(func(s *site) { clear(s.peers) })},
			after:   []site{dc1()},
			changes: []string{"acme/dc1"},
		},
		"the first peer after others who were denied needs one": {
			before:   []site{dc1().with(func(s *site) { clear(s.peers) })},
			after:    []site{dc1()},
			edit:     func(w *world) { w.Ledgers[0].Grants = true },
			refusals: []string{"VPNGateway/acme/dc1: plant1 would reach everything, as the only peer and without authorization: nobody wrote that down (give plant1 an authorization block)"},
		},
		"another protocol": {
			before: sites(1), after: []site{moved(numbered(1))},
			edit:     func(w *world) { w.Ledgers[0].Protocol = vpn.WireGuard },
			refusals: []string{"VPNGateway/acme/dc1: the protocol can't change from wireguard to ipsec (remove the gateway, or give the new one another name)"},
		},
		"one gateway of two": {
			before: sites(2), after: []site{moved(numbered(1)), moved(numbered(2))},
			edit:    func(w *world) { w.Options.Gateways = []string{"acme/dc2"} },
			changes: []string{"acme/dc2"},
		},
		"a gateway that isn't there": {
			before: sites(2), after: sites(2),
			edit:     func(w *world) { w.Options.Gateways = []string{"acme/dcl", "dc2", "elsewhere/x"} },
			refusals: []string{"gateway acme/dcl is not known (acme/dc1, acme/dc2?)", "gateway dc2 is not known (acme/dc2?)", "gateway elsewhere/x is not known"},
		},
		"prune of the selected alone": {
			before: sites(3), after: sites(1),
			edit:    func(w *world) { prune(w); w.Options.Gateways = []string{"acme/dc2"} },
			changes: []string{"acme/dc2"},
		},
		"a refused owner, and the others": {
			before: sites(2), after: []site{moved(numbered(1)), moved(numbered(2))},
			edit:     func(w *world) { w.Refusals = []Refusal{{Owner: numbered(1).name(), Message: "no address is left"}} },
			changes:  []string{"acme/dc2"},
			refusals: []string{"VPNGateway/acme/dc1: no address is left"},
		},
		"a refused owner is not pruned": {
			before: sites(2), after: sites(1),
			edit: func(w *world) {
				prune(w)
				w.Refusals = []Refusal{{Owner: numbered(2).name(), Message: "two groups have this owner"}}
			},
			refusals: []string{"VPNGateway/acme/dc2: two groups have this owner"},
		},
		"what is tagged with nonsense": {
			before: sites(1), after: sites(1),
			edit: func(w *world) {
				prune(w)
				r := w.Observed[numbered(1).id("openstack.port")]
				r.ID.Name, r.Owner = "x", "Nonsense"
				w.Observed.Add(r)
			},
			notices: []string{`"Nonsense" is neither a gateway nor a link: what is tagged so is left alone`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := between(test.before, test.after)
			if test.edit != nil {
				test.edit(w)
			}
			p := Make(w.Input)
			var changes, notices, refusals []string
			for _, c := range p.Changes {
				changes = append(changes, c.Owner.Path())
			}
			for _, n := range p.Notices {
				notices = append(notices, n.Message+hinted(n.Hint))
			}
			for _, r := range p.Refusals {
				who := ""
				if !r.Owner.IsZero() {
					who = r.Owner.String() + ": "
				}
				refusals = append(refusals, who+r.Message+hinted(r.Hint))
			}
			slices.Sort(changes)
			for what, diff := range map[string]string{
				"changes":  cmp.Diff(test.changes, slices.Compact(changes)),
				"notices":  cmp.Diff(test.notices, notices),
				"refusals": cmp.Diff(test.refusals, refusals),
			} {
				if diff != "" {
					t.Errorf("%s (-want +got):\n%s", what, diff)
				}
			}
		})
	}
}

func TestBlocked(t *testing.T) {
	lost := moved(two()).with(func(s *site) { delete(s.peers, "plant2") })
	for name, test := range map[string]struct {
		edit    func(*world)
		want    string
		waiting int
	}{
		"not pruned": {
			want:    "peer plant2 has no manifest: nothing of this gateway is changed without --prune",
			waiting: 3, // rules, configuration and image; not the record of them
		},
		"the cloud side alone": {
			edit:    func(w *world) { w.Options.Only = OnlyCloud },
			want:    "peer plant2 has no manifest: nothing of this gateway is changed without --prune",
			waiting: 1,
		},
		"pruned": {edit: prune},
		"in a file that was not read": {
			edit:    func(w *world) { prune(w); w.UnreadPeers = map[string]string{"acme/dc1/plant2": "gw/p.yaml"} },
			want:    "peer plant2 stands in gw/p.yaml, which was not read",
			waiting: 3,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := between([]site{two()}, []site{lost})
			if test.edit != nil {
				test.edit(w)
			}
			p := Make(w.Input)
			if o := p.Owners[0]; o.Blocked != test.want || o.Waiting != test.waiting {
				t.Errorf("blocked %q with %d waiting, want %q with %d", o.Blocked, o.Waiting, test.want, test.waiting)
			}
			if (test.want == "") != (len(p.Changes) > 0) {
				t.Errorf("changes: %v", outline(p))
			}
			if want := []string{"plant1", "plant2"}; !slices.Equal(p.Owners[0].Peers, want) {
				t.Errorf("peers before or after: %v, want %v", p.Owners[0].Peers, want)
			}
		})
	}
}

func TestSummary(t *testing.T) {
	for name, test := range map[string]struct {
		world *world
		want  Summary
	}{
		"the record of what was applied does not count beside what was": {
			world: between([]site{dc1()}, []site{moved(dc1())}),
			want:  Summary{Updates: 1, Interrupted: []PeerRef{{dc1().name(), "plant1"}}, Worst: ImpactRestart},
		},
		"a record alone counts": {
			world: func() *world {
				w := between([]site{dc1()}, []site{dc1()})
				delete(w.Observed, dc1().id(resource.KindApplied))
				w.Ledgers[0].Applied = ""
				return w
			}(),
			want: Summary{Creates: 1},
		},
		"held until the first may go": {
			world: func() *world {
				w := between(sites(2), nil)
				prune(w)
				drainingSince(w, noon.Add(-time.Minute))
				return w
			}(),
			want: Summary{Updates: 1, Held: 7, HeldUntil: noon.Add(9 * time.Minute), Closes: 2}, // the files of both were lost, and the second drains from now on
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Make(test.world.Input).Summary()); diff != "" {
				t.Errorf("summary (-want +got):\n%s", diff)
			}
		})
	}
}

func prune(w *world) { w.Options.Prune = true }

func hinted(hint string) string {
	if hint == "" {
		return ""
	}
	return " (" + hint + ")"
}

func TestOwners(t *testing.T) {
	w := between([]site{numbered(2), numbered(3)}, []site{numbered(1), numbered(2)})
	w.Options.Gateways = []string{"acme/dc1"}
	want := []Owner{
		{Owner: numbered(1).name(), Protocol: vpn.IPsec, Peers: []string{"plant1"}, New: true, Namespace: "acme"},
		{Owner: numbered(2).name(), Protocol: vpn.IPsec, Peers: []string{"plant1"}, Excluded: true},
		{Owner: numbered(3).name(), Protocol: vpn.IPsec, Peers: []string{"plant1"}, Gone: true, Excluded: true},
	}
	if diff := cmp.Diff(want, Make(w.Input).Owners); diff != "" {
		t.Errorf("owners (-want +got):\n%s", diff)
	}
}
