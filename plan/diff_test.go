package plan

import (
	"fmt"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/resource"
)

// stories are a plan's changes as a reader is told them.
func stories(p Plan) []string {
	var all []string
	for i, line := range outline(p) {
		c := p.Changes[i]
		line += " · " + c.Reason
		if c.Interrupts != nil || c.Customers != nil {
			line += fmt.Sprintf(" · interrupts %v, customers %v", c.Interrupts, c.Customers)
		}
		all = append(all, line)
	}
	return all
}

// with is the site with an edit.
func (s site) with(edit func(*site)) site {
	s.peers, s.grants = maps.Clone(s.peers), maps.Clone(s.grants)
	edit(&s)
	return s
}

func two() site {
	return dc1().with(func(s *site) {
		s.peers["plant2"] = "198.51.100.2"
		s.grants = map[string][]string{"plant1": {"web"}, "plant2": nil}
	})
}

func TestDiff(t *testing.T) {
	const record = "~ openstack.applied/acme/dc1 · records the state that is reached"
	for name, test := range map[string]struct {
		edit func(*site)  // of the manifests
		harm func(*world) // by another hand
		want []string
	}{
		"nothing": {},
		"a peer with another address": {
			edit: func(s *site) { s.peers["plant2"] = "198.51.100.20" },
			want: []string{
				"~ openstack.security-group/acme/dc1 reconnect · peer plant2 moved · interrupts [plant2], customers []",
				"~ kubernetes.configmap/acme/dc1-swanctl reload · peer plant2 moved",
				record,
			},
		},
		"a third peer": {
			edit: func(s *site) { s.peers["plant3"], s.grants["plant3"] = "198.51.100.3", nil },
			want: []string{
				"~ openstack.security-group/acme/dc1 · peer plant3 added",
				"~ kubernetes.configmap/acme/dc1-nat reload · peer plant3 added",
				"~ kubernetes.configmap/acme/dc1-swanctl reload · peer plant3 added",
				record,
			},
		},
		"another image": {
			edit: func(s *site) { s.image = "vpnctl:2" },
			want: []string{"~ kubernetes.deployment/acme/dc1 restart · image · interrupts [plant1 plant2], customers []", record},
		},
		"another node": {
			edit: func(s *site) { s.server = "worker-2" },
			want: []string{
				"~ openstack.port/acme/dc1 restart drift · worker-1 can no longer hold it · interrupts [plant1 plant2], customers []",
				"~ kubernetes.deployment/acme/dc1 restart drift · follows the port to worker-2 · interrupts [plant1 plant2], customers []",
			},
		},
		"another service CIDR": {
			edit: func(s *site) { s.cidr = "100.64.9.0/24" },
			want: []string{
				"~ openstack.security-group/acme/dc1 customer · pinned to 100.64.9.0/24 · interrupts [plant1 plant2], customers [plant1 plant2]",
				"~ openstack.port/acme/dc1 · the address pairs follow the service CIDR and the reverse exposures",
				"~ openstack.route/acme/dc1 · the service CIDR is now 100.64.9.0/24",
				"~ kubernetes.configmap/acme/dc1-nat reload · pinned to 100.64.9.0/24",
				record,
			},
		},
		"another virtual IP": {
			edit: func(s *site) { s.web = 20 },
			want: []string{
				"~ openstack.security-group/acme/dc1 customer · virtual IP web changed · interrupts [], customers [plant1]",
				"~ kubernetes.configmap/acme/dc1-nat reload · virtual IP web changed",
				record,
			},
		},
		"another reverse virtual IP": {
			edit: func(s *site) { s.plc = 201 },
			want: []string{
				"~ openstack.security-group/acme/dc1 reload · virtual IP plc changed",
				"~ kubernetes.configmap/acme/dc1-nat reload · virtual IP plc changed",
				record,
			},
		},
		"no reverse exposure any more": {
			edit: func(s *site) { s.plc = 0 },
			want: []string{
				"~ openstack.security-group/acme/dc1 · virtual IP plc removed",
				"~ openstack.port/acme/dc1 · the address pairs follow the service CIDR and the reverse exposures",
				"~ kubernetes.configmap/acme/dc1-nat reload · virtual IP plc removed",
				"- openstack.route/acme/dc1 · no reverse exposure any more",
				record,
			},
		},
		"a pinned floating IP": {
			edit: func(s *site) { s.address, s.pinned = "203.0.113.99", true },
			want: []string{
				"~ openstack.security-group/acme/dc1 · customer's floating IP added",
				"± openstack.floating-ip/acme/dc1 customer · pinned to 203.0.113.99 · interrupts [plant1 plant2], customers [plant1 plant2]",
				"~ kubernetes.configmap/acme/dc1-swanctl reload · customer's floating IP added",
				record,
			},
		},
		"the address that is held already is pinned": {
			edit: func(s *site) { s.pinned = true },
			want: []string{
				"~ openstack.security-group/acme/dc1 · customer's floating IP added",
				"~ openstack.floating-ip/acme/dc1 · pinned: the address is now the customer's",
				record,
			},
		},
		"rules, pairs, association, route and text that somebody changed": {
			harm: func(w *world) {
				w.edit(two().id(resource.KindSecurityGroup), func(r *resource.Resource) {
					g := *r.SecurityGroup
					g.Rules = g.Rules[1:]
					r.SecurityGroup = &g
				})
				w.edit(two().id(resource.KindPort), func(r *resource.Resource) {
					p := *r.Port
					p.Pairs, p.Misfit, p.Unguarded, p.Down = nil, "in group default as well", true, true
					r.Port = &p
				})
				w.edit(two().id(resource.KindFloatingIP), func(r *resource.Resource) {
					f := *r.FloatingIP
					f.Port = resource.ID{}
					r.FloatingIP = &f
				})
				w.edit(two().id(resource.KindRoute), func(r *resource.Resource) {
					x := *r.Route
					x.Stale = []string{"10.254.0.77"}
					r.Route = &x
				})
				w.edit(two().id("kubernetes.deployment"), func(r *resource.Resource) {
					o := *r.Object
					o.Content = "image: evil\n"
					r.Object = &o
				})
			},
			want: []string{
				"~ openstack.security-group/acme/dc1 drift · changed by someone else: rules",
				"~ openstack.port/acme/dc1 drift · changed by someone else: allowed address pairs, security groups, port security, state",
				"~ openstack.floating-ip/acme/dc1 drift · changed by someone else: disassociated",
				"~ openstack.route/acme/dc1 drift · changed by someone else: stale next hops",
				"~ kubernetes.deployment/acme/dc1 restart drift · changed by someone else: content · interrupts [plant1 plant2], customers []",
			},
		},
		"a rule that stands twice": {
			harm: func(w *world) {
				w.edit(two().id(resource.KindSecurityGroup), func(r *resource.Resource) {
					g := *r.SecurityGroup
					g.Rules = append(g.Rules[:1:1], g.Rules...)
					r.SecurityGroup = &g
				})
			},
			want: []string{"~ openstack.security-group/acme/dc1 drift · changed by someone else: rules"},
		},
		"a detached port": {
			harm: func(w *world) {
				w.edit(two().id(resource.KindPort), func(r *resource.Resource) {
					p := *r.Port
					p.Server, p.Node = "", ""
					r.Port = &p
				})
			},
			want: []string{"~ openstack.port/acme/dc1 restart drift · changed by someone else: detached · interrupts [plant1 plant2], customers []"},
		},
		"a port that has vanished": {
			edit: func(s *site) { s.hop = "" },
			harm: func(w *world) {
				delete(w.Observed, two().id(resource.KindPort))
				w.edit(two().id(resource.KindFloatingIP), func(r *resource.Resource) {
					f := *r.FloatingIP
					f.Port = resource.ID{}
					r.FloatingIP = &f
				})
			},
			want: []string{
				"+ openstack.port/acme/dc1 restart drift · removed by someone else · interrupts [plant1 plant2], customers []",
				"~ openstack.floating-ip/acme/dc1 drift · follows the port, which is made anew",
				"~ openstack.route/acme/dc1 drift · follows the port, which is made anew",
				"~ kubernetes.networkattachmentdefinition/acme/dc1 reload drift · follows the port, which is made anew",
			},
		},
		"a floating IP that has vanished": {
			edit: func(s *site) { s.address = "" },
			harm: func(w *world) { delete(w.Observed, two().id(resource.KindFloatingIP)) },
			want: []string{
				"+ openstack.floating-ip/acme/dc1 customer drift · removed by someone else · interrupts [plant1 plant2], customers [plant1 plant2]",
				"~ kubernetes.configmap/acme/dc1-swanctl reload drift · follows the floating IP, which is made anew",
			},
		},
		"a port in another network": {
			edit: func(s *site) { s.hop = "" },
			harm: func(w *world) {
				w.edit(two().id(resource.KindPort), func(r *resource.Resource) {
					p := *r.Port
					p.Network = "old"
					r.Port = &p
				})
			},
			want: []string{
				"± openstack.port/acme/dc1 restart drift · changed by someone else: network · interrupts [plant1 plant2], customers []",
				"~ openstack.floating-ip/acme/dc1 drift · follows the port, which is made anew",
				"~ openstack.route/acme/dc1 drift · follows the port, which is made anew",
				"~ kubernetes.networkattachmentdefinition/acme/dc1 reload drift · follows the port, which is made anew",
			},
		},
		"an apply that was cut off": {
			harm: func(w *world) {
				w.Ledgers[0].Applied = ""
				for id := range w.Observed {
					if id.Kind != resource.KindSecurityGroup {
						delete(w.Observed, id)
					}
				}
			},
			want: []string{
				"+ openstack.port/acme/dc1 · not there yet",
				"+ openstack.floating-ip/acme/dc1 · not there yet",
				"+ openstack.route/acme/dc1 · not there yet",
				"+ kubernetes.networkattachmentdefinition/acme/dc1 · not there yet",
				"+ kubernetes.configmap/acme/dc1-nat · not there yet",
				"+ kubernetes.configmap/acme/dc1-swanctl · not there yet",
				"+ kubernetes.deployment/acme/dc1 · not there yet",
				"+ kubernetes.kustomization/acme/dc1 · not there yet",
				"+ openstack.applied/acme/dc1 · records the state that is reached",
			},
		},
		"a create that was cut off before its tags": {
			harm: func(w *world) {
				w.edit(two().id(resource.KindPort), func(r *resource.Resource) { r.CutOff = true })
			},
			want: []string{"+ openstack.port/acme/dc1 restart drift · removed by someone else · interrupts [plant1 plant2], customers []"},
		},
		"a floating IP left over from a cut-off move": {
			harm: func(w *world) {
				r := w.Observed[two().id(resource.KindFloatingIP)]
				r.ID.Name += "@b2"
				r.FloatingIP = &resource.FloatingIP{Address: "203.0.113.55"}
				w.Observed.Add(r)
			},
			want: []string{"- openstack.floating-ip/acme/dc1@b2 · left over from a change that was cut off"},
		},
		"an unmarked port that a rule lets us take over": {
			harm: func(w *world) {
				w.edit(two().id(resource.KindPort), func(r *resource.Resource) {
					r.Proof, r.Adopt = "", "made by hand on the right network"
				})
			},
			want: []string{"> openstack.port/acme/dc1 · made by hand on the right network"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			after := two()
			if test.edit != nil {
				after = after.with(test.edit)
			}
			w := between([]site{two()}, []site{after})
			if test.harm != nil {
				test.harm(w)
			}
			p := Make(w.Input)
			if len(p.Refusals) > 0 {
				t.Errorf("refused: %v", p.Refusals)
			}
			if diff := cmp.Diff(test.want, stories(p)); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}
func TestARuleOfAnotherHandStandsForAnEqualOneOfOurs(t *testing.T) {
	rule := resource.Rule{Direction: "ingress", Ether: "IPv4", Protocol: "udp", From: 500, To: 500, Why: "peer plant1"}
	foreign := rule
	foreign.Why = ""
	want := resource.SecurityGroup{Rules: []resource.Rule{rule}}
	have := resource.SecurityGroup{Foreign: []resource.Rule{foreign}}
	if got := groupAttributes(have, want); len(got) > 0 {
		t.Errorf("differences %v, want none: the cloud refuses the same rule twice", got)
	}
	have.Foreign[0].To = 501
	if got := groupAttributes(have, want); len(got) != 1 {
		t.Errorf("differences %v, want the missing rule", got)
	}
}

// TestAnObjectThatIsBeingDeleted: it is made anew, although it says what it should; one that
// isn't ours is left to whoever deletes it.
func TestAnObjectThatIsBeingDeleted(t *testing.T) {
	id := dc1().id(kindDeployment)
	for proof, want := range map[string]Action{"label": Replace, "": ""} {
		w := between([]site{dc1()}, []site{dc1()})
		w.edit(id, func(r *resource.Resource) {
			o := *r.Object
			o.Live = &resource.Live{Deleting: true}
			r.Object, r.Proof = &o, proof
		})
		p := Make(w.Input)
		var got Action
		for _, c := range p.Changes {
			if c.ID == id {
				got = c.Action
				if c.Proof == "" || c.Reason != "it is being deleted, and made anew once it is gone" {
					t.Errorf("proof %q, reason %q", c.Proof, c.Reason)
				}
			}
		}
		if refused := len(p.Refusals) > 0; got != want || refused != (proof == "") {
			t.Errorf("with the proof %q: %q, want %q; refused: %v", proof, got, want, p.Refusals)
		}
	}
}
