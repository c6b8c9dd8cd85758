package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/resource"
)

func TestOnly(t *testing.T) {
	for name, test := range map[string]struct {
		only          string
		before, after []site
		edit          func(*world)
		want          []string
		notice        string
	}{
		"the cloud side of a new gateway": {
			only: OnlyCloud, after: []site{dc1()},
			want: []string{
				"+ openstack.security-group/acme/dc1", "+ openstack.port/acme/dc1", "+ openstack.floating-ip/acme/dc1", "+ openstack.route/acme/dc1",
			},
			notice: "--only cloud leaves out 5 changes of the Kubernetes side",
		},
		"the Kubernetes side of a new gateway has nothing to stand on": {
			only: OnlyKubernetes, after: []site{dc1()},
			want: []string{
				"+ kubernetes.networkattachmentdefinition/acme/dc1 held", "+ kubernetes.configmap/acme/dc1-nat held", "+ kubernetes.configmap/acme/dc1-swanctl held",
				"+ kubernetes.deployment/acme/dc1 held", "+ kubernetes.kustomization/acme/dc1 held",
			},
			notice: "--only kubernetes leaves out 4 changes of the cloud side",
		},
		"the Kubernetes side of a peer that moved": {
			only: OnlyKubernetes, before: []site{two()}, after: []site{two().with(func(s *site) { s.peers["plant2"] = "198.51.100.20" })},
			want:   []string{"~ kubernetes.configmap/acme/dc1-swanctl reload"},
			notice: "--only kubernetes leaves out 1 change of the cloud side",
		},
		"no address is used that no ledger holds": {
			only: OnlyKubernetes, before: []site{two()}, after: []site{two().with(func(s *site) { s.web = 20 })},
			want:   []string{"~ kubernetes.configmap/acme/dc1-nat reload held"},
			notice: "--only kubernetes leaves out 1 change of the cloud side",
		},
		"the record is written where nothing is left out": {
			only: OnlyKubernetes, before: []site{dc1()}, after: []site{dc1()},
			edit: func(w *world) { w.Observed[dc1().id("kubernetes.deployment")] = tampered(w, "kubernetes.deployment") },
			want: []string{"~ kubernetes.deployment/acme/dc1 restart drift"},
		},
		"no port goes from under its pod": {
			only: OnlyCloud, before: []site{dc1()}, edit: prune,
			want: []string{
				"- openstack.route/acme/dc1 held", "- openstack.floating-ip/acme/dc1 customer held", "- openstack.port/acme/dc1 held", "- openstack.security-group/acme/dc1 customer held",
			},
			notice: "--only cloud leaves out 5 changes of the Kubernetes side",
		},
		"no hold begins while the files stand": {
			only: OnlyCloud, before: []site{dc1()}, edit: func(w *world) { prune(w); tree(w); w.Options.PodsGone = true },
			want: []string{
				"~ openstack.security-group/acme/dc1 held", "- openstack.route/acme/dc1 held", "- openstack.floating-ip/acme/dc1 customer held", "- openstack.port/acme/dc1 held",
			},
			notice: "--only cloud leaves out 5 changes of the Kubernetes side",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := between(test.before, test.after)
			w.Options.Only = test.only
			if test.edit != nil {
				test.edit(w)
			}
			p := Make(w.Input)
			if diff := cmp.Diff(test.want, outline(p)); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
			var notices []string
			for _, n := range p.Notices {
				notices = append(notices, n.Message)
			}
			if got := strings.Join(notices, "; "); got != test.notice {
				t.Errorf("notice %q, want %q", got, test.notice)
			}
			for _, c := range p.Changes {
				if !c.HeldUntil.IsZero() {
					t.Errorf("%s is held until %s, and no run would begin that hold", c.ID, c.HeldUntil)
				}
			}
			if err := p.check(); err != nil {
				t.Error(err)
			}
		})
	}
}

func tampered(w *world, k resource.Kind) resource.Resource {
	r := w.Observed[dc1().id(k)]
	o := *r.Object
	o.Content += "tampered: yes\n"
	r.Object = &o
	return r
}
