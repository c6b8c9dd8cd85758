package main

import (
	"bytes"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestArgoCDMayInstallTheController: the project of the example allows every kind that
// vpnctl render controller prints, and the manifests.
func TestArgoCDMayInstallTheController(t *testing.T) {
	type named struct{ Group, Kind string }
	var project struct {
		Spec struct{ ClusterResourceWhitelist, NamespaceResourceWhitelist []named }
	}
	first, _, _ := strings.Cut(source(t, "examples/pipelines/argocd/controller.yaml"), "\n---\n")
	if err := yaml.Unmarshal([]byte(first), &project); err != nil {
		t.Fatal(err)
	}
	allowed := map[named]bool{}
	for _, n := range append(project.Spec.ClusterResourceWhitelist, project.Spec.NamespaceResourceWhitelist...) {
		allowed[n] = true
	}
	var out bytes.Buffer
	code := run([]string{"render", "controller", "--crds", "--pod-monitor", "--prometheus-rule", "--estate", root + "examples/in-cluster/vpnctl.yaml"},
		&streams{stdout: &out, stderr: t.Output()})
	if code != 0 {
		t.Fatalf("exit code %d", code)
	}
	manifests := source(t, "examples/acme/gateway.yaml") + "\n---\n" + source(t, "examples/acme/plant1.yaml") + "\n---\n" + source(t, "examples/initech/gateway.yaml")
	kinds := 0
	for _, text := range strings.Split(out.String()+"\n---\n"+manifests, "\n---\n") {
		var object struct{ APIVersion, Kind string }
		if err := yaml.Unmarshal([]byte(text), &object); err != nil {
			t.Fatal(err)
		}
		if object.Kind == "" {
			continue
		}
		kinds++
		group, _, grouped := strings.Cut(object.APIVersion, "/")
		if !grouped {
			group = ""
		}
		if !allowed[named{group, object.Kind}] {
			t.Errorf("the project doesn't allow %s of %q", object.Kind, group)
		}
	}
	if kinds < 15 {
		t.Errorf("only %d objects were looked at", kinds)
	}
}
