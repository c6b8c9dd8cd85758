package kube_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"

	"github.com/vpnctl/vpnctl/cloud/kube"
	"github.com/vpnctl/vpnctl/state"
)

// TestWhatAListLeavesOfAnObject: of a list only what counts is held, and yet an object
// that then comes as it was is no change, and one that became another is.
func TestWhatAListLeavesOfAnObject(t *testing.T) {
	told := 0
	tell := func() { told++ }
	named := func(_, name string) bool { return name == "psk" }
	deployment := func(version string, generation int64) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apps/v1", "kind": "Deployment",
			"metadata": map[string]any{"namespace": "acme", "name": "dc1", "uid": "u", "generation": generation, "resourceVersion": version},
			"spec":     map[string]any{"replicas": int64(1)},
			"status":   map[string]any{"observedGeneration": generation, "updatedReplicas": int64(1), "availableReplicas": int64(1)}}}
	}
	secret := func(name, version, estate string) *metav1.PartialObjectMetadata {
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "acme", Name: name, ResourceVersion: version, Labels: map[string]string{state.LabelEstate: estate}}}
	}
	for name, tt := range map[string]struct {
		store         cache.TransformingStore
		listed, later any
		change        bool
	}{
		"a Deployment as it was":           {kube.Prints(kube.OfDeployment, tell), deployment("1", 1), deployment("1", 1), false},
		"one whose times alone changed":    {kube.Prints(kube.OfDeployment, tell), deployment("1", 1), deployment("2", 1), false},
		"one that asks for something else": {kube.Prints(kube.OfDeployment, tell), deployment("1", 1), deployment("2", 2), true},
		"a Secret as it was":               {kube.Vault("prod", named, tell), secret("psk", "1", ""), secret("psk", "1", ""), false},
		"one that gateways name":           {kube.Vault("prod", named, tell), secret("psk", "1", ""), secret("psk", "2", ""), true},
		"one that is ours":                 {kube.Vault("prod", named, tell), secret("key", "1", "prod"), secret("key", "2", "prod"), true},
		"one that was ours":                {kube.Vault("prod", named, tell), secret("key", "1", "prod"), secret("key", "2", ""), true},
		"one that is nobody's":             {kube.Vault("prod", named, tell), secret("key", "1", ""), secret("key", "2", ""), false},
	} {
		t.Run(name, func(t *testing.T) {
			held, err := tt.store.Transformer()(tt.listed)
			if err != nil {
				t.Fatal(err)
			}
			if err := tt.store.Replace([]any{held}, "1"); err != nil {
				t.Fatal(err)
			}
			told = 0
			if err := tt.store.Update(tt.later); err != nil {
				t.Fatal(err)
			}
			if is := told > 0; is != tt.change {
				t.Errorf("a change: %t, want %t", is, tt.change)
			}
		})
	}
}
