//go:build e2e

package lab

import (
	"context"
	"fmt"
	"path"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

const (
	argoNamespace = "argocd"
	argoVersion   = "argoproj.io/v1alpha1"
	argoRefresh   = "argocd.argoproj.io/refresh"
)

// ArgoCD is its application-controller and repo-server.
type ArgoCD struct{ lab *Lab }

// ArgoCD starts Argo CD, unless it runs. It runs until the lab ends.
func (l *Lab) ArgoCD(t testing.TB) *ArgoCD {
	t.Helper()
	l.run(t, "argocd")
	return &ArgoCD{lab: l}
}

// An ArgoStatus is what an Application says.
type ArgoStatus struct {
	Sync, Health string // as Synced, Healthy
	Revision     string // name of the commit
	Phase        string // of the last operation, as Succeeded
	Message      string // of the last operation
	Complaints   []string
	Resources    []ArgoResource
}

// An ArgoResource is an object that an Application consists of.
type ArgoResource struct{ Group, Kind, Namespace, Name, Sync, Health, Message string }

// Settings adds to the ConfigMap argocd-cm, such as health rules, in place of what was
// added before. When the test is over, it is as it was.
func (a *ArgoCD) Settings(t testing.TB, data map[string]string) {
	t.Helper()
	t.Cleanup(func() { a.settings(t, nil) })
	a.settings(t, data)
}

func (a *ArgoCD) settings(t testing.TB, data map[string]string) {
	t.Helper()
	settings, err := yaml.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "data": data,
		"metadata": map[string]any{"name": "argocd-cm", "namespace": argoNamespace, "labels": map[string]any{"app.kubernetes.io/part-of": "argocd"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	a.lab.apply(t, settings, "lab-settings")
}

// Follow has Argo CD apply what is at a path of a repository's present commit,
// server-side, prune what isn't there any more and heal what others change. When the
// test is over, all of that is pruned.
func (a *ArgoCD) Follow(t testing.TB, r *Repository, at string) {
	t.Helper()
	t.Cleanup(func() { a.lab.Delete(t, argoVersion, "Application", argoNamespace, r.Name) })
	kind := "directory: {recurse: true}"
	if r.has(t, path.Join(at, "kustomization.yaml")) {
		kind = "kustomize: {}"
	}
	a.lab.Apply(t, fmt.Appendf(nil, `
apiVersion: %[1]s
kind: Application
metadata:
  name: %[3]s
  namespace: %[2]s
  finalizers: [resources-finalizer.argocd.argoproj.io/foreground]
spec:
  project: default
  source: {repoURL: %[4]q, targetRevision: main, path: %[5]q, %[6]s}
  destination: {server: https://kubernetes.default.svc, namespace: default}
  syncPolicy:
    automated: {prune: true, selfHeal: true, allowEmpty: true}
    syncOptions: [ServerSideApply=true]
`, argoVersion, argoNamespace, r.Name, r.URL, at, kind))
}

// Use has Argo CD do what manifests of an AppProject and an Application say, both of
// which have the repository's name. When the test is over, what it applied stays.
func (a *ArgoCD) Use(t testing.TB, r *Repository, manifests []byte) {
	t.Helper()
	t.Cleanup(func() {
		a.lab.Delete(t, argoVersion, "Application", argoNamespace, r.Name)
		a.lab.Delete(t, argoVersion, "AppProject", argoNamespace, r.Name)
	})
	a.lab.Apply(t, manifests)
}

// Refresh has Argo CD pull and compare once more, and waits until it has.
func (a *ArgoCD) Refresh(t testing.TB, r *Repository) ArgoStatus {
	t.Helper()
	mark(t, a.lab.Objects(t, argoVersion, "Application", argoNamespace), r.Name, "annotations", argoRefresh, "hard")
	Await(t, 2*time.Minute, func(context.Context) string {
		if _, asked := a.application(t, r).GetAnnotations()[argoRefresh]; asked {
			return "Argo CD hasn't looked at " + r.Name + " since it was asked to"
		}
		return ""
	})
	return a.Status(t, r)
}

// Synced waits until Argo CD has applied a commit and all of it is healthy.
func (a *ArgoCD) Synced(t testing.TB, r *Repository, commit string) ArgoStatus {
	t.Helper()
	var s ArgoStatus
	a.Refresh(t, r)
	Await(t, 3*time.Minute, func(context.Context) string {
		s = a.Status(t, r)
		if s.Sync != "Synced" || s.Health != "Healthy" || s.Revision != commit {
			return fmt.Sprintf("Argo CD doesn't say Synced and Healthy at %s: %+v", commit, s)
		}
		return ""
	})
	return s
}

// Status reads what Argo CD says of a repository that it follows.
func (a *ArgoCD) Status(t testing.TB, r *Repository) ArgoStatus {
	t.Helper()
	o := a.application(t, r).Object
	s := ArgoStatus{
		Sync: text(o, "status", "sync", "status"), Revision: text(o, "status", "sync", "revision"),
		Health: text(o, "status", "health", "status"),
		Phase:  text(o, "status", "operationState", "phase"), Message: text(o, "status", "operationState", "message"),
	}
	for _, c := range maps(o, "conditions") {
		s.Complaints = append(s.Complaints, text(c, "type")+": "+text(c, "message"))
	}
	for _, r := range maps(o, "resources") {
		s.Resources = append(s.Resources, ArgoResource{
			Group: text(r, "group"), Kind: text(r, "kind"), Namespace: text(r, "namespace"), Name: text(r, "name"),
			Sync: text(r, "status"), Health: text(r, "health", "status"), Message: text(r, "health", "message"),
		})
	}
	return s
}

func (a *ArgoCD) application(t testing.TB, r *Repository) *unstructured.Unstructured {
	t.Helper()
	o := a.lab.Get(t, argoVersion, "Application", argoNamespace, r.Name)
	if o == nil {
		t.Fatalf("Argo CD doesn't follow %s", r.Name)
	}
	return o
}

// maps reads a list of objects in an object's status.
func maps(o map[string]any, name string) []map[string]any {
	list, _, _ := unstructured.NestedSlice(o, "status", name)
	var all []map[string]any
	for _, entry := range list {
		if m, ok := entry.(map[string]any); ok {
			all = append(all, m)
		}
	}
	return all
}
