package kube_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/vpnctl/vpnctl/cloud/kube"
	"github.com/vpnctl/vpnctl/cloud/kube/fakeapi"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// operated is a world whose gateway's manifest was applied by hand and whose objects an
// operator has made, with what is left to do for vpnctl in the cloud done.
func operated(t *testing.T, e vpn.Estate, open opening) *world {
	t.Helper()
	made := open(t)
	made.apply(e, plan.Options{})
	model := made.ours()
	w := open(t)
	w.apply(e, plan.Options{Only: plan.OnlyCloud})
	g := e.Gateways[0].Owner
	var cr *unstructured.Unstructured
	for _, u := range model {
		if strings.HasPrefix(u.GetKind(), "VPN") || u.GetKind() == "IPsecGateway" {
			put := w.put(bare(u))
			if u.GetKind() == g.Kind {
				cr = put
			}
		}
	}
	for _, u := range model {
		if u.GetKind() == "Secret" || strings.HasPrefix(u.GetKind(), "VPN") || u.GetKind() == "IPsecGateway" {
			continue
		}
		child := &unstructured.Unstructured{Object: bare(u)}
		yes := true
		child.SetOwnerReferences([]metav1.OwnerReference{
			{APIVersion: cr.GetAPIVersion(), Kind: cr.GetKind(), Name: cr.GetName(), UID: cr.GetUID(), Controller: &yes, BlockOwnerDeletion: &yes},
		})
		switch u.GetKind() {
		case "ConfigMap":
			child.Object["data"] = map[string]any{"of": "the operator"}
		case "Deployment":
			labels := map[string]any{"app": "the-operators"}
			_ = unstructured.SetNestedField(child.Object, map[string]any{"matchLabels": labels}, "spec", "selector")
			_ = unstructured.SetNestedField(child.Object, labels, "spec", "template", "metadata", "labels")
		}
		w.on.PutAs(t, "operator", child.Object)
	}
	w.stopped = true
	return w
}

// bare is an object as another hand would have made it.
func bare(u *unstructured.Unstructured) map[string]any {
	o := u.DeepCopy().Object
	o["metadata"] = map[string]any{"name": u.GetName(), "namespace": u.GetNamespace()}
	delete(o, "status")
	return o
}

// TestAdoption: what an operator has made for a manifest becomes ours, and no longer
// goes with the manifest; while the operator may be at work it is refused.
func TestAdoption(t *testing.T) { adopts(t, newWorld) }

func adopts(t *testing.T, open opening) {
	e := estate(t, "acme")
	w := operated(t, e, open)
	w.stopped = false
	p := w.plan(e, plan.Options{})
	if len(p.Refusals) == 0 || slices.ContainsFunc(p.Refusals, func(r plan.Refusal) bool { return !strings.Contains(r.Hint, "--operator-stopped") }) {
		t.Fatalf("refusals: %v", p.Refusals)
	}
	w.stopped = true
	p = w.plan(e, plan.Options{})
	adopted := 0
	for _, c := range p.Pending() {
		if c.Action == plan.Adopt && !strings.HasPrefix(string(c.ID.Kind), "kubernetes.vpn") {
			adopted++
			if !strings.Contains(c.Reason, "operator") {
				t.Errorf("%s: %s", c.ID, c.Reason)
			}
		}
	}
	if adopted < 8 {
		t.Errorf("%d objects are adopted: %v", adopted, p.Pending())
	}
	w.apply(e, plan.Options{})
	w.settled(e, plan.Options{})
	w.noOwners()
	for _, u := range w.ours() {
		for _, m := range u.GetManagedFields() {
			if m.Manager == "operator" || m.Manager == kube.Manager && m.Operation == metav1.ManagedFieldsOperationUpdate {
				t.Errorf("%s %s: %s still holds fields by %s", u.GetKind(), u.GetName(), m.Manager, m.Operation)
			}
		}
	}
	got := w.look()
	want := open(t)
	want.apply(e, plan.Options{})
	if diff := cmp.Diff(want.look(), got); diff != "" {
		t.Errorf("it isn't as if vpnctl had made it (-want +got)\n%s", diff)
	}
}

func (w *world) noOwners() {
	w.t.Helper()
	for _, u := range w.ours() {
		if len(u.GetOwnerReferences()) > 0 {
			w.t.Errorf("%s %s still has owners", u.GetKind(), u.GetName())
		}
	}
}

// TestAdoptionMayStopAnywhere: whichever call is the last, the next run ends it.
func TestAdoptionMayStopAnywhere(t *testing.T) {
	e := estate(t, "acme")
	start := operated(t, e, newWorld)
	w := start.copy(t)
	w.apply(e, plan.Options{})
	calls, want := w.api.Calls(), w.look()
	for name, fault := range crashes {
		for n := slices.IndexFunc(calls, fakeapi.Call.Writes); n <= len(calls); n += stride {
			w := start.copy(t)
			w.dies(n, fault, e, plan.Options{})
			w.apply(e, plan.Options{})
			if diff := cmp.Diff(want, w.look()); diff != "" {
				t.Fatalf("%s %d of %d, %+v (-undisturbed +disturbed)\n%s", name, n, len(calls), calls[n-1], diff)
			}
			w.noOwners()
		}
	}
}

// TestObstacles: what stands where an object should and isn't ours is refused by name
// before anything is written, and kinds that the cluster doesn't know.
func TestObstacles(t *testing.T) {
	e := estate(t, "acme")
	model := newWorld(t)
	model.apply(e, plan.Options{})
	var names []string
	for _, u := range model.ours() {
		if strings.HasPrefix(u.GetKind(), "VPN") {
			continue // taken over: the same manifest
		}
		w := newWorld(t)
		before := w.on.PutAs(t, "helm", bare(u))
		p := w.plan(e, plan.Options{})
		if len(p.Refusals) != 1 || p.Refusals[0].ID.Name != u.GetName() || !strings.Contains(p.Refusals[0].Message, "made by helm") {
			t.Errorf("%s %s: %v", u.GetKind(), u.GetName(), p.Refusals)
		}
		if err := w.run(t.Context(), e, plan.Options{}); err == nil {
			t.Errorf("%s %s was taken", u.GetKind(), u.GetName())
		}
		if diff := cmp.Diff(before, w.on.Get(u.GetKind(), u.GetNamespace(), u.GetName())); diff != "" {
			t.Errorf("%s %s changed\n%s", u.GetKind(), u.GetName(), diff)
		}
		names = append(names, u.GetKind())
	}
	if len(names) < 8 {
		t.Errorf("too few kinds: %v", names)
	}
	w := newWorld(t)
	w.api.Intercept = func(_ int, c fakeapi.Call) fakeapi.Fault {
		if c.Resource == "network-attachment-definitions" {
			return fakeapi.Fault{Code: 404}
		}
		return fakeapi.Fault{}
	}
	p := w.plan(e, plan.Options{})
	if len(p.Refusals) != 1 || !strings.Contains(p.Refusals[0].Message, "doesn't know the kind NetworkAttachmentDefinition") {
		t.Errorf("an unknown kind: %v", p.Refusals)
	}
}
