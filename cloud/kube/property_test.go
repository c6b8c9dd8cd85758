package kube_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/vpnctl/vpnctl/cloud/kube"
	"github.com/vpnctl/vpnctl/cloud/kube/fakeapi"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// TestWhatWasAppliedPlansEmpty: by every later run, and a run of an empty plan writes
// nothing.
func TestWhatWasAppliedPlansEmpty(t *testing.T) { plansEmpty(t, newWorld) }

func plansEmpty(t *testing.T, open opening) {
	e := estate(t)
	w := open(t)
	w.apply(e, plan.Options{})
	if n := len(w.ours()); n < 10*len(e.Gateways) {
		t.Fatalf("%d objects are few for %d gateways", n, len(e.Gateways))
	}
	w.settled(e, plan.Options{})
	if w.api == nil {
		return
	}
	w.api.Forget()
	w.apply(e, plan.Options{})
	for _, c := range w.api.Calls() {
		if c.Writes() {
			t.Errorf("written although nothing was to do: %+v", c)
		}
	}
}

// ours are the objects with our labels.
func (w *world) ours() []*unstructured.Unstructured {
	return slices.DeleteFunc(w.on.All(), func(u *unstructured.Unstructured) bool { return u.GetLabels()[state.LabelManagedBy] != "vpnctl" })
}

// foreign is everything else, byte by byte.
func (w *world) foreign() string {
	w.t.Helper()
	var b strings.Builder
	for _, u := range w.on.All() {
		if u.GetLabels()[state.LabelManagedBy] != "vpnctl" {
			fmt.Fprintf(&b, "%s\n", text(w.t, u.Object))
		}
	}
	return b.String()
}

func text(t testing.TB, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// look is what is ours, without what a cluster counts and states.
func (w *world) look() string {
	w.t.Helper()
	var b strings.Builder
	for _, u := range w.ours() {
		for _, field := range []string{"managedFields", "resourceVersion", "uid", "generation", "creationTimestamp"} {
			unstructured.RemoveNestedField(u.Object, "metadata", field)
		}
		unstructured.RemoveNestedField(u.Object, "status")
		unstructured.RemoveNestedField(u.Object, "metadata", "annotations", "deployment.kubernetes.io/revision")
		if u.GetKind() == "Secret" { // random
			for key := range u.Object["data"].(map[string]any) {
				_ = unstructured.SetNestedField(u.Object, "key", "data", key)
			}
		}
		fmt.Fprintf(&b, "%s\n", text(w.t, u.Object))
	}
	return b.String()
}

// bystanders puts objects of other hands beside the gateways' own, which look as if.
func (w *world) bystanders() {
	for i, labels := range []map[string]any{
		nil,
		{state.LabelManagedBy: "Helm", state.LabelEstate: "acme"},
		{state.LabelManagedBy: "somebody", state.LabelEstate: "acme", state.LabelGateway: "dc1"},
		{state.LabelEstate: "acme", state.LabelGateway: "dc1"},
	} {
		meta := map[string]any{"name": fmt.Sprintf("dc1-theirs-%d", i), "namespace": "acme"}
		if labels != nil {
			meta["labels"] = labels
		}
		w.put(map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": map[string]any{"a": "b"}})
		w.put(map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": meta, "data": map[string]any{"a": "Yg=="}})
	}
}

// TestForeignObjectsStay: through the whole life of an estate, byte by byte.
func TestForeignObjectsStay(t *testing.T) { foreignStays(t, newWorld) }

func foreignStays(t *testing.T, open opening) {
	e := estate(t)
	w := open(t)
	w.bystanders()
	before := w.foreign()
	w.apply(e, plan.Options{})
	e.Gateways = e.Gateways[1:]
	w.apply(e, plan.Options{Prune: true})
	e.Gateways = nil
	w.apply(e, plan.Options{Prune: true, AllowEmpty: true})
	if diff := cmp.Diff(before, w.foreign()); diff != "" {
		t.Errorf("objects of others changed (-before +after)\n%s", diff)
	}
	for _, u := range w.ours() {
		t.Errorf("left behind: %s %s/%s", u.GetKind(), u.GetNamespace(), u.GetName())
	}
}

// crashes are the ways in which a run ends.
var crashes = map[string]fakeapi.Fault{
	"dead before call":       {Code: 500, Drop: true},
	"dead before the answer": {Drop: true},
}

// TestEveryCallMayBeTheLast: whenever a run dies, before a call or before its answer,
// the next one brings the same about as one that nobody disturbed. Reads that only look
// are alike: of them one is the last.
func TestEveryCallMayBeTheLast(t *testing.T) {
	e := estate(t, "acme")
	empty := newWorld(t)
	empty.apply(e, plan.Options{Only: plan.OnlyCloud})
	full := empty.copy(t)
	full.apply(e, plan.Options{})
	want := full.look()
	gone := e
	gone.Gateways = nil
	for what, of := range map[string]struct {
		start *world
		e     vpn.Estate
		o     plan.Options
		want  string
	}{
		"making":  {empty, e, plan.Options{}, want},
		"pruning": {full, gone, plan.Options{Prune: true, AllowEmpty: true, Only: plan.OnlyKubernetes}, ""},
	} {
		t.Run(what, func(t *testing.T) {
			w := of.start.copy(t)
			w.apply(of.e, of.o)
			calls := w.api.Calls()
			first := slices.IndexFunc(calls, fakeapi.Call.Writes)
			for name, fault := range crashes {
				for n := first; n <= len(calls); n += stride {
					w := of.start.copy(t)
					w.dies(n, fault, of.e, of.o)
					w.apply(of.e, of.o)
					if diff := cmp.Diff(of.want, w.look()); diff != "" {
						t.Fatalf("%s %d of %d, %+v (-undisturbed +disturbed)\n%s", name, n, len(calls), calls[n-1], diff)
					}
				}
			}
		})
	}
}

// dies is a run that ends with the n-th call.
func (w *world) dies(n int, fault fakeapi.Fault, e vpn.Estate, o plan.Options) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	w.api.Forget()
	fault.Then = cancel
	w.api.Intercept(func(i int, _ fakeapi.Call) fakeapi.Fault {
		switch {
		case i == n:
			return fault
		case i > n:
			return fakeapi.Fault{Code: 500, Drop: true}
		}
		return fakeapi.Fault{}
	})
	if err := w.run(ctx, e, o); err == nil {
		w.t.Fatalf("a run whose call %d failed succeeded", n)
	}
	w.api.Intercept(nil)
}

// TestOtherManagersKeepTheirFields: what other hands add to our objects stays, what they
// change of ours is taken back, by force there and nowhere else.
func TestOtherManagersKeepTheirFields(t *testing.T) { othersKeepFields(t, newWorld) }

func othersKeepFields(t *testing.T, open opening) {
	e := estate(t, "acme")
	w := open(t)
	w.apply(e, plan.Options{})
	want := w.look()
	tampered := map[string]bool{}
	for _, u := range w.ours() {
		notes := u.GetAnnotations()
		notes["example.com/theirs"] = "kept"
		u.SetAnnotations(notes)
		labels := u.GetLabels()
		labels["example.com/theirs"] = "kept"
		u.SetLabels(labels)
		if disturb(u) {
			tampered["kubernetes."+strings.ToLower(u.GetKind())+"/"+u.GetNamespace()+"/"+u.GetName()] = true
		}
		w.on.PutAs(t, "somebody", u.Object)
	}
	if len(tampered) < 7 {
		t.Fatalf("only %d objects were tampered with", len(tampered))
	}
	for _, c := range w.plan(e, plan.Options{}).Pending() {
		if !tampered[c.ID.String()] || !strings.HasPrefix(c.Reason, "changed by somebody: ") {
			t.Errorf("planned: %s %s: %s", c.Action, c.ID, c.Reason)
		}
		delete(tampered, c.ID.String())
	}
	for id := range tampered {
		t.Errorf("%s was changed, and the plan doesn't say so", id)
	}
	w.apply(e, plan.Options{})
	w.settled(e, plan.Options{})
	for _, u := range w.ours() {
		if u.GetAnnotations()["example.com/theirs"] != "kept" || u.GetLabels()["example.com/theirs"] != "kept" {
			t.Errorf("%s %s lost what another hand had added", u.GetKind(), u.GetName())
		}
	}
	got := strings.NewReplacer(`"example.com/theirs":"kept",`, "", `,"example.com/theirs":"kept"`, "", `"example.com/theirs":"kept"`, "").Replace(w.look())
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("not as it was (-before +after)\n%s", diff)
	}
}

// disturb changes what we wrote into an object.
func disturb(u *unstructured.Unstructured) bool {
	set := func(v any, path ...string) bool { return unstructured.SetNestedField(u.Object, v, path...) == nil }
	switch u.GetKind() {
	case "ConfigMap":
		for key := range u.Object["data"].(map[string]any) {
			return set("changed", "data", key)
		}
	case "Deployment":
		return set(int64(0), "spec", "replicas")
	case "Role":
		return set([]any{map[string]any{"verbs": []any{"get"}, "apiGroups": []any{""}, "resources": []any{"pods"}}}, "rules")
	case "RoleBinding":
		return set([]any{map[string]any{"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": "theirs"}}, "subjects")
	case "NetworkPolicy":
		return set([]any{map[string]any{}}, "spec", "egress")
	case "NetworkAttachmentDefinition":
		return set("{}", "spec", "config")
	case "ServiceAccount":
		return set(true, "automountServiceAccountToken")
	}
	return false
}

// TestForceOnlyOnOurs: an apply takes fields from others on objects that carry our
// labels alone.
func TestForceOnlyOnOurs(t *testing.T) {
	e := estate(t, "acme")
	w := newWorld(t)
	w.apply(e, plan.Options{})
	for _, c := range w.api.Calls() {
		if c.Verb == "apply" && strings.Contains(c.Query, "force=true") {
			t.Errorf("a new object was written by force: %+v", c)
		}
		if c.Verb == "apply" && !strings.Contains(c.Query, "fieldManager="+kube.Manager) {
			t.Errorf("written under another name: %+v", c)
		}
	}
}
