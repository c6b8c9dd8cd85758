package loop_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/kube/fakeapi"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// TestAClusterThatIsNotWritable: whoever may not write a manifest, or has no namespace
// for it, touches nothing in the cloud, and is told so once.
func TestAClusterThatIsNotWritable(t *testing.T) {
	for name, code := range map[string]int{"no right to write": 403, "no namespace": 404} {
		p := newPassing(t)
		p.secret()
		p.api.Intercept(func(_ int, c fakeapi.Call) fakeapi.Fault {
			if c.Writes() {
				return fakeapi.Fault{Code: code}
			}
			return fakeapi.Fault{}
		})
		report, _ := p.apply(withPlant2(t, acmeInACluster(t)), plan.Options{})
		if tally := simulator.Count(p.cloud.Sim.Calls()); tally.Writes > 0 {
			t.Errorf("%s: the cloud was written to: %v", name, tally.By)
		}
		if failed := report.With(cloud.Failed); len(failed) != 1 || failed[0].Change.ID.Kind != "kubernetes.vpngateway" {
			t.Errorf("%s: %d failures, want that of the gateway's manifest alone: %v", name, len(failed), failed)
		}
		p.api.Intercept(nil)
		if report, _ := p.apply(withPlant2(t, acmeInACluster(t)), plan.Options{}); report.Err() != nil {
			t.Errorf("%s: once it may: %v", name, report.Err())
		}
	}
}

// TestWhatIsLackingInACluster: a plan names the namespace and the Secrets that aren't
// there, and says where it can't see them.
func TestWhatIsLackingInACluster(t *testing.T) {
	type lack struct {
		Namespace string
		Secrets   []string
		Refused   []string
		Notices   int
	}
	look := func(p *passing, namespace string) lack {
		t.Helper()
		e := acmeInACluster(t)
		g := e.Gateways[0]
		g.Owner.Namespace = namespace
		g.Manifests = slices.Clone(g.Manifests)
		for i := range g.Manifests {
			g.Manifests[i].Namespace = namespace
		}
		e.Gateways = []vpn.Gateway{g}
		r := p.plan(e, plan.Options{}).Plan
		l := lack{Namespace: r.Owners[0].Namespace, Notices: len(r.Notices)}
		for _, s := range r.Owners[0].Secrets {
			l.Secrets = append(l.Secrets, s.Name)
		}
		for _, x := range r.Refusals {
			l.Refused = append(l.Refused, x.Message+": "+x.Hint)
		}
		return l
	}
	check := func(what string, want, got lack) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	p := newPassing(t)
	check("the Secret is not there", lack{Secrets: []string{"plant1-psk"}}, look(p, "acme"))
	check("nor is the namespace", lack{Namespace: "nu", Secrets: []string{"plant1-psk"},
		Refused: []string{"the cluster has no namespace nu: kubectl create namespace nu"}}, look(p, "nu"))
	p.secret()
	check("all is there", lack{}, look(p, "acme"))
	p.api.Intercept(func(_ int, c fakeapi.Call) fakeapi.Fault {
		if c.Resource == "namespaces" {
			return fakeapi.Fault{Code: 403}
		}
		return fakeapi.Fault{}
	})
	check("namespaces can't be seen", lack{Namespace: "acme", Notices: 1}, look(p, "acme"))
	p.api.Intercept(nil)
	p.plan(acmeInACluster(t), plan.Options{}).Apply(t.Context(), cloud.Execution{})
	p.api.Forget()
	check("nothing is new", lack{}, look(p, "acme"))
	for _, c := range p.api.Calls() {
		if c.Resource == "namespaces" {
			t.Errorf("nothing is new, but it was looked at namespaces: %+v", c)
		}
	}
}
