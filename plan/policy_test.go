package plan

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

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
			edit:    func(w *world) { drainingSince(w, noon) },
			notices: []string{"no manifest any more, draining since 2026-03-01T12:00:00Z: 5 resources are left alone (--prune deletes it)"},
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
			refusals: []string{"12 gateways and peers would be deleted, more than 10: acme/dc2, acme/dc3, acme/dc4, acme/dc5, acme/dc6, acme/dc7 (--max-deletes 12, if that is meant)"},
		},
		"none may go": {
			before: sites(2), after: sites(1), edit: func(w *world) { prune(w); w.Options.MaxDeletes = -1 },
			refusals: []string{"2 gateways and peers would be deleted, more than 0: acme/dc2 (--max-deletes 2, if that is meant)"},
		},
		"no manifest at all": {
			before: sites(1), edit: func(w *world) { prune(w); w.Manifests = 0 },
			refusals: []string{"no manifest was read (--allow-empty, if the last one was removed on purpose)"},
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
			refusals: []string{"1 gateway or peer would be deleted, more than 0: plant2 of acme/dc1 (--max-deletes 1, if that is meant)"},
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
			notices: []string{`"Nonsense" is not a gateway: what is tagged so is left alone`},
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
		{Owner: numbered(1).name(), Protocol: vpn.IPsec, Peers: []string{"plant1"}, New: true},
		{Owner: numbered(2).name(), Protocol: vpn.IPsec, Peers: []string{"plant1"}, Excluded: true},
		{Owner: numbered(3).name(), Protocol: vpn.IPsec, Peers: []string{"plant1"}, Gone: true, Excluded: true},
	}
	if diff := cmp.Diff(want, Make(w.Input).Owners); diff != "" {
		t.Errorf("owners (-want +got):\n%s", diff)
	}
}
