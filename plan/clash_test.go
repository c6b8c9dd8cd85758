package plan

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// enrol adds the peers' own manifests, which have their names to themselves in a
// namespace.
func (w *world) enrol(before, after []site) {
	for _, s := range before {
		for _, r := range s.enrolled() {
			w.Observed.Add(seen(r))
		}
	}
	for _, s := range after {
		w.Desired.Add(s.enrolled()...)
	}
}

func (s site) enrolled() []resource.Resource {
	var all []resource.Resource
	for _, name := range slices.Sorted(maps.Keys(s.peers)) {
		id := resource.ID{Kind: "kubernetes.vpnpeer", Namespace: s.name().Namespace, Name: name}
		all = append(all, resource.Resource{ID: id, Owner: s.owner, Object: &resource.Object{
			Kind: "VPNPeer", Namespace: id.Namespace, Name: name, Content: "gatewayRef: " + s.name().Name + "\n",
		}})
	}
	return all
}

func TestClash(t *testing.T) {
	edge := func(edit func(*site)) site {
		return two().with(func(s *site) {
			s.owner, s.cidr, s.address, s.hop = "VPNGateway/acme/edge", "100.64.77.0/24", "", ""
			edit(s)
		})
	}
	same := func(*site) {}
	const kept = "acme/dc1: nothing of it is removed: acme/edge needs what belongs to it, kubernetes.vpnpeer/acme/plant1, and acme/edge is refused (see what is said of acme/edge)"
	for name, test := range map[string]struct {
		before, after []site
		edit          func(*world)
		refusals      []string
		changes       []string // owners that change
	}{
		"a gateway under another name": {
			before: []site{two()}, after: []site{edge(same)}, edit: prune,
			refusals: []string{
				kept,
				"acme/edge: kubernetes.vpnpeer/acme/plant1 stands already and belongs to VPNGateway/acme/dc1, as does 1 more that acme/edge needs " +
					"(dc1 → edge? pin floatingIP 203.0.113.3 and serviceCIDR 100.64.3.0/24 of dc1 in edge first, and give the peers new names)",
			},
		},
		"a gateway under another name without prune": {
			before: []site{two()}, after: []site{edge(func(s *site) { s.cidr = "100.64.3.0/24" })},
			refusals: []string{
				"acme/edge: kubernetes.vpnpeer/acme/plant1 stands already and belongs to VPNGateway/acme/dc1, as does 1 more that acme/edge needs " +
					"(dc1 → edge? pin floatingIP 203.0.113.3 of dc1 in edge first, and give the peers new names)",
			},
			edit: func(w *world) {
				w.Estate.Gateways[0].ServiceCIDR = edge(func(s *site) { s.cidr = "100.64.3.0/24" }).ledger().ServiceCIDR
			},
		},
		"a peer that goes to another gateway": {
			before: []site{two(), numbered(5).with(func(s *site) { s.peers = map[string]string{"plant5": "198.51.100.5"} })},
			after: []site{
				two().with(func(s *site) { delete(s.peers, "plant1") }),
				edge(func(s *site) { s.peers = map[string]string{"plant1": "198.51.100.1"} }), moved(numbered(5)).with(func(s *site) { s.peers = map[string]string{"plant5": "198.51.100.5"} }),
			},
			edit: prune,
			refusals: []string{
				kept,
				"acme/edge: kubernetes.vpnpeer/acme/plant1 stands already and belongs to VPNGateway/acme/dc1 " +
					"(a peer has one gateway: take it away and run apply with --prune, then add it to edge; or give it another name)",
			},
			changes: []string{"acme/dc5"},
		},
		"another kind under the same name": {
			before: []site{dc1()}, after: []site{dc1().with(func(s *site) { s.owner = "IPsecGateway/acme/dc1" })}, edit: prune,
			refusals: []string{
				"acme/dc1: kubernetes.deployment/acme/dc1 stands already and belongs to VPNGateway/acme/dc1, as do 10 more that acme/dc1 needs " +
					"(two kinds of one name share their objects: take this manifest away, prune the other, then add it again)",
				"acme/dc1: nothing of it is removed: acme/dc1 needs what belongs to it, kubernetes.deployment/acme/dc1, and acme/dc1 is refused (see what is said of acme/dc1)",
			},
		},
		"an heir that is refused for another reason": {
			before: []site{dc1()}, after: []site{heir(pinsAddress)},
			edit: func(w *world) {
				prune(w)
				w.Refusals = []Refusal{{Owner: heir(pinsAddress).name(), Message: "no node is left"}}
			},
			refusals: []string{
				"acme/dc1: nothing of it is removed: zeta/heir takes over its floating IP 203.0.113.3, and zeta/heir is refused (see what is said of zeta/heir)",
				"zeta/heir: no node is left",
			},
		},
		"two heirs, of which the one of the range is refused": {
			before: []site{dc1()},
			after: []site{
				heir(pinsAddress),
				heir(func(s *site) { s.owner = "VPNGateway/zeta/other"; pinsRange(s) }),
			},
			edit: func(w *world) {
				prune(w)
				other := &w.Estate.Gateways[1]
				other.ServiceCIDR = dc1().ledger().ServiceCIDR
				w.Refusals = []Refusal{{Owner: other.Owner, Message: "no node is left"}}
			},
			refusals: []string{
				"acme/dc1: nothing of it is removed: zeta/other takes over its service CIDR 100.64.3.0/24, and zeta/other is refused (see what is said of zeta/other)",
				"zeta/heir: floating IP 203.0.113.3 is held by VPNGateway/acme/dc1",
				"zeta/other: no node is left",
			},
		},
		"an heir of a range that somebody else keeps": {
			before: []site{dc1(), numbered(2)},
			after:  []site{numbered(2), heir(func(s *site) { pinsAddress(s); s.cidr = "100.64.2.0/24" })},
			edit:   prune,
			refusals: []string{
				"acme/dc1: nothing of it is removed: zeta/heir takes over its floating IP 203.0.113.3, and zeta/heir is refused (see what is said of zeta/heir)",
				"zeta/heir: service CIDR 100.64.2.0/24 is held by VPNGateway/acme/dc2",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := between(test.before, test.after)
			w.enrol(test.before, test.after)
			test.edit(w)
			p := Make(w.Input)
			var refusals, changes []string
			for _, r := range p.Refusals {
				message := r.Message
				if r.ID.Kind == "kubernetes.vpnpeer" || r.ID.Kind == kindDeployment {
					message = r.ID.String() + " " + message
				}
				refusals = append(refusals, r.Owner.Path()+": "+message+hinted(r.Hint))
			}
			for _, c := range p.Changes {
				changes = append(changes, c.Owner.Path())
			}
			if diff := cmp.Diff(test.refusals, refusals); diff != "" {
				t.Errorf("refusals (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.changes, slices.Compact(changes)); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOneRefusalForEachCause(t *testing.T) {
	w := between(nil, []site{dc1(), numbered(2)})
	for id, r := range w.Desired {
		if r.Object == nil {
			continue
		}
		owner, _ := vpn.ParseOwner(r.Owner)
		w.Refusals = append(w.Refusals, Refusal{Owner: owner, ID: id, Message: r.Object.Path + " is there already", Hint: "move it away"})
	}
	w.Refusals = append(w.Refusals, Refusal{Owner: dc1().name(), Message: "no node is left"})
	var got []string
	for _, r := range Make(w.Input).Refusals {
		got = append(got, r.Owner.Path()+": "+r.Message+hinted(r.Hint))
	}
	want := []string{
		"acme/dc1: no node is left",
		"acme/dc1: acme/dc1/deployment-dc1.yaml is there already; 4 more like this (move it away)",
		"acme/dc2: acme/dc2/deployment-dc2.yaml is there already; 4 more like this (move it away)",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("refusals (-want +got):\n%s", diff)
	}
}
