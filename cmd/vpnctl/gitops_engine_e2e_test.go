//go:build e2e

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/vpnctl/vpnctl/cloud/kube/lab"
)

var everything metav1.ListOptions

// deployURL is where the pipelines push to, in all examples.
const deployURL = "https://git.example.com/deploy.git"

// example reads a file of examples/pipelines, with the lab's repository in it.
func (s *synced) example(file string) []byte {
	s.t.Helper()
	text := read(s.t, "examples/pipelines/"+file)
	if !strings.Contains(text, deployURL) {
		s.t.Fatalf("%s doesn't follow %s", file, deployURL)
	}
	return []byte(strings.ReplaceAll(text, deployURL, s.repository.URL))
}

type byFlux struct {
	*synced
	flux *lab.Flux
}

func (f *byFlux) follow() { f.flux.Use(f.t, f.repository, f.example("flux/gateways.yaml")) }
func (f *byFlux) again()  { f.flux.Reconcile(f.t, f.repository) }

// hourly goes by the interval of the example.
func (f *byFlux) hourly() int {
	for document := range strings.SplitSeq(string(f.example("flux/gateways.yaml")), "\n---\n") {
		var o struct {
			Kind string
			Spec struct{ Interval metav1.Duration }
		}
		if err := yaml.Unmarshal([]byte(document), &o); err != nil {
			f.t.Fatal(err)
		}
		if o.Kind == "Kustomization" && o.Spec.Interval.Duration > 0 {
			return int(time.Hour / o.Spec.Interval.Duration)
		}
	}
	f.t.Fatal("the example has no interval")
	return 0
}

func (f *byFlux) sync(commit string) {
	if s := f.flux.Synced(f.t, f.repository, commit); len(s.Inventory) != len(f.files()) {
		f.t.Errorf("Flux keeps %d objects, the tree has %d", len(s.Inventory), len(f.files()))
	}
}

func (f *byFlux) says() string {
	switch s := f.flux.Status(f.t, f.repository); {
	case s.Ready.Status == "True":
		return "healthy"
	case s.Ready.Reason == "HealthCheckFailed":
		return "failed"
	default:
		return s.Ready.Reason + ": " + s.Ready.Message
	}
}

type byArgoCD struct {
	*synced
	argo *lab.ArgoCD
}

func (a *byArgoCD) follow() {
	var settings struct{ Data map[string]string }
	if err := yaml.Unmarshal([]byte(read(a.t, "examples/pipelines/argocd/argocd-cm.yaml")), &settings); err != nil {
		a.t.Fatal(err)
	}
	a.argo.Settings(a.t, settings.Data)
	a.argo.Use(a.t, a.repository, a.example("argocd/gateways.yaml"))
}

// hourly: the example leaves Argo CD's default, which is 2 minutes and up to one more.
func (a *byArgoCD) hourly() int { return 30 }

// again wants it to be synced every time.
func (a *byArgoCD) again() {
	if s := a.argo.Refresh(a.t, a.repository); s.Sync != "Synced" || len(s.Complaints) > 0 {
		a.t.Errorf("Argo CD says %s: %v %+v", s.Sync, s.Complaints, s.Resources)
	}
}

func (a *byArgoCD) sync(commit string) {
	s := a.argo.Synced(a.t, a.repository, commit)
	if len(s.Resources) != len(a.files()) || len(s.Complaints) > 0 {
		a.t.Errorf("Argo CD keeps %d objects, the tree has %d; it says %v", len(s.Resources), len(a.files()), s.Complaints)
	}
}

func (a *byArgoCD) says() string {
	switch s := a.argo.Status(a.t, a.repository); s.Health {
	case "Healthy":
		return "healthy"
	case "Degraded":
		return "failed"
	default:
		return fmt.Sprintf("%s: %+v", s.Health, s.Resources)
	}
}

// unruled takes them off the Kustomization.
func (f *byFlux) unruled() []string {
	return f.without(fluxKustomize, "Kustomization", fluxSystem, "gateways", "spec", "healthCheckExprs")
}

// unruled takes them out of the settings.
func (a *byArgoCD) unruled() []string {
	return a.without("v1", "ConfigMap", "argocd", "argocd-cm", "data", "resource.customizations.health.")
}

// without takes what begins with a name out of a part of an object; it gives that part as
// it was, and as it is.
func (s *synced) without(apiVersion, kind, namespace, name, part, field string) []string {
	s.t.Helper()
	var seen []string
	look := func() map[string]any {
		fields, _ := s.lab.Get(s.t, apiVersion, kind, namespace, name).Object[part].(map[string]any)
		text, err := json.Marshal(fields)
		if err != nil {
			s.t.Fatal(err)
		}
		seen = append(seen, string(text))
		return fields
	}
	gone := map[string]any{}
	for key := range look() {
		if strings.HasPrefix(key, field) {
			gone[key] = nil
		}
	}
	patch, err := json.Marshal(map[string]any{part: gone})
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.lab.Objects(s.t, apiVersion, kind, namespace).Patch(context.WithoutCancel(s.t.Context()), name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		s.t.Fatal(err)
	}
	look()
	return seen
}

// ruled puts the rules of the example away, and those that vpnctl prints in their place,
// as its help says: they are the same, and the engine goes on by them.
func (s *synced) ruled() {
	s.t.Helper()
	seen := s.engine.unruled()
	if seen[0] == seen[1] {
		s.t.Fatalf("the example has no health rules: %s", seen[0])
	}
	s.t.Cleanup(func() { s.engine.unruled() })
	rules(s.t.(*testing.T), s.lab, s.dir, s.engine.name())
	if again := s.engine.unruled(); again[0] != seen[0] {
		s.t.Errorf("(-example +printed):\n%s", cmp.Diff(seen[0], again[0]))
	}
	rules(s.t.(*testing.T), s.lab, s.dir, s.engine.name())
}

func (f *byFlux) name() string   { return "flux" }
func (a *byArgoCD) name() string { return "argocd" }

// report writes to the statuses what the agents in the pods would.
func (s *synced) report() {
	s.t.Helper()
	for _, o := range s.files() {
		switch o.GetKind() {
		case "VPNPeer":
			s.status(o.GetKind(), o.GetNamespace(), o.GetName(), `{"state":"ESTABLISHED","up":"1 of 1","bytesIn":4711}`)
		case "VPNGateway":
			s.status(o.GetKind(), o.GetNamespace(), o.GetName(), `{"peersUp":"1 of 1"}`)
		case "IPsecGateway":
			s.status(o.GetKind(), o.GetNamespace(), o.GetName(), `{"tunnelsUp":"2 of 2","tunnels":[{"name":"hq","state":"ESTABLISHED"}]}`)
		}
	}
	s.engine.again()
	s.present()
}

func (s *synced) status(kind, namespace, name, status string) {
	s.t.Helper()
	s.patch(kind, namespace, name, `{"status":`+status+`}`, "status")
}

func (s *synced) patch(kind, namespace, name, patch string, subresource ...string) {
	s.t.Helper()
	group := "vpn.bnerd.net/v1alpha1"
	if kind == "IPsecGateway" {
		group = "ipsec.bnerd.net/v1alpha1"
	}
	of := s.lab.Objects(s.t, group, kind, namespace)
	if _, err := of.Patch(s.t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: "vpnctl-agent"}, subresource...); err != nil {
		s.t.Fatal(err)
	}
}

// health has a controller keep a gateway, say of it that it isn't ready, and then that
// it is; the engine says the same.
func (s *synced) health() {
	s.t.Helper()
	const kind, name = "VPNGateway", "remote"
	namespace := s.customers["globex"]
	s.patch(kind, namespace, name, `{"metadata":{"finalizers":["vpn.bnerd.net/cleanup"]}}`)
	for _, c := range []struct{ status, want string }{{"True", "healthy"}, {"False", "failed"}, {"True", "healthy"}} {
		condition, _ := json.Marshal([]map[string]any{{
			"type": "Ready", "status": c.status, "reason": "Said", "message": "by a controller",
			"lastTransitionTime": time.Now().UTC().Format(time.RFC3339), "observedGeneration": 1,
		}})
		s.status(kind, namespace, name, `{"conditions":`+string(condition)+`}`)
		s.engine.again()
		lab.Await(s.t, 2*time.Minute, func(context.Context) string {
			if got := s.engine.says(); got != c.want {
				return fmt.Sprintf("with Ready %s, want %s, got %s", c.status, c.want, got)
			}
			return ""
		})
	}
	s.patch(kind, namespace, name, `{"metadata":{"finalizers":null}}`)
	s.status(kind, namespace, name, `{"conditions":null}`)
	s.engine.again()
}
