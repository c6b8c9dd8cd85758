package kube_test

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/kube"
	"github.com/vpnctl/vpnctl/plan"
)

// TestEvents: what happens a hundred times, told by two processes, is one Event; other
// happenings are others; and an old one is counted.
func TestEvents(t *testing.T) { eventsAreFew(t, newWorld) }

func eventsAreFew(t *testing.T, open opening) {
	e := estate(t, "acme")
	w := open(t)
	w.apply(e, plan.Options{})
	d, other := w.driver(), w.driver()
	all, err := d.Manifests(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m := all[slices.IndexFunc(all, func(m cloud.Manifest) bool { return m.Kind == "VPNGateway" })]
	fault := cloud.Happening{Warning: true, Reason: "QuotaExceeded", Message: "no port: " + strings.Repeat("ä", 2000)}
	for range 50 {
		for _, process := range []*kube.Driver{d, other} {
			if err := process.Event(t.Context(), m, fault); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := d.Event(t.Context(), m, cloud.Happening{Reason: "Ready", Message: "it runs"}); err != nil {
		t.Fatal(err)
	}
	found := w.events(m)
	if len(found) != 2 {
		t.Fatalf("%d events: %v", len(found), found)
	}
	for _, u := range found {
		if n, _, _ := unstructured.NestedInt64(u.Object, "count"); n != 1 {
			t.Errorf("counted %d times: %v", n, u.Object)
		}
		_ = unstructured.SetNestedField(u.Object, "2026-03-01T12:00:00Z", "lastTimestamp")
		w.put(u.Object)
	}
	if err := w.driver().Event(t.Context(), m, fault); err != nil {
		t.Fatal(err)
	}
	counts := []int64{}
	for _, u := range w.events(m) {
		n, _, _ := unstructured.NestedInt64(u.Object, "count")
		counts = append(counts, n)
	}
	if slices.Sort(counts); !slices.Equal(counts, []int64{1, 2}) {
		t.Errorf("counts %v", counts)
	}
}

// events are those of a manifest.
func (w *world) events(m cloud.Manifest) []*unstructured.Unstructured {
	w.t.Helper()
	client, err := dynamic.NewForConfig(w.on.Config())
	if err != nil {
		w.t.Fatal(err)
	}
	l, err := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "events"}).Namespace(m.Namespace).List(w.t.Context(), metav1.ListOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	var of []*unstructured.Unstructured
	for i := range l.Items {
		if uid, _, _ := unstructured.NestedString(l.Items[i].Object, "involvedObject", "uid"); uid == m.UID {
			of = append(of, &l.Items[i])
		}
	}
	return of
}
