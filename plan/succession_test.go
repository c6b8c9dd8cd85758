package plan

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/resource"
)

// heir is a new gateway that pins what dc1 has.
func heir(edit func(*site)) site {
	return dc1().with(func(s *site) {
		s.owner, s.cidr, s.address, s.hop, s.server = "VPNGateway/zeta/heir", "100.64.77.0/24", "", "", "worker-2"
		edit(s)
	})
}

func pinsRange(s *site)   { s.cidr = "100.64.3.0/24" }
func pinsAddress(s *site) { s.address, s.pinned = "203.0.113.3", true }

// movesFrom marks the first gateway's group: its move is not over.
func movesFrom(w *world, cidr string) {
	id := dc1().id(resource.KindSecurityGroup)
	r := w.Observed[id]
	g := *r.SecurityGroup
	g.MovingFrom = []netip.Prefix{netip.MustParsePrefix(cidr)}
	r.SecurityGroup = &g
	w.Observed.Add(r)
}

func TestSuccession(t *testing.T) {
	group, fip := heir(pinsRange).id(resource.KindSecurityGroup), heir(pinsRange).id(resource.KindFloatingIP)
	for name, test := range map[string]struct {
		before, after []site
		edit          func(*world)
		id            resource.ID
		needs         []resource.ID // of other owners
		held          bool
		refusals      []string
	}{
		"a range after the gateway that had it": {
			before: []site{dc1()}, after: []site{heir(pinsRange)}, edit: prune, id: group,
			needs: []resource.ID{dc1().id(resource.KindPort), dc1().id(resource.KindRoute)},
		},
		"a range after the gateway that moves away": {
			before: []site{dc1()}, after: []site{heir(pinsRange), dc1().with(func(s *site) { s.cidr = "100.64.5.0/24" })}, id: group,
			needs: []resource.ID{dc1().id(resource.KindPort), dc1().id(resource.KindRoute), dc1().id(resource.KindSecurityGroup)},
		},
		"a floating IP after the gateway that had it": {
			before: []site{dc1()}, after: []site{heir(pinsAddress)}, edit: prune, id: fip,
			needs: []resource.ID{dc1().id(resource.KindFloatingIP)},
		},
		"a customer's floating IP after the gateway that moves away": {
			before: []site{dc1().with(func(s *site) { s.pinned = true })},
			after:  []site{heir(pinsAddress), dc1().with(func(s *site) { s.address, s.pinned = "203.0.113.8", true })}, id: fip,
			needs: []resource.ID{dc1().id(resource.KindFloatingIP)},
		},
		"a range that waits for pods": {
			before: []site{dc1()}, after: []site{heir(pinsRange)}, edit: func(w *world) { prune(w); tree(w) }, id: group,
			needs: []resource.ID{dc1().id(resource.KindPort), dc1().id(resource.KindRoute)},
			held:  true,
		},
		"a range that the gateway, which goes, had not moved away from": {
			before: []site{dc1().with(func(s *site) { s.cidr = "100.64.5.0/24" })}, after: []site{heir(pinsRange)},
			edit: func(w *world) { prune(w); movesFrom(w, "100.64.3.0/24") }, id: group,
			needs: []resource.ID{dc1().id(resource.KindPort)},
		},
		"a range that it had not moved away from, and pods": {
			before: []site{dc1().with(func(s *site) { s.cidr = "100.64.5.0/24" })}, after: []site{heir(pinsRange)},
			edit: func(w *world) { prune(w); tree(w); movesFrom(w, "100.64.3.0/24") }, id: group,
			held: true,
		},
		"a range whose gateway stays": {
			before: []site{dc1()}, after: []site{dc1(), heir(pinsRange)},
			refusals: []string{"zeta/heir: service CIDR 100.64.3.0/24 is held by VPNGateway/acme/dc1"},
		},
		"a range whose gateway is not pruned": {
			before: []site{dc1()}, after: []site{heir(pinsRange)},
			refusals: []string{"zeta/heir: service CIDR 100.64.3.0/24 is held by VPNGateway/acme/dc1 (--prune deletes acme/dc1)"},
		},
		"a range whose gateway is not selected": {
			before: []site{dc1()}, after: []site{heir(pinsRange), dc1().with(func(s *site) { s.cidr = "100.64.5.0/24" })},
			edit:     func(w *world) { w.Options.Gateways = []string{"zeta/heir"} },
			refusals: []string{"zeta/heir: service CIDR 100.64.3.0/24 is held by VPNGateway/acme/dc1 (let go of it in the same run: --gateway acme/dc1)"},
		},
		"an address of ours after the gateway that gets another": {
			before: []site{dc1()}, after: []site{heir(pinsAddress), dc1().with(func(s *site) { s.address, s.pinned = "203.0.113.8", true })}, id: fip,
			needs: []resource.ID{dc1().id(resource.KindFloatingIP)},
		},
		"two gateways that change places": {
			before: []site{dc1(), numbered(2)},
			after:  []site{dc1().with(func(s *site) { s.cidr = "100.64.2.0/24" }), numbered(2).with(func(s *site) { s.cidr = "100.64.3.0/24" })},
			refusals: []string{
				"acme/dc1: these changes wait for each other (make them in two steps)",
				"acme/dc2: these changes wait for each other (make them in two steps)",
			},
		},
		"who waits for the refused is refused": {
			before: []site{dc1(), numbered(2)},
			after: []site{
				dc1().with(func(s *site) { s.cidr = "100.64.2.0/24" }), // dc2 stays where it is
				numbered(2), heir(pinsRange),
			},
			refusals: []string{
				"acme/dc1: service CIDR 100.64.2.0/24 is held by VPNGateway/acme/dc2",
				"zeta/heir: service CIDR 100.64.3.0/24 is held by VPNGateway/acme/dc1",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := between(test.before, test.after)
			if test.edit != nil {
				test.edit(w)
			}
			p := Make(w.Input)
			var refusals []string
			for _, r := range p.Refusals {
				message, _, _ := strings.Cut(r.Message, ": openstack")
				refusals = append(refusals, r.Owner.Path()+": "+message+hinted(r.Hint))
			}
			if diff := cmp.Diff(test.refusals, refusals); diff != "" {
				t.Fatalf("refusals (-want +got):\n%s", diff)
			}
			if test.id.IsZero() {
				return
			}
			i := slices.IndexFunc(p.Changes, func(c Change) bool { return c.ID == test.id })
			if i < 0 {
				t.Fatalf("no change of %s: %v", test.id, outline(p))
			}
			others := slices.DeleteFunc(slices.Clone(p.Changes[i].Needs), func(id resource.ID) bool { return id.Namespace == "zeta" })
			if diff := cmp.Diff(test.needs, others); diff != "" || (p.Changes[i].Held != "") != test.held {
				t.Errorf("held %q, needs (-want +got):\n%s", p.Changes[i].Held, diff)
			}
			if err := p.check(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestCircleOfOneGateway(t *testing.T) {
	w := between(nil, []site{dc1(), numbered(2)})
	port := w.Desired[dc1().id(resource.KindPort)]
	port.Needs = append(port.Needs, dc1().id(resource.KindRoute))
	w.Desired.Add(port)
	p := Make(w.Input)
	if len(p.Refusals) != 1 || p.Refusals[0].Owner != dc1().name() {
		t.Errorf("refusals: %v", p.Refusals)
	}
	if slices.ContainsFunc(p.Changes, func(c Change) bool { return c.Owner == dc1().name() }) || len(p.Changes) == 0 {
		t.Errorf("changes: %v", outline(p))
	}
}

func TestReleaseForAnHeir(t *testing.T) {
	w := between([]site{dc1()}, []site{heir(pinsAddress)})
	prune(w)
	for _, c := range Make(w.Input).Changes {
		if c.ID == dc1().id(resource.KindFloatingIP) && c.Action != Release {
			t.Errorf("%s %s, though a manifest pins it", c.Action, c.ID)
		}
	}
}

// The ledger that says which addresses a range has goes when its heir's is written.
func TestALedgerOutlivesItsRange(t *testing.T) {
	last := func(p Plan) (needs []resource.ID) {
		for _, c := range p.Changes {
			if c.ID == dc1().id(resource.KindSecurityGroup) {
				return c.Needs
			}
		}
		return nil
	}
	w := between([]site{dc1()}, []site{heir(pinsRange)})
	prune(w)
	for _, plc := range []byte{200, 0} { // with a route and an address pair that claim the range, and without
		w := between([]site{dc1().with(func(s *site) { s.plc = plc })}, []site{heir(pinsRange)})
		prune(w)
		p := Make(w.Input)
		if !slices.Contains(last(p), heir(pinsRange).id(resource.KindSecurityGroup)) {
			t.Errorf("the old ledger needs %v", last(p))
		}
		if err := p.check(); err != nil {
			t.Error(err)
		}
	}
	for id := range w.Observed { // nothing is left but the ledger
		if id.Kind != resource.KindSecurityGroup {
			delete(w.Observed, id)
		}
	}
	p := Make(w.Input)
	if slices.Contains(last(p), heir(pinsRange).id(resource.KindSecurityGroup)) {
		t.Errorf("the old ledger needs %v, though the new one would meet it", last(p))
	}
	if err := p.check(); err != nil {
		t.Error(err)
	}
}
