//go:build e2e

package main

import (
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/vpnctl/vpnctl/cloud/kube/lab"
)

// files are the objects of the tree.
func (s *synced) files() []*unstructured.Unstructured {
	s.t.Helper()
	var all []*unstructured.Unstructured
	err := filepath.WalkDir(s.path("checkout/deploy"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "kustomization.yaml" || filepath.Ext(path) != ".yaml" {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil {
			all = append(all, manifestOf(s.t, string(text)))
		}
		return err
	})
	if err != nil || len(all) < 20 {
		s.t.Fatalf("%d objects in the tree: %v", len(all), err)
	}
	return all
}

// present wants every object of the tree in the cluster, with what the tree says.
func (s *synced) present() {
	s.t.Helper()
	for _, want := range s.files() {
		got := s.lab.Get(s.t, want.GetAPIVersion(), want.GetKind(), want.GetNamespace(), want.GetName())
		if got == nil {
			s.t.Errorf("%s %s is not in the cluster", want.GetKind(), want.GetName())
			continue
		}
		if path := missing(want.Object, got.Object, ""); path != "" {
			s.t.Errorf("%s %s has another %s than its file", want.GetKind(), want.GetName(), path)
		}
		if want.GetKind() == "Deployment" && lab.ConditionOf(got, "Available").Status != "True" {
			s.t.Errorf("Deployment %s is not available", want.GetName())
		}
	}
}

// missing is the path of the first value that isn't as wanted, or is absent.
func missing(want, got any, path string) string {
	switch w := want.(type) {
	case map[string]any:
		g, _ := got.(map[string]any)
		for key, value := range w {
			if at := missing(value, g[key], path+"."+key); at != "" {
				return at
			}
		}
	case []any:
		g, _ := got.([]any)
		if len(g) != len(w) {
			return path
		}
		for i := range w {
			if at := missing(w[i], g[i], path+"[]"); at != "" {
				return at
			}
		}
	default:
		if want != got {
			return path
		}
	}
	return ""
}

// atRest has the engine look several times and wants nothing of the gateways written.
func (s *synced) atRest(times int) {
	s.t.Helper()
	mark := s.lab.Mark(s.t)
	for range times {
		s.engine.again()
	}
	for _, w := range s.lab.Writes(s.t, mark) {
		if s.customer(w.Namespace) {
			s.t.Errorf("with nothing to do: %s", w)
		}
	}
}

func (s *synced) customer(namespace string) bool {
	for _, n := range s.customers {
		if n == namespace {
			return true
		}
	}
	return false
}
