package plan

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

const takesOver = "all its tunnels end, and zeta/heir takes over its address and its range"

func TestInheritance(t *testing.T) {
	same := func(before, after resource.Graph) Verdict {
		if len(before) == 0 || len(after) == 0 {
			panic("no objects to compare")
		}
		return Verdict{}
	}
	drained := func(w *world) { // an earlier run has removed the files
		tree(w)
		w.Ledgers[0].Draining = noon.Add(-DefaultHold)
		for id, r := range w.Observed {
			if !id.Kind.Cloud() {
				delete(w.Observed, id)
			}
			if r.SecurityGroup != nil {
				g := *r.SecurityGroup
				g.Draining = w.Ledgers[0].Draining
				r.SecurityGroup = &g
				w.Observed[id] = r
			}
		}
	}
	const group, deployment = "- openstack.security-group/acme/dc1 ", "- kubernetes.deployment/acme/dc1 "
	for name, test := range map[string]struct {
		heir       func(*site)
		edit       func(*world)
		succession func(before, after resource.Graph) Verdict
		want       []string
	}{
		"all stays": {want: []string{deployment + "restart: " + takesOver}},
		"all stays, and only the road warriors' range is pinned": {
			edit: pinsRoadWarriors, want: []string{deployment + "restart: " + takesOver},
		},
		"a range for road warriors that lies in another service CIDR": {
			edit: func(w *world) {
				pinsRoadWarriors(w)
				w.Estate.Gateways[0].WireGuard.RoadWarriorCIDR = netip.MustParsePrefix("100.64.4.192/26")
			},
			want: []string{
				deployment + "customer: all its tunnels end for good: its peers must change or stop",
				group + "customer: service CIDR 100.64.3.0/24 is free for others",
			},
		},
		"another protocol": {
			edit: func(w *world) { w.Estate.Gateways[0].Protocol = vpn.WireGuard },
			want: []string{deployment + "customer: " + takesOver + "; it speaks wireguard, not ipsec"},
		},
		"another virtual IP": {
			heir: func(s *site) { s.web = 11 },
			want: []string{deployment + "customer: " + takesOver + "; web moves from 100.64.3.10 to 100.64.3.11"},
		},
		"another name at a virtual IP": {
			edit: func(w *world) { renamed(w, "web", "api") },
			want: []string{deployment + "customer: " + takesOver + "; 100.64.3.10 leads to api, not to web any more"},
		},
		"another virtual IP on our side": {
			heir: func(s *site) { s.plc = 201 },
			want: []string{deployment + "restart: " + takesOver + "; plc moves from 100.64.3.200 to 100.64.3.201: whoever calls it on our side must follow"},
		},
		"something else in the connections": {
			succession: func(_, _ resource.Graph) Verdict {
				return Verdict{Impact: ImpactCustomer, Customers: []string{"plant1"}, Consequence: "plant1 must identify itself as x"}
			},
			want: []string{deployment + "customer: " + takesOver + "; plant1 must identify itself as x"},
		},
		"connections that can't be compared": {
			succession: func(_, _ resource.Graph) Verdict { return Verdict{Impact: ImpactCustomer, Consequence: "not known"} },
			want:       []string{deployment + "customer: " + takesOver + "; not known"},
		},
		"files that are not there": {
			edit: func(w *world) {
				for id := range w.Observed {
					if !id.Kind.Cloud() {
						delete(w.Observed, id)
					}
				}
			},
			want: []string{
				"< openstack.floating-ip/acme/dc1 customer: " + takesOver + "; what else its peers have to change is not known, because its files are not there",
				"- openstack.port/acme/dc1 customer: " + takesOver + "; what else its peers have to change is not known, because its files are not there",
			},
		},
		"all stays, told after the pods have gone": {edit: drained},
		"a virtual IP, told after the pods have gone": {
			heir: func(s *site) { s.web = 11 }, edit: drained,
			want: []string{group + "customer: zeta/heir takes over: web moves from 100.64.3.10 to 100.64.3.11"},
		},
		"a peer less, told after the pods have gone": {
			heir: func(s *site) { s.peers = map[string]string{"plant1": "198.51.100.99"} }, edit: drained,
			want: []string{group + "customer: zeta/heir takes over: plant1 has no tunnel with zeta/heir"},
		},
		"a tunnel address that nobody has there, told when the pods have gone": {
			edit: func(w *world) { drained(w); w.Ledgers[0].Addresses = map[string]byte{"plant1": 199} },
			want: []string{group + "customer: zeta/heir takes over: 100.64.3.199, the tunnel address of plant1, is nobody's any more"},
		},
		"a tunnel address that another name has there": {
			edit: func(w *world) {
				drained(w)
				w.Ledgers[0].Addresses = map[string]byte{"plant1": 199}
				id := heir(pinsRange).id(resource.KindSecurityGroup)
				r := w.Desired[id]
				g := *r.SecurityGroup
				g.Ledger = append(slices.Clone(g.Ledger), resource.Entry{Name: "addresses.1", Value: "max:199"})
				r.SecurityGroup = &g
				w.Desired[id] = r
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			after := heir(func(s *site) {
				pinsAddress(s)
				pinsRange(s)
				if test.heir != nil {
					test.heir(s)
				}
			})
			w := between([]site{dc1()}, []site{after})
			prune(w)
			g := &w.Estate.Gateways[0]
			g.ServiceCIDR = after.ledger().ServiceCIDR
			for i := range g.Peers {
				g.Peers[i].Address = netip.MustParseAddr(after.peers[g.Peers[i].Name])
			}
			if w.Succession = same; test.succession != nil {
				w.Succession = test.succession
			}
			if test.edit != nil {
				test.edit(w)
			}
			p := Make(w.Input)
			if diff := cmp.Diff(test.want, effects(p)); diff != "" {
				t.Errorf("effects (-want +got):\n%s", diff)
			}
			if s := p.Summary(); s.Worst == ImpactCustomer && len(s.Customers) == 0 {
				t.Error("nobody is named who must act")
			}
		})
	}
}

// pinsRoadWarriors pins the range of road warriors, and by that the one around it.
func pinsRoadWarriors(w *world) {
	g := &w.Estate.Gateways[0]
	g.ServiceCIDR, g.WireGuard = netip.Prefix{}, &vpn.Interface{RoadWarriorCIDR: netip.MustParsePrefix("100.64.3.192/26")}
}

// renamed gives an exposure of the desired side another name.
func renamed(w *world, from, to string) {
	for id, r := range w.Desired {
		if r.SecurityGroup == nil {
			continue
		}
		l, err := alloc.ParseEntries(r.SecurityGroup.Ledger)
		if err != nil {
			panic(err)
		}
		l.VirtualIPs[to] = l.VirtualIPs[from]
		delete(l.VirtualIPs, from)
		g := *r.SecurityGroup
		g.Ledger = l.Entries()
		r.SecurityGroup = &g
		w.Desired[id] = r
	}
}

func TestALedgerDoesNotGoWithoutItsHeir(t *testing.T) {
	after := heir(func(s *site) { pinsAddress(s); pinsRange(s) })
	for name, test := range map[string]struct {
		before   []site
		edit     func(*world)
		selected []string
		want     []string
	}{
		"an heir that pins its road warriors' range alone": {
			before: []site{dc1()}, edit: pinsRoadWarriors, selected: []string{"acme/dc1"},
			want: []string{"acme/dc1: nothing of it is removed: its addresses would be lost to zeta/heir, which takes over its service CIDR (hand over in the same run: --gateway zeta/heir)"},
		},
		"an heir that is not selected": {
			before: []site{dc1()}, selected: []string{"acme/dc1"},
			want: []string{"acme/dc1: nothing of it is removed: its addresses would be lost to zeta/heir, which takes over its service CIDR (hand over in the same run: --gateway zeta/heir)"},
		},
		"an heir that is selected": {before: []site{dc1()}, selected: []string{"acme/dc1", "zeta/heir"}},
		"an heir that has the range already": {
			before: []site{dc1(), after.with(func(s *site) { s.address, s.pinned = "", false })}, selected: []string{"acme/dc1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := between(test.before, []site{after})
			prune(w)
			w.Estate.Gateways[0].ServiceCIDR = after.ledger().ServiceCIDR
			if test.edit != nil {
				test.edit(w)
			}
			w.Options.Gateways = test.selected
			p := Make(w.Input)
			var got []string
			for _, r := range p.Refusals {
				got = append(got, r.Owner.Path()+": "+r.Message+hinted(r.Hint))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("refusals (-want +got):\n%s", diff)
			}
			goes := false
			for _, c := range p.Changes {
				goes = goes || c.ID == dc1().id(resource.KindSecurityGroup) && c.Action == Delete
			}
			if goes != (test.want == nil) {
				t.Errorf("the old ledger goes: %v", goes)
			}
		})
	}
}
