package main

import (
	"os/exec"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/vpnctl/vpnctl/render/health"
)

// TestRenderHealth: what is printed are the rules that are tested, as a patch that says
// nothing else.
func TestRenderHealth(t *testing.T) {
	for engine, c := range map[string]struct {
		rules, of string
	}{
		"argocd": {health.ArgoCD(), "data"},
		"flux":   {health.Flux(), "spec"},
	} {
		printed, err := exec.Command("vpnctl", "render", "health", engine).Output()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.rules, string(printed)); diff != "" {
			t.Errorf("%s (-tested +printed)\n%s", engine, diff)
		}
		var patch map[string]map[string]any
		if err := yaml.UnmarshalStrict(printed, &patch); err != nil || len(patch) != 1 || len(patch[c.of]) == 0 {
			t.Errorf("%s: %v in\n%s", engine, err, printed)
		}
	}
}
