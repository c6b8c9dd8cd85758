//go:build e2e

package lab

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

const (
	fluxNamespace = "flux-system"
	fluxSource    = "source.toolkit.fluxcd.io/v1"
	fluxKustomize = "kustomize.toolkit.fluxcd.io/v1"
	fluxRequested = "reconcile.fluxcd.io/requestedAt"
)

// Flux is the source- and kustomize-controller.
type Flux struct{ lab *Lab }

// Flux starts Flux, unless it runs. It runs until the lab ends.
func (l *Lab) Flux(t testing.TB) *Flux {
	t.Helper()
	l.run(t, "gitops")
	return &Flux{lab: l}
}

// A FluxStatus is what a Kustomization says.
type FluxStatus struct {
	Ready     Condition
	Applied   string   // name of the commit
	Inventory []string // as namespace_name_group_kind, in its order
}

// Follow has Flux apply what is at a path of a repository, prune what isn't there any
// more, and wait for health. When the test is over, all of that is pruned.
func (f *Flux) Follow(t testing.TB, r *Repository, path string) {
	t.Helper()
	t.Cleanup(func() {
		f.lab.Delete(t, fluxKustomize, "Kustomization", fluxNamespace, r.Name)
		f.lab.Delete(t, fluxSource, "GitRepository", fluxNamespace, r.Name)
	})
	f.lab.Apply(t, fmt.Appendf(nil, `
apiVersion: %[1]s
kind: GitRepository
metadata: {name: %[4]s, namespace: %[3]s}
spec: {interval: 10m, timeout: 20s, url: %[5]q, ref: {branch: main}}
---
apiVersion: %[2]s
kind: Kustomization
metadata: {name: %[4]s, namespace: %[3]s}
spec:
  interval: 10m
  retryInterval: 10s
  timeout: 1m
  prune: true
  wait: true
  path: %[6]q
  sourceRef: {kind: GitRepository, name: %[4]s}
`, fluxSource, fluxKustomize, fluxNamespace, r.Name, r.URL, path))
}

// Use has Flux do what manifests of a GitRepository and a Kustomization say, both of
// which have the repository's name. When the test is over, what it applied stays.
func (f *Flux) Use(t testing.TB, r *Repository, manifests []byte) {
	t.Helper()
	t.Cleanup(func() {
		all := f.lab.Objects(t, fluxKustomize, "Kustomization", fluxNamespace)
		if _, err := all.Patch(lasting(t), r.Name, types.MergePatchType, []byte(`{"spec":{"prune":false}}`), metav1.PatchOptions{}); err != nil {
			t.Error(err)
		}
		f.lab.Delete(t, fluxKustomize, "Kustomization", fluxNamespace, r.Name)
		f.lab.Delete(t, fluxSource, "GitRepository", fluxNamespace, r.Name)
	})
	f.lab.Apply(t, manifests)
}

// Reconcile has Flux pull and apply once more, as it does every ten minutes, and waits
// until it has.
func (f *Flux) Reconcile(t testing.TB, r *Repository) FluxStatus {
	t.Helper()
	f.request(t, fluxSource, "GitRepository", r.Name)
	f.request(t, fluxKustomize, "Kustomization", r.Name)
	return f.Status(t, r)
}

func (f *Flux) request(t testing.TB, apiVersion, kind, name string) {
	t.Helper()
	at := strconv.FormatInt(time.Now().UnixNano(), 10)
	mark(t, f.lab.Objects(t, apiVersion, kind, fluxNamespace), name, "annotations", fluxRequested, at)
	Await(t, 2*time.Minute, func(context.Context) string {
		o := f.lab.Get(t, apiVersion, kind, fluxNamespace, name)
		if o == nil || text(o.Object, "status", "lastHandledReconcileAt") != at {
			return "Flux hasn't looked at " + kind + " " + name + " since it was asked to"
		}
		return ""
	})
}

// Synced waits until Flux has applied a commit and all of it is healthy.
func (f *Flux) Synced(t testing.TB, r *Repository, commit string) FluxStatus {
	t.Helper()
	var s FluxStatus
	f.Reconcile(t, r)
	Await(t, 3*time.Minute, func(context.Context) string {
		s = f.Status(t, r)
		if s.Ready.Status != "True" || s.Applied != commit {
			return fmt.Sprintf("Flux has applied %q, not %q, and says %s: %s", s.Applied, commit, s.Ready.Reason, s.Ready.Message)
		}
		return ""
	})
	return s
}

// Status reads what Flux says of a repository that it follows.
func (f *Flux) Status(t testing.TB, r *Repository) FluxStatus {
	t.Helper()
	o := f.lab.Get(t, fluxKustomize, "Kustomization", fluxNamespace, r.Name)
	if o == nil {
		t.Fatalf("Flux doesn't follow %s", r.Name)
	}
	s := FluxStatus{Ready: ConditionOf(o, "Ready"), Applied: revision(text(o.Object, "status", "lastAppliedRevision"))}
	entries, _, _ := unstructured.NestedSlice(o.Object, "status", "inventory", "entries")
	for _, e := range entries {
		entry, _ := e.(map[string]any)
		s.Inventory = append(s.Inventory, text(entry, "id"))
	}
	return s
}

// revision takes the commit's name from main@sha1:<name>.
func revision(s string) string {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == ':' {
			return s[i+1:]
		}
	}
	return s
}
