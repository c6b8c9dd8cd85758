//go:build e2e

package lab

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// tree writes files into a folder of the test's.
func tree(t *testing.T, files map[string][]byte) string {
	t.Helper()
	folder := t.TempDir()
	for name, content := range files {
		file := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func configMap(namespace, name, value string) []byte {
	return fmt.Appendf(nil, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: %s}\ndata: {key: %s}\n", name, namespace, value)
}

func value(o *unstructured.Unstructured) string {
	if o == nil {
		return "none"
	}
	return text(o.Object, "data", "key")
}

func TestFluxAppliesAndPrunes(t *testing.T) {
	l := Start(t)
	flux := l.Flux(t)
	namespace := l.Namespace(t)
	r := l.Repository(t)
	commit := r.Commit(t, tree(t, map[string][]byte{
		"deploy/web.yaml":    deployment(namespace, "web", ""),
		"deploy/one.yaml":    configMap(namespace, "one", "a"),
		"deploy/two.yaml":    configMap(namespace, "two", "a"),
		"elsewhere/not.yaml": configMap(namespace, "not", "a"),
	}))
	flux.Follow(t, r, "deploy")
	s := flux.Synced(t, r, commit)
	if len(s.Inventory) != 3 || !slices.Contains(s.Inventory, namespace+"_web_apps_Deployment") {
		t.Errorf("the inventory is %v", s.Inventory)
	}
	awaitAvailable(t, l, namespace, "web", "True")

	commit = r.Commit(t, tree(t, map[string][]byte{
		"deploy/web.yaml": deployment(namespace, "web", ""),
		"deploy/one.yaml": configMap(namespace, "one", "b"),
	}))
	flux.Synced(t, r, commit)
	check(t, l, namespace, map[string]string{"one": "b", "two": "none", "not": "none"})

	l.Apply(t, configMap(namespace, "one", "tampered"))
	flux.Reconcile(t, r)
	check(t, l, namespace, map[string]string{"one": "b"})
}

func TestArgoCDAppliesAndPrunes(t *testing.T) {
	l := Start(t)
	argo := l.ArgoCD(t)
	namespace := l.Namespace(t)
	r := l.Repository(t)
	commit := r.Commit(t, tree(t, map[string][]byte{
		"deploy/kustomization.yaml": []byte("resources: [web.yaml, one.yaml, two.yaml]\n"),
		"deploy/web.yaml":           deployment(namespace, "web", ""),
		"deploy/one.yaml":           configMap(namespace, "one", "a"),
		"deploy/two.yaml":           configMap(namespace, "two", "a"),
		"deploy/not.yaml":           configMap(namespace, "not", "a"),
	}))
	argo.Settings(t, map[string]string{"resource.customizations.health.ConfigMap": "return {status = 'Healthy', message = 'by its rule'}"})
	argo.Follow(t, r, "deploy")
	if s := argo.Synced(t, r, commit); len(s.Resources) != 3 {
		t.Errorf("the resources are %+v", s.Resources)
	} else if i := slices.IndexFunc(s.Resources, func(r ArgoResource) bool { return r.Name == "one" }); i < 0 || s.Resources[i].Message != "by its rule" {
		t.Errorf("the ConfigMap's health isn't by its rule: %+v", s.Resources)
	}
	check(t, l, namespace, map[string]string{"one": "a", "two": "a", "not": "none"})

	commit = r.Commit(t, tree(t, map[string][]byte{
		"deploy/kustomization.yaml": []byte("resources: [web.yaml, one.yaml]\n"),
		"deploy/web.yaml":           deployment(namespace, "web", ""),
		"deploy/one.yaml":           configMap(namespace, "one", "b"),
	}))
	argo.Synced(t, r, commit)
	check(t, l, namespace, map[string]string{"one": "b", "two": "none"})

	l.Apply(t, configMap(namespace, "one", "tampered"))
	Await(t, time.Minute, func(context.Context) string {
		if got := value(l.Get(t, "v1", "ConfigMap", namespace, "one")); got != "b" {
			return "one isn't healed, but " + got
		}
		return ""
	})
}

func check(t *testing.T, l *Lab, namespace string, want map[string]string) {
	t.Helper()
	for name, v := range want {
		if got := value(l.Get(t, "v1", "ConfigMap", namespace, name)); got != v {
			t.Errorf("ConfigMap %s has %q, not %q", name, got, v)
		}
	}
}
