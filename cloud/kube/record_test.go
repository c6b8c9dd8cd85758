package kube_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/kube/fakeapi"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan"
)

// TestRecord: what is recorded stands, once; another object of the same name, or none, is
// no harm; the finalizer comes and goes.
func TestRecord(t *testing.T) { records(t, newWorld) }

func records(t *testing.T, open opening) {
	e := estate(t, "acme")
	w := open(t)
	w.apply(e, plan.Options{})
	d := w.driver()
	all, err := d.Manifests(t.Context())
	if err != nil || len(all) < 2 {
		t.Fatal(all, err)
	}
	i := slices.IndexFunc(all, func(m cloud.Manifest) bool { return m.Kind == "VPNGateway" })
	m := all[i]
	s := cloud.Status{Fields: map[string]any{"serviceCIDR": "100.64.0.0/24"}, Conditions: []cloud.Condition{{Type: "Ready", Status: "True", Reason: "Ready"}}}
	for step, want := range []bool{true, false} {
		changed, err := d.Record(t.Context(), m, s)
		if err != nil || changed != want {
			t.Errorf("step %d: %v %v", step, changed, err)
		}
		again, err := d.Manifests(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		m = again[i]
	}
	u := w.on.Get(m.Kind, m.Namespace, m.Name)
	stale := m
	w.conditions(u, "Theirs")
	if changed, err := d.Record(t.Context(), stale, cloud.Status{Conditions: []cloud.Condition{{Type: "Ready", Status: "False", Reason: "Later"}}}); !changed || err != nil {
		t.Errorf("beside another hand: %v %v", changed, err)
	}
	var types []string
	list, _, _ := unstructured.NestedSlice(w.on.Get(m.Kind, m.Namespace, m.Name).Object, "status", "conditions")
	for _, c := range list {
		types = append(types, c.(map[string]any)["type"].(string))
	}
	if slices.Sort(types); !slices.Equal(types, []string{"Ready", "Theirs"}) {
		t.Errorf("conditions: %v", types)
	}
	for _, hold := range []bool{true, true, false, false} {
		act := map[bool]func() error{true: func() error { return d.Hold(t.Context(), m) }, false: func() error { return d.Release(t.Context(), m) }}[hold]
		if err := act(); err != nil {
			t.Fatal(err)
		}
		u = w.on.Get(m.Kind, m.Namespace, m.Name)
		if held := slices.Contains(u.GetFinalizers(), "vpn.bnerd.net/cleanup"); held != hold {
			t.Errorf("held: %v, want %v: %v", held, hold, u.GetFinalizers())
		}
	}
	for _, when := range []string{"another one", "none"} {
		u = w.on.Get(m.Kind, m.Namespace, m.Name)
		w.on.Remove(t, m.Kind, m.Namespace, m.Name)
		if when == "another one" {
			w.put(bare(u))
		}
		changed, err := d.Record(t.Context(), m, cloud.Status{Conditions: []cloud.Condition{{Type: "Ready", Status: "False", Reason: "Gone"}}})
		if changed || err != nil {
			t.Errorf("%s: recorded: %v %v", when, changed, err)
		}
		if err := d.Hold(t.Context(), m); err != nil {
			t.Errorf("%s: %v", when, err)
		}
	}
}

// TestAManifestThatNeverStandsStill: others write to it between each read and write. That
// ends, and is an error.
func TestAManifestThatNeverStandsStill(t *testing.T) {
	e := estate(t, "acme")
	w := newWorld(t)
	w.apply(e, plan.Options{})
	d := w.driver()
	all, err := d.Manifests(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m := all[slices.IndexFunc(all, func(m cloud.Manifest) bool { return m.Kind == "VPNGateway" })]
	reads := 0
	w.api.Intercept(func(_ int, c fakeapi.Call) fakeapi.Fault {
		if c.Verb != "get" || c.Resource != "vpngateways" {
			return fakeapi.Fault{}
		}
		reads++
		if reads > 100 {
			return fakeapi.Fault{Code: 500}
		}
		return fakeapi.Fault{Then: func() {
			u := w.on.Get(m.Kind, m.Namespace, m.Name)
			u.SetLabels(map[string]string{"read": fmt.Sprint(reads)})
			w.put(u.Object)
		}}
	})
	if err := d.Hold(t.Context(), m); !errors.Is(err, cloud.ErrConflict) || reads > 100 {
		t.Errorf("after %d reads: %v, want a conflict", reads, err)
	}
}

// conditions is another hand that adds a condition to a status.
func (w *world) conditions(u *unstructured.Unstructured, kind string) {
	w.t.Helper()
	client, err := dynamic.NewForConfig(w.on.Config())
	if err != nil {
		w.t.Fatal(err)
	}
	list, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	list = append(list, map[string]any{"type": kind, "status": "True", "reason": "X", "message": "", "lastTransitionTime": "2026-03-01T12:00:00Z"})
	if err := unstructured.SetNestedSlice(u.Object, list, "status", "conditions"); err != nil {
		w.t.Fatal(err)
	}
	of := client.Resource(vpnv1alpha1.GroupVersion.WithResource("vpngateways")).Namespace(u.GetNamespace())
	if _, err := of.UpdateStatus(w.t.Context(), u, metav1.UpdateOptions{FieldManager: "pod"}); err != nil {
		w.t.Fatal(err)
	}
}
