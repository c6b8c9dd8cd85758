package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/render/health"
)

const pipelines = root + "examples/pipelines/"

// TestPipelineHealth: the health rules in the examples are those that vpnctl prints.
func TestPipelineHealth(t *testing.T) {
	if diff := cmp.Diff(health.ArgoCD(), source(t, "examples/pipelines/argocd/argocd-cm.yaml")); diff != "" {
		t.Errorf("argocd-cm.yaml (-want +got)\n%s", diff)
	}
	_, rules, _ := strings.Cut(health.Flux(), "spec:\n")
	if !strings.HasSuffix(source(t, "examples/pipelines/flux/gateways.yaml"), rules) {
		t.Errorf("flux/gateways.yaml does not end in what stands below spec of\n%s", health.Flux())
	}
}

// TestPipelineCommands: every vpnctl command in a pipeline is one that the grammar
// knows.
func TestPipelineCommands(t *testing.T) {
	files, err := filepath.Glob(pipelines + "*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, f := range append(files, pipelines+"gitlab/.gitlab-ci.yml", root+".github/actions/plan/action.yaml") {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range vpnctlLine.FindAllStringSubmatch(string(text), -1) {
			seen++
			if err := known(t, line[1]); err != nil {
				t.Errorf("%s: vpnctl %s: %v", f, line[1], err)
			}
		}
	}
	if seen < 12 {
		t.Errorf("only %d commands were found", seen)
	}
	if known(t, "apply --auto-aprove gateways") == nil {
		t.Error("a flag that isn't there is known")
	}
}

// vpnctlLine finds commands, up to what belongs to the shell.
var vpnctlLine = regexp.MustCompile(`(?m)(?:^ *(?:- |run: )?|bin/)vpnctl"? ([^|>&\n]+)`)

// known parses a command line, in which variables stand for some folder.
func known(t *testing.T, line string) error {
	t.Helper()
	var out strings.Builder
	parser, err := newParser(&grammar{}, &streams{stdout: &out, stderr: &out})
	if err != nil {
		t.Fatal(err)
	}
	var args []string
	for _, word := range strings.Fields(line) {
		if !strings.HasPrefix(word, `"$`) {
			args = append(args, word)
		}
	}
	_, err = parser.Parse(args)
	return err
}

// TestGitHubPipeline runs the steps of the workflows one after the other, as a runner
// does, on a simulated cloud.
func TestGitHubPipeline(t *testing.T) {
	r := newRunner(t)
	r.github("plan.yaml", "pull_request")
	if !strings.Contains(r.comment(), "<!-- vpnctl plan of gateways -->") || !strings.Contains(r.comment(), "acme/dc1") {
		t.Errorf("the comment is\n%s", r.comment())
	}
	r.github("apply.yaml", "push")
	tree := r.deployed()
	if tree["acme/dc1/deployment-dc1.yaml"] == "" {
		t.Fatalf("no Deployment was pushed: %v", keys(tree))
	}
	commits := r.commits()
	r.github("apply.yaml", "push")
	if got := r.commits(); got != commits {
		t.Errorf("with nothing to do there are %s commits, not %s", got, commits)
	}
	r.wipe()
	r.github("render.yaml", "workflow_dispatch")
	if diff := cmp.Diff(tree, r.deployed()); diff != "" {
		t.Errorf("rendered anew (-want +got)\n%s", diff)
	}
	r.change("gateways/gateway.yaml", "protocol: ipsec", "protocol: ipsec\n  serviceCIDR: 100.64.77.0/24")
	if err := r.tryGitHub("apply.yaml", "push"); err == nil {
		t.Error("a change that a customer must act on was applied by a push")
	}
	r.github("apply.yaml", "workflow_dispatch")
	if !strings.Contains(r.deployed()["acme/dc1/vpngateway-dc1.yaml"], "100.64.77.0/24") {
		t.Error("the change was not applied by hand")
	}
	r.remove("gateways/plant1.yaml", "gateways/gateway.yaml")
	r.github("apply.yaml", "push")
	if r.deployed()["acme/dc1/deployment-dc1.yaml"] == "" {
		t.Error("a push has removed a gateway")
	}
	r.github("apply.yaml", "schedule")
	if r.deployed()["acme/dc1/deployment-dc1.yaml"] != "" {
		t.Error("the schedule has left the gateway's files")
	}
}

// TestGitLabPipeline does the same with the jobs of GitLab.
func TestGitLabPipeline(t *testing.T) {
	r := newRunner(t)
	r.gitlab("plan")
	if text := r.artifact("plan.md"); !strings.Contains(text, "acme/dc1") {
		t.Errorf("plan.md is\n%s", text)
	}
	r.gitlab("apply")
	tree := r.deployed()
	if tree["acme/dc1/deployment-dc1.yaml"] == "" {
		t.Fatalf("no Deployment was pushed: %v", keys(tree))
	}
	r.wipe()
	r.gitlab("render")
	if diff := cmp.Diff(tree, r.deployed()); diff != "" {
		t.Errorf("rendered anew (-want +got)\n%s", diff)
	}
	r.change("gateways/gateway.yaml", "protocol: ipsec", "protocol: ipsec\n  serviceCIDR: 100.64.77.0/24")
	if r.tryGitLab("plan") == nil || r.tryGitLab("apply") == nil {
		t.Error("a change that a customer must act on passes")
	}
	r.gitlab("apply-customer")
	r.remove("gateways/plant1.yaml", "gateways/gateway.yaml")
	r.gitlab("prune")
	if r.deployed()["acme/dc1/deployment-dc1.yaml"] != "" {
		t.Error("the schedule has left the gateway's files")
	}
}

func keys(m map[string]string) []string {
	var all []string
	for k := range m {
		all = append(all, k)
	}
	return all
}

func source(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(root + path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
