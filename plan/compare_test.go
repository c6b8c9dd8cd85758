package plan

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/resource"
)

func TestCompare(t *testing.T) {
	edit := func(s *site) { s.peers["plant2"] = "198.51.100.20" }
	for name, test := range map[string]struct {
		saved, now func() *world
		want       []string
	}{
		"the same": {
			saved: func() *world { return between([]site{two()}, []site{two().with(edit)}) },
			now:   func() *world { return between([]site{two()}, []site{two().with(edit)}) },
		},
		"somebody took the address": {
			saved: func() *world { return between(nil, []site{dc1()}) },
			now: func() *world {
				w := between(nil, []site{dc1()})
				w.Refusals = []Refusal{{Owner: dc1().name(), ID: dc1().id(resource.KindFloatingIP), Message: `held by port "lb-frontend" (not ours) since 14:02`}}
				return w
			},
			want: []string{`openstack.floating-ip/acme/dc1 planned: create: address 203.0.113.3, ownership vpnctl's, port openstack.port/acme/dc1 now: held by port "lb-frontend" (not ours) since 14:02`},
		},
		"somebody did it already": {
			saved: func() *world { return between([]site{two()}, []site{two().with(edit)}) },
			now: func() *world {
				w := between([]site{two()}, []site{two().with(edit)})
				r := two().with(edit).observed()[two().id(resource.KindSecurityGroup)]
				w.Observed.Add(r)
				return w
			},
			want: []string{"openstack.security-group/acme/dc1 planned: update: rules ingress udp 4500 198.51.100.20/32 and ingress udp 500 198.51.100.20/32 now: nothing to do"},
		},
		"more to do than planned": {
			saved: func() *world { return between([]site{two()}, []site{two().with(edit)}) },
			now: func() *world {
				w := between([]site{two()}, []site{two().with(edit)})
				w.Observed.Add(tampered(w, "kubernetes.deployment"))
				return w
			},
			want: []string{"kubernetes.deployment/acme/dc1 planned: nothing to do now: update: content"},
		},
		"the same file, otherwise": {
			saved: func() *world {
				return between([]site{dc1()}, []site{dc1().with(func(s *site) { s.image = "vpnctl:2" })})
			},
			now: func() *world {
				return between([]site{dc1()}, []site{dc1().with(func(s *site) { s.image = "vpnctl:3" })})
			},
			want: []string{
				"kubernetes.deployment/acme/dc1 planned: update: content now: update: content, but with other content",
				"openstack.applied/acme/dc1 planned: update: hash A now: update: hash B",
			},
		},
		"another time is the same": {
			saved: func() *world { return gone(tree) },
			now:   func() *world { w := gone(tree); w.Now = noon.Add(3 * time.Minute); return w },
		},
		"the hold is over since": {
			saved: func() *world { return gone(func(w *world) { drainingSince(w, noon.Add(-9*time.Minute)) }) },
			now:   func() *world { return gone(func(w *world) { drainingSince(w, noon.Add(-11*time.Minute)) }) },
			want: []string{
				"openstack.floating-ip/acme/dc1 planned: delete (held) now: delete", "openstack.port/acme/dc1 planned: delete (held) now: delete",
				"openstack.route/acme/dc1 planned: delete (held) now: delete", "openstack.security-group/acme/dc1 planned: delete (held) now: delete",
			},
		},
		"a foreign rule more changes nothing that is done": {
			saved: func() *world { return between([]site{two()}, []site{two().with(edit)}) },
			now: func() *world {
				w := between([]site{two()}, []site{two().with(edit)})
				w.edit(two().id(resource.KindSecurityGroup), func(r *resource.Resource) {
					g := *r.SecurityGroup
					g.Foreign = []resource.Rule{{Direction: "ingress", Ether: "IPv4", Protocol: "tcp"}}
					r.SecurityGroup = &g
				})
				return w
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, d := range Compare(Make(test.saved().Input), Make(test.now().Input)) {
				planned, now := d.Planned, d.Now
				if strings.HasPrefix(planned, "update: hash ") { // the tests' hashes are long
					planned, now = "update: hash A", "update: hash B"
				}
				got = append(got, d.ID.String()+" planned: "+planned+" now: "+now)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
		})
	}
}

func TestExceeds(t *testing.T) {
	p := Make(between([]site{dc1()}, []site{dc1().with(func(s *site) { s.image, s.web = "vpnctl:2", 20 })}).Input)
	for limit, want := range map[Impact]int{ImpactNone: 4, ImpactReload: 3, ImpactRestart: 2, ImpactCustomer: 1} {
		if got := len(p.Exceeds(limit)); got != want {
			t.Errorf("%d changes are %s or worse, want %d of %v", got, limit, want, outline(p))
		}
	}
	if held := Make(gone(func(w *world) { drainingSince(w, noon) }).Input).Exceeds(ImpactNone); len(held) > 0 {
		t.Errorf("held lines count: %v", held)
	}
}

// What a reader relies on can't be edited in a saved plan.
func TestCompareOfWhatIsSaid(t *testing.T) {
	made := Make(between([]site{two()}, []site{two().with(func(s *site) {
		s.image, s.web = "vpnctl:2", 12
		s.grants = map[string][]string{"plant1": {"web"}, "plant2": {"web"}}
	})}).Input)
	worst := slices.IndexFunc(made.Changes, func(c Change) bool { return c.Impact == ImpactCustomer })
	for name, c := range map[string]struct {
		edit func(*Plan)
		want string
	}{
		"nothing":          {func(*Plan) {}, ""},
		"the impact":       {func(p *Plan) { p.Changes[worst].Impact = ImpactNone }, "openstack.security-group/acme/dc1 impact none;"},
		"whom it concerns": {func(p *Plan) { p.Changes[worst].Customers = nil }, "openstack.security-group/acme/dc1 impact customer;"},
		"what it does":     {func(p *Plan) { p.Changes[worst].Consequence = "" }, "openstack.security-group/acme/dc1 impact customer;"},
		"a reason":         {func(p *Plan) { p.Changes[worst].Reason = "a label" }, "the reason of openstack.security-group/acme/dc1: a label"},
		"drift":            {func(p *Plan) { p.Changes[worst].Drift = true }, "openstack.security-group/acme/dc1 impact customer;"},
		"a row less":       {func(p *Plan) { p.Access = nil }, "plant2 → web: nothing"},
		"a row": {func(p *Plan) {
			for i, a := range p.Access {
				if a.Peer == "plant2" && a.Exposure == "web" {
					p.Access[i].After = a.Before
				}
			}
		}, "plant2 → web: nothing"},
		"a gateway":        {func(p *Plan) { p.Owners[0].New = true }, "gateway: ipsec; new; peers plant1, plant2"},
		"a gateway's peer": {func(p *Plan) { p.Owners[0].Peers = nil }, "gateway: ipsec; peers "},
	} {
		t.Run(name, func(t *testing.T) {
			saved, err := Decode(strings.NewReader(encoded(t, made)))
			if err != nil {
				t.Fatal(err)
			}
			c.edit(&saved)
			var got []string
			for _, d := range Compare(saved, made) {
				got = append(got, strings.TrimPrefix(d.ID.String()+" ", "/ ")+d.Planned)
			}
			if c.want == "" && got != nil || c.want != "" && (len(got) == 0 || !strings.HasPrefix(got[0], c.want)) {
				t.Errorf("differences %q, want %q", got, c.want)
			}
		})
	}
}

func TestDenies(t *testing.T) {
	w := between([]site{two()}, []site{two().with(func(s *site) { s.web, s.image = 12, "vpnctl:2" })})
	p := Make(w.Input)
	d := p.Denies(ImpactRestart)
	if d == nil || d.Worst != ImpactCustomer || d.Changes[0] != dc1().id(resource.KindSecurityGroup) || len(d.Changes) != 2 {
		t.Errorf("denied: %+v", d)
	}
	if p.Denies(ImpactNone) != nil || Make(between([]site{two()}, []site{two()}).Input).Denies(ImpactReload) != nil {
		t.Error("denied without a limit, or without changes")
	}
}
