//go:build e2e

package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
)

// Await asks every now and then what is still missing, until it is told nothing. It
// fails the test with the last answer when that takes longer than limit. It may be
// used when a test is over, too.
func Await(t testing.TB, limit time.Duration, missing func(context.Context) string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(lasting(t), limit)
	defer cancel()
	for last := ""; ; {
		answer := missing(ctx)
		if answer == "" {
			return
		}
		if ctx.Err() == nil || last == "" {
			last = answer
		}
		select {
		case <-ctx.Done():
			t.Fatalf("after %s: %s", limit, last)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// lasting is a context that outlives the test, for what is put right after it.
func lasting(t testing.TB) context.Context { return context.WithoutCancel(t.Context()) }

// Objects gives access to all objects of a kind in a namespace, or, with none, to all
// there are. A kind that the server learned of a moment ago is waited for.
func (l *Lab) Objects(t testing.TB, apiVersion, kind, namespace string) dynamic.ResourceInterface {
	t.Helper()
	group, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		t.Fatal(err)
	}
	var found metav1.APIResource
	if known, ok := l.kinds.Load(group.WithKind(kind)); ok {
		found = known.(metav1.APIResource)
	} else {
		Await(t, 30*time.Second, func(context.Context) string {
			var known bool
			if found, known = l.resource(t, group, kind); !known {
				return "the server knows no " + apiVersion + " " + kind
			}
			return ""
		})
		l.kinds.Store(group.WithKind(kind), found)
	}
	all := l.API.Resource(group.WithResource(found.Name))
	if !found.Namespaced || namespace == "" {
		return all
	}
	return all.Namespace(namespace)
}

// resource asks the server what it calls the objects of a kind.
func (l *Lab) resource(t testing.TB, group schema.GroupVersion, kind string) (metav1.APIResource, bool) {
	t.Helper()
	path := "/apis/" + group.String()
	if group.Group == "" {
		path = "/api/" + group.Version
	}
	body, code := l.get(t, path)
	var list metav1.APIResourceList
	if code == http.StatusOK {
		if err := json.Unmarshal(body, &list); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range list.APIResources {
		if r.Kind == kind && !strings.Contains(r.Name, "/") {
			return r, true
		}
	}
	return metav1.APIResource{}, false
}

// Apply server-side applies a stream of YAML documents, one after the other, taking
// over fields of others.
func (l *Lab) Apply(t testing.TB, manifests []byte) {
	t.Helper()
	l.apply(t, manifests, "lab")
}

func (l *Lab) apply(t testing.TB, manifests []byte, manager string) {
	t.Helper()
	for _, o := range documents(t, manifests) {
		to := l.Objects(t, o.GetAPIVersion(), o.GetKind(), o.GetNamespace())
		if _, err := to.Apply(lasting(t), o.GetName(), o, metav1.ApplyOptions{FieldManager: manager, Force: true}); err != nil {
			t.Fatalf("applying %s %s: %v", o.GetKind(), o.GetName(), err)
		}
	}
}

func documents(t testing.TB, manifests []byte) []*unstructured.Unstructured {
	t.Helper()
	var all []*unstructured.Unstructured
	for d := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifests), 4096); ; {
		var content map[string]any
		if err := d.Decode(&content); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		if len(content) > 0 {
			all = append(all, &unstructured.Unstructured{Object: content})
		}
	}
}

// Get reads an object, and gives nil if there is none.
func (l *Lab) Get(t testing.TB, apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	t.Helper()
	o, err := l.Objects(t, apiVersion, kind, namespace).Get(lasting(t), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// Delete deletes an object with all that it owns, and waits until it is gone. One
// that isn't there is no error.
func (l *Lab) Delete(t testing.TB, apiVersion, kind, namespace, name string) {
	t.Helper()
	l.remove(t, l.Objects(t, apiVersion, kind, namespace), name)
}

func (l *Lab) remove(t testing.TB, of dynamic.ResourceInterface, name string) {
	t.Helper()
	foreground := metav1.DeletePropagationForeground
	err := of.Delete(lasting(t), name, metav1.DeleteOptions{PropagationPolicy: &foreground})
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	Await(t, 2*time.Minute, func(ctx context.Context) string {
		o, err := of.Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return ""
		}
		if err != nil {
			return err.Error()
		}
		return fmt.Sprintf("%s %s is still there, with the finalizers %v", o.GetKind(), name, o.GetFinalizers())
	})
}

// Namespace makes a namespace for the test, in which ServiceAccounts can be used, and
// deletes it when the test is over.
func (l *Lab) Namespace(t testing.TB) string {
	t.Helper()
	of := l.Objects(t, "v1", "Namespace", "")
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"generateName": "lab-"}}}
	o, err := of.Create(lasting(t), o, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.remove(t, of, o.GetName()) })
	Await(t, time.Minute, func(context.Context) string {
		if l.Get(t, "v1", "ServiceAccount", o.GetName(), "default") == nil {
			return o.GetName() + " has no default ServiceAccount"
		}
		return ""
	})
	return o.GetName()
}

// A Condition is an entry of an object's status.conditions.
type Condition struct {
	Type, Status, Reason, Message string
	ObservedGeneration            int64
}

// ConditionOf finds a condition in an object's status. Its Status is empty if it
// isn't there.
func ConditionOf(o *unstructured.Unstructured, kind string) Condition {
	found := Condition{Type: kind}
	if o == nil {
		return found
	}
	all, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, entry := range all {
		c, _ := entry.(map[string]any)
		if text(c, "type") != kind {
			continue
		}
		found.Status, found.Reason, found.Message = text(c, "status"), text(c, "reason"), text(c, "message")
		found.ObservedGeneration, _, _ = unstructured.NestedInt64(c, "observedGeneration")
	}
	return found
}

// text reads a string in an object, and gives nothing if it isn't there.
func text(o map[string]any, path ...string) string {
	s, _, _ := unstructured.NestedString(o, path...)
	return s
}
