package loop_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud/reconcile"
	"github.com/vpnctl/vpnctl/plan"
)

// handApplied puts Acme's manifests into the cluster as people do, with the finalizer of a
// controller.
func (p *passing) handApplied() {
	p.t.Helper()
	for _, m := range manifestsOf(p.t, "acme/dc1") {
		var object map[string]any
		if err := json.Unmarshal([]byte(m.JSON), &object); err != nil {
			p.t.Fatal(err)
		}
		if m.Kind == "VPNGateway" {
			object["metadata"].(map[string]any)["finalizers"] = []any{"vpn.bnerd.net/cleanup"}
		}
		p.api.PutAs(p.t, "kubectl", object)
	}
}

// changes are what a plan does to manifests.
func changes(r *reconcile.Result) map[string]string {
	all := map[string]string{}
	for _, c := range r.Plan.Pending() {
		if c.ID.Kind.Manifest() {
			all[c.ID.String()] = string(c.Action)
		}
	}
	return all
}

// TestAManifestThatIsBeingDeleted: one that the files have is made anew, where it is ours
// or its gateway's ledger is; else whoever deletes it is left to it.
func TestAManifestThatIsBeingDeleted(t *testing.T) {
	for name, test := range map[string]struct {
		applied bool // by this estate, before
		labels  bool // that it carries then
		want    string
	}{
		"of a gateway that was applied":           {applied: true, labels: true, want: "replace"},
		"of a gateway that a controller has made": {applied: true, want: "replace"},
		"of a gateway that nobody here knows":     {},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPassing(t)
			e := acmeInACluster(t)
			p.handApplied()
			if test.applied {
				p.apply(e, plan.Options{})
			}
			u := p.api.Get("VPNGateway", "acme", "dc1")
			if test.applied && !test.labels {
				u.SetLabels(nil)
				u.SetAnnotations(nil)
				u = p.api.PutAs(t, "kubectl", u.Object)
			}
			p.api.Remove(t, "VPNGateway", "acme", "dc1")
			r := p.plan(e, plan.Options{})
			if got := changes(r)["kubernetes.vpngateway/acme/dc1"]; got != test.want {
				t.Errorf("planned: %q, want %q; refused: %v", got, test.want, r.Plan.Refusals)
			}
			if refused := len(r.Plan.Refusals) > 0; refused != (test.want == "") {
				t.Errorf("refused: %v", r.Plan.Refusals)
			}
			if test.want == "" {
				return
			}
			report, failures := p.apply(e, plan.Options{})
			if err := report.Err(); err != nil || failures > 0 {
				t.Fatal(err, failures)
			}
			if now := p.api.Get("VPNGateway", "acme", "dc1"); now == nil || now.GetUID() == u.GetUID() || now.GetDeletionTimestamp() != nil {
				t.Errorf("it was not made anew: %v", now)
			}
			if got := p.says("PortReady"); got != "True PortReady" {
				t.Errorf("its status: %s", got)
			}
		})
	}
}

// TestManifestsWithoutAFile: those that people applied for a controller are the estate's,
// if its ledger has them, and go with their gateway; those of others are left alone.
func TestManifestsWithoutAFile(t *testing.T) {
	p := newPassing(t)
	e := acmeInACluster(t)
	p.handApplied()
	p.apply(e, plan.Options{})
	for _, kind := range []string{"VPNGateway dc1", "VPNPeer plant1"} {
		k, name, _ := strings.Cut(kind, " ")
		u := p.api.Get(k, "acme", name)
		u.SetLabels(nil)
		u.SetAnnotations(nil)
		p.api.PutAs(t, "kubectl", u.Object)
	}
	other := p.api.Get("VPNGateway", "acme", "dc1").DeepCopy()
	p.api.PutAs(t, "kubectl", map[string]any{"apiVersion": other.GetAPIVersion(), "kind": "VPNGateway", "spec": other.Object["spec"],
		"metadata": map[string]any{"namespace": "acme", "name": "theirs"}})
	e.Gateways = nil
	if got := changes(p.plan(e, plan.Options{AllowEmpty: true})); len(got) > 0 {
		t.Errorf("without --prune: %v", got)
	}
	gone := plan.Options{Prune: true, AllowEmpty: true}
	want := map[string]string{"kubernetes.vpngateway/acme/dc1": "delete", "kubernetes.vpnpeer/acme/plant1": "delete"}
	if diff := cmp.Diff(want, changes(p.plan(e, gone))); diff != "" {
		t.Errorf("with --prune (-want +got):\n%s", diff)
	}
	if report, _ := p.apply(e, gone); report.Err() != nil {
		t.Fatal(report.Err())
	}
	if p.says("Ready") != "gone" || p.api.Get("VPNPeer", "acme", "plant1") != nil {
		t.Error("a manifest was left")
	}
	if p.api.Get("VPNGateway", "acme", "theirs") == nil {
		t.Error("a manifest of others was deleted")
	}
}
