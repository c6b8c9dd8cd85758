package kube_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// TestAnswers: what the driver relies on of a server's answers.
func TestAnswers(t *testing.T) { answers(t, newWorld) }

func answers(t *testing.T, open opening) {
	w := open(t)
	client, err := dynamic.NewForConfig(w.on.Config())
	if err != nil {
		t.Fatal(err)
	}
	maps := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"})
	config := func(name string, data map[string]any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name}, "data": data}}
	}
	acme, ctx := maps.Namespace("acme"), t.Context()
	apply := func(manager string, force bool, u *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		return acme.Apply(ctx, u.GetName(), u, metav1.ApplyOptions{FieldManager: manager, Force: force})
	}
	first, err := apply("a", false, config("x", map[string]any{"one": "1", "two": "2"}))
	if err != nil {
		t.Fatal(err)
	}
	const otherUID = types.UID("ffffffff-0000-4000-8000-000000000000")
	for _, c := range []struct {
		name string
		do   func() error
		want string
	}{
		{"another manager's field", func() error { _, err := apply("b", false, config("x", map[string]any{"one": "b"})); return err }, "409 Conflict .data.one"},
		{"the same value is shared", func() error { _, err := apply("b", false, config("x", map[string]any{"one": "1"})); return err }, "ok"},
		{"a namespace that isn't there", func() error {
			_, err := maps.Namespace("nowhere").Apply(ctx, "x", config("x", nil), metav1.ApplyOptions{FieldManager: "a"})
			return err
		}, "404 NotFound namespaces"},
		{"an apply for another object", func() error {
			u := config("x", map[string]any{"one": "1"})
			u.SetUID(otherUID)
			_, err := apply("a", true, u)
			return err
		}, "uid"},
		{"an apply for an object that is gone", func() error {
			u := config("y", nil)
			u.SetUID(otherUID)
			_, err := apply("a", true, u)
			return err
		}, "409 Conflict"},
		{"a patch for another object", func() error {
			_, err := acme.Patch(ctx, "x", types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"uid":%q},"data":{"x":"y"}}`, otherUID), metav1.PatchOptions{})
			return err
		}, "uid"},
		{"a patch of another state", func() error {
			_, err := acme.Patch(ctx, "x", types.MergePatchType, []byte(`{"metadata":{"resourceVersion":"1"},"data":{"x":"y"}}`), metav1.PatchOptions{})
			return err
		}, "409 Conflict"},
		{"a patch of nothing", func() error {
			_, err := acme.Patch(ctx, "z", types.MergePatchType, []byte(`{}`), metav1.PatchOptions{})
			return err
		}, "404 NotFound"},
		{"a deletion of another object", func() error {
			uid := otherUID
			return acme.Delete(ctx, "x", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
		}, "409 Conflict"},
		{"creating what is there", func() error { _, err := acme.Create(ctx, config("x", nil), metav1.CreateOptions{}); return err }, "409 AlreadyExists"},
		{"a finalizer holds", func() error {
			if _, err := acme.Patch(ctx, "x", types.MergePatchType, []byte(`{"metadata":{"finalizers":["example.com/hold"]}}`), metav1.PatchOptions{}); err != nil {
				return err
			}
			if err := acme.Delete(ctx, "x", metav1.DeleteOptions{}); err != nil {
				return err
			}
			u, err := acme.Get(ctx, "x", metav1.GetOptions{})
			if err == nil && (u.GetDeletionTimestamp() == nil || u.GetUID() != first.GetUID()) {
				err = fmt.Errorf("it isn't being deleted")
			}
			return err
		}, "ok"},
		{"and lets go", func() error {
			if _, err := acme.Patch(ctx, "x", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
				return err
			}
			_, err := acme.Get(ctx, "x", metav1.GetOptions{})
			return err
		}, "404 NotFound"},
	} {
		got := sum(c.do())
		if c.want == "uid" {
			if !strings.Contains(got, "metadata.uid") && !strings.HasPrefix(got, "409 Conflict") {
				t.Errorf("%s: %s", c.name, got)
			}
			continue
		}
		if diff := cmp.Diff(c.want, got[:min(len(got), len(c.want))]); diff != "" {
			t.Errorf("%s: %s (-want +got)\n%s", c.name, got, diff)
		}
	}
}

// sum is an answer in short: code, reason, what it is about.
func sum(err error) string {
	if err == nil {
		return "ok"
	}
	status, ok := err.(apierrors.APIStatus)
	if !ok {
		return err.Error()
	}
	s := status.Status()
	parts := []string{fmt.Sprint(s.Code), string(s.Reason)}
	if s.Details != nil {
		for _, c := range s.Details.Causes {
			parts = append(parts, c.Field)
		}
		if len(s.Details.Causes) == 0 {
			parts = append(parts, s.Details.Kind)
		}
	}
	return strings.Join(parts, " ")
}
