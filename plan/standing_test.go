package plan

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/resource"
)

func TestDiffRefused(t *testing.T) {
	for name, test := range map[string]struct {
		harm func(*world)
		want string
	}{
		"a floating IP that somebody's port holds": {
			harm: func(w *world) {
				w.edit(dc1().id(resource.KindFloatingIP), func(r *resource.Resource) {
					r.FloatingIP = &resource.FloatingIP{Address: "203.0.113.3", Holder: `port "lb-frontend" (not ours)`}
				})
			},
			want: `floating IP 203.0.113.3 is held by port "lb-frontend" (not ours)`,
		},
		"a route that leads elsewhere": {
			harm: func(w *world) {
				w.edit(dc1().id(resource.KindRoute), func(r *resource.Resource) {
					r.Route = &resource.Route{Router: "r1", Destination: netip.MustParsePrefix("100.64.3.0/24"), Foreign: []string{"10.0.0.9"}}
				})
			},
			want: "route 100.64.3.0/24 leads to 10.0.0.9, which is not ours",
		},
		"a port that render forgot": {
			harm: func(w *world) { delete(w.Desired, dc1().id(resource.KindPort)) },
			want: "openstack.port/acme/dc1 is there, but nothing was rendered for it",
		},
		"a gateway that render forgot": {
			harm: func(w *world) { clear(w.Desired) },
			want: "nothing was rendered for it",
		},
		"a resource of another kind of gateway": {
			harm: func(w *world) {
				for _, r := range w.Observed {
					r.Owner = "IPsecGateway/acme/dc1"
					w.Observed.Add(r)
				}
			},
			want: "stands already and belongs to IPsecGateway/acme/dc1, as do 9 more that acme/dc1 needs",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := between([]site{dc1()}, []site{dc1().with(func(s *site) { s.image = "vpnctl:2" })})
			test.harm(w)
			p := Make(w.Input)
			if len(p.Changes) > 0 {
				t.Errorf("a refused owner has changes: %v", outline(p))
			}
			for _, r := range p.Refusals {
				if r.Owner == dc1().name() && r.Message == test.want {
					return
				}
			}
			t.Errorf("no refusal %q in %v", test.want, p.Refusals)
		})
	}
}

func TestKept(t *testing.T) {
	w := between([]site{dc1()}, []site{dc1()})
	w.edit(dc1().id(resource.KindSecurityGroup), func(r *resource.Resource) {
		g := *r.SecurityGroup
		g.Foreign = []resource.Rule{{Direction: "ingress", Ether: "IPv4", Protocol: "tcp", From: 22, To: 22}}
		r.SecurityGroup = &g
	})
	w.edit(dc1().id(resource.KindPort), func(r *resource.Resource) {
		p := *r.Port
		p.Foreign = []string{"10.9.9.9/32"}
		r.Port = &p
	})
	w.edit(dc1().id(resource.KindRoute), func(r *resource.Resource) {
		x := *r.Route
		x.Foreign = []string{"10.0.0.9"}
		r.Route = &x
		other := *r
		other.ID.Name += "@r2"
		other.Route = &resource.Route{Router: "r2", Destination: x.Destination, NextHop: x.NextHop}
		w.Observed.Add(other)
	})
	p := Make(w.Input)
	if len(p.Changes) > 0 || len(p.Refusals) > 0 {
		t.Errorf("foreign parts give changes: %v %v", outline(p), p.Refusals)
	}
	var got []string
	for _, k := range p.Kept {
		got = append(got, k.ID.String()+": "+k.What)
	}
	want := []string{
		"openstack.port/acme/dc1: allowed address pair 10.9.9.9/32",
		"openstack.route/acme/dc1: route 100.64.3.0/24 via 10.0.0.9",
		"openstack.security-group/acme/dc1: rule ingress tcp 22 anywhere",
		"openstack.route/acme/dc1@r2: route 100.64.3.0/24 via 10.254.0.3",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
}

func TestSecretsStayOut(t *testing.T) {
	w := between([]site{dc1()}, []site{dc1()})
	id := resource.ID{Kind: "kubernetes.secret", Namespace: "acme", Name: "psk"}
	r := resource.Resource{ID: id, Owner: dc1().owner, Object: &resource.Object{Kind: "Secret", Name: "psk", Content: "psk: hunter2\n"}}
	w.Observed.Add(seen(r))
	r.Object = &resource.Object{Kind: "Secret", Name: "psk", Content: "psk: hunter3\n"}
	w.Desired.Add(r)
	p := Make(w.Input)
	if len(p.Changes) != 1 {
		t.Fatalf("changes: %v", outline(p))
	}
	var b strings.Builder
	if err := p.Encode(&b); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "hunter") {
		t.Errorf("the plan holds a secret: %s", &b)
	}
}
