package plan

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/resource"
)

// effects are the changes that say what they do.
func effects(p Plan) []string {
	var all []string
	for _, c := range p.Changes {
		if c.Impact > ImpactNone || c.Consequence != "" {
			all = append(all, fmt.Sprintf("%s %s %s: %s", c.Action.Sign(), c.ID, c.Impact, c.Consequence))
		}
	}
	return all
}

// rome is the site of two peers, one of which has another name.
func rome() site {
	return two().with(func(s *site) {
		s.peers["rome"], s.grants["rome"] = s.peers["plant2"], s.grants["plant2"]
		delete(s.peers, "plant2")
		delete(s.grants, "plant2")
	})
}

func romeWasPlant2(before, after resource.Graph) map[string]string {
	if len(before) == 0 || len(after) == 0 {
		panic("no objects to compare")
	}
	return map[string]string{"plant2": "rome"}
}

func TestLoss(t *testing.T) {
	pinsBoth := func(s *site) { pinsAddress(s); pinsRange(s) }
	for name, test := range map[string]struct {
		before, after []site
		edit          func(*world)
		want          []string
	}{
		"a gateway goes with its address and its range": {
			before: []site{dc1()},
			want: []string{
				"- kubernetes.deployment/acme/dc1 customer: all its tunnels end for good: its peers must change or stop",
				"- openstack.floating-ip/acme/dc1 customer: 203.0.113.3 goes back to its pool and may never be had again",
				"- openstack.security-group/acme/dc1 customer: service CIDR 100.64.3.0/24 is free for others",
			},
		},
		"a customer's address is not lost": {
			before: []site{dc1().with(func(s *site) { s.pinned = true })},
			want: []string{
				"- kubernetes.deployment/acme/dc1 customer: all its tunnels end for good: its peers must change or stop",
				"- openstack.security-group/acme/dc1 customer: service CIDR 100.64.3.0/24 is free for others",
			},
		},
		"another gateway takes over all that the peers know": {
			before: []site{dc1()}, after: []site{heir(pinsBoth)},
			want: []string{"- kubernetes.deployment/acme/dc1 restart: all its tunnels end, and zeta/heir takes over its address and its range"},
		},
		"another gateway takes over the address alone": {
			before: []site{dc1()}, after: []site{heir(pinsAddress)},
			want: []string{
				"- kubernetes.deployment/acme/dc1 customer: all its tunnels end for good: its peers must change or stop",
				"- openstack.security-group/acme/dc1 customer: service CIDR 100.64.3.0/24 is free for others",
			},
		},
		"a gateway that never was in use harms nobody": {
			before: []site{dc1()},
			edit: func(w *world) {
				w.Ledgers[0].Applied = ""
				for id, r := range w.Observed {
					if !id.Kind.Cloud() || r.Applied != nil || r.FloatingIP != nil {
						delete(w.Observed, id)
					}
				}
			},
			want: []string{"- openstack.security-group/acme/dc1 none: service CIDR 100.64.3.0/24 is free for others"},
		},
		"a peer goes, whatever shows what it was rendered to": {
			before: []site{two()}, after: []site{two().with(func(s *site) { delete(s.peers, "plant2") })},
			edit: func(w *world) {
				for id, r := range w.Observed {
					if r.Object != nil && r.Object.Kind == "ConfigMap" {
						delete(w.Observed, id)
					}
				}
			},
			want: []string{"~ openstack.security-group/acme/dc1 customer: plant2 has no tunnel any more"},
		},
		"a peer goes on under another name": {
			before: []site{two()}, after: []site{rome()},
			edit: func(w *world) { w.Renamed = romeWasPlant2 },
			want: []string{"~ kubernetes.configmap/acme/dc1-nat reload: ", "~ kubernetes.configmap/acme/dc1-swanctl reload: "},
		},
		"another peer comes where one goes": {
			before: []site{two()}, after: []site{rome()},
			edit: func(w *world) {
				w.Renamed = func(_, _ resource.Graph) map[string]string { return nil }
			},
			want: []string{
				"~ openstack.security-group/acme/dc1 customer: plant2 has no tunnel any more",
				"~ kubernetes.configmap/acme/dc1-nat reload: ",
				"~ kubernetes.configmap/acme/dc1-swanctl reload: ",
			},
		},
		"a peer goes on under another name, and no files are there to tell": {
			before: []site{two()}, after: []site{rome()},
			edit: func(w *world) { bareCloud(w); w.Renamed = romeWasPlant2 },
			want: []string{
				"~ openstack.security-group/acme/dc1 customer: plant2 has no tunnel any more",
				"+ kubernetes.deployment/acme/dc1 restart: what its pod runs with is not known, because its files are not there: it may start again",
			},
		},
		"a peer goes to another gateway, under another name": {
			before: []site{two(), numbered(2)},
			after: []site{
				two().with(func(s *site) { delete(s.peers, "plant2") }),
				numbered(2).with(func(s *site) {
					s.peers["plant2b"] = "198.51.100.2"
					s.grants = map[string][]string{"plant1": {"web"}, "plant2b": nil}
				}),
			},
			want: []string{
				"~ openstack.security-group/acme/dc1 customer: plant2 goes to acme/dc2, whose address its side must use",
				"~ kubernetes.configmap/acme/dc1-swanctl reload: ",
				"~ kubernetes.configmap/acme/dc2-nat reload: plant1 loses plc",
				"~ kubernetes.configmap/acme/dc2-swanctl reload: ",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := between(test.before, test.after)
			prune(w)
			for i, s := range test.after {
				g := &w.Estate.Gateways[i]
				for n := range g.Peers {
					g.Peers[n].Address = netip.MustParseAddr(s.peers[g.Peers[n].Name])
				}
				if s.cidr == dc1().cidr {
					g.ServiceCIDR = s.ledger().ServiceCIDR
				}
			}
			if test.edit != nil {
				test.edit(w)
			}
			if diff := cmp.Diff(test.want, effects(Make(w.Input))); diff != "" {
				t.Errorf("effects (-want +got):\n%s", diff)
			}
		})
	}
}
