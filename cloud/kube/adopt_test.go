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
	"github.com/vpnctl/vpnctl/state"
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
	w.api.Intercept(func(_ int, c fakeapi.Call) fakeapi.Fault {
		if c.Resource == "network-attachment-definitions" {
			return fakeapi.Fault{Code: 404}
		}
		return fakeapi.Fault{}
	})
	p := w.plan(e, plan.Options{})
	if len(p.Refusals) != 1 || !strings.Contains(p.Refusals[0].Message, "doesn't know the kind NetworkAttachmentDefinition") {
		t.Errorf("an unknown kind: %v", p.Refusals)
	}
}

// TestAGeneratedKeyOutlivesItsManifest: the Secret that an operator made for a gateway goes
// with its manifest, until it is taken over; whichever call is the last.
func TestAGeneratedKeyOutlivesItsManifest(t *testing.T) {
	e := estate(t, "globex")
	g := keyed(t, e)
	start := operated(t, e, newWorld)
	cr := start.on.Get(g.Owner.Kind, g.Owner.Namespace, g.Owner.Name)
	start.put(map[string]any{"apiVersion": "v1", "kind": "Secret", "data": map[string]any{vpn.GeneratedKey: "b2xk"}, "metadata": map[string]any{
		"namespace": g.Owner.Namespace, "name": g.WireGuard.PrivateKey.Name, "ownerReferences": []any{map[string]any{
			"apiVersion": cr.GetAPIVersion(), "kind": cr.GetKind(), "name": cr.GetName(), "uid": string(cr.GetUID())}},
	}})
	id := "kubernetes.secret/" + g.Owner.Namespace + "/" + g.WireGuard.PrivateKey.Name
	if p := start.plan(e, plan.Options{}); !slices.ContainsFunc(p.Changes, func(c plan.Change) bool { return c.ID.String() == id && c.Action == plan.Adopt }) {
		t.Errorf("the plan doesn't take the key over: %v", p.Changes)
	}
	w := start.copy(t)
	w.apply(e, plan.Options{})
	calls := w.api.Calls()
	w.settled(e, plan.Options{})
	for name, fault := range crashes {
		for n := slices.IndexFunc(calls, fakeapi.Call.Writes); n <= len(calls); n += stride {
			w := start.copy(t)
			w.dies(n, fault, e, plan.Options{})
			w.apply(e, plan.Options{})
			w.on.Remove(t, g.Owner.Kind, g.Owner.Namespace, g.Owner.Name)
			key := w.key(g)
			if key == nil || value(key) != "b2xk" || len(key.GetOwnerReferences()) > 0 || key.GetLabels()[state.LabelEstate] != e.Name {
				t.Fatalf("%s %d of %d, %+v: the key is %v", name, n, len(calls), calls[n-1], key)
			}
		}
	}
}

// TestTheOperatorIsStopped: an operator whose Deployment is at zero, everywhere, needs no
// word; one that can't be seen does, and so does one that isn't found.
func TestTheOperatorIsStopped(t *testing.T) {
	e := estate(t, "acme")
	start := operated(t, e, newWorld)
	start.stopped = false
	deployment := func(namespace string, replicas int64) map[string]any {
		return map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "spec": map[string]any{"replicas": replicas,
			"selector": map[string]any{"matchLabels": map[string]any{"a": "b"}}, "template": map[string]any{"metadata": map[string]any{"labels": map[string]any{"a": "b"}}}},
			"metadata": map[string]any{"name": "operator", "namespace": namespace, "labels": map[string]any{"app.kubernetes.io/name": "bnerd-vpn-operator"}}}
	}
	for name, test := range map[string]struct {
		operators []map[string]any
		hidden    bool
		stopped   bool
	}{
		"none is found":         {},
		"one runs":              {operators: []map[string]any{deployment("acme", 1)}},
		"one is at zero":        {operators: []map[string]any{deployment("acme", 0)}, stopped: true},
		"one of two is at zero": {operators: []map[string]any{deployment("acme", 0), deployment("globex", 1)}},
		"it can't be seen":      {operators: []map[string]any{deployment("acme", 0)}, hidden: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := start.copy(t)
			for _, o := range test.operators {
				w.put(o)
			}
			w.api.Intercept(func(_ int, c fakeapi.Call) fakeapi.Fault {
				if test.hidden && strings.Contains(c.Query, "bnerd-vpn-operator") {
					return fakeapi.Fault{Code: 403}
				}
				return fakeapi.Fault{}
			})
			p := w.plan(e, plan.Options{})
			if got := len(p.Refusals) == 0; got != test.stopped {
				t.Errorf("taken over: %v, want %v: %v", got, test.stopped, p.Refusals)
			}
			told := slices.ContainsFunc(p.Notices, func(n plan.Notice) bool {
				return strings.Contains(n.Message, "whether the operator is stopped can't be seen")
			})
			if told != test.hidden {
				t.Errorf("told that it can't be seen: %v, want %v: %v", told, test.hidden, p.Notices)
			}
		})
	}
}
