package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

// runner has two repositories, one with examples/acme and one for what is deployed, and
// a simulated cloud; it runs jobs as GitHub and GitLab do, each in a new clone. The
// commands go and gh are imitated: they are somebody else's.
type runner struct {
	t         *testing.T
	dir       string
	variables map[string]string // of the project, secret ones too
	jobs      int
}

func newRunner(t *testing.T) *runner {
	t.Helper()
	r := &runner{t: t, dir: t.TempDir()}
	vpnctl, err := exec.LookPath("vpnctl")
	if err != nil {
		t.Fatal(err)
	}
	r.write("bin/go", "#!/bin/sh\n[ \"$1 $2\" != 'env GOPATH' ] || echo '"+r.path("go")+"'\n")
	r.write("bin/gh", "#!/bin/sh\nfor word; do case $word in body=@*) cp \"${word#body=@}\" '"+r.path("comment.md")+"';; esac; done\n")
	r.write("go/bin/none", "")
	if err := os.Symlink(vpnctl, r.path("go/bin/vpnctl")); err != nil {
		t.Fatal(err)
	}
	estate := strings.Replace(source(t, "examples/acme/vpnctl.yaml"), "    cloud: operator ", "    # ", 1)
	r.write("author/vpnctl.yaml", estate)
	for _, f := range []string{"gateway.yaml", "plant1.yaml"} {
		r.write("author/gateways/"+f, source(t, "examples/acme/"+f))
	}
	r.write("author/gateways/dc2.yaml", strings.Replace(source(t, "examples/acme/gateway.yaml"), "name: dc1", "name: dc2", 1))
	r.write("deployer/README", "What vpnctl writes.\n")
	for folder, bare := range map[string]string{"author": "source.git", "deployer": "deploy.git"} {
		r.git("", "init", "--quiet", "--bare", "--initial-branch=main", r.path(bare))
		r.git(folder, "init", "--quiet", "--initial-branch=main")
		r.git(folder, "remote", "add", "origin", r.path(bare))
		r.push(folder)
	}
	r.cloud()
	return r
}

// cloud serves a simulated one, to which the project's variables lead.
func (r *runner) cloud() {
	cmd := exec.Command("vpnctl", "simulator", "serve", "--estate", r.path("author/vpnctl.yaml"), "--clouds", r.path("clouds.yaml"))
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(r.path("clouds.yaml")); err == nil {
			break
		}
		if time.Now().After(end) {
			r.t.Fatal("the simulated cloud doesn't serve")
		}
	}
	var file struct {
		Clouds map[string]struct{ Auth map[string]string }
	}
	if err := yaml.Unmarshal([]byte(r.text("clouds.yaml")), &file); err != nil {
		r.t.Fatal(err)
	}
	auth := file.Clouds["operator"].Auth
	r.variables = map[string]string{
		"OS_AUTH_URL":                      auth["auth_url"],
		"OS_APPLICATION_CREDENTIAL_ID":     auth["application_credential_id"],
		"OS_APPLICATION_CREDENTIAL_SECRET": auth["application_credential_secret"],
		"DEPLOY_REPOSITORY":                "example/deploy",
		"DEPLOY_TOKEN":                     "token",
		"DEPLOY_URL":                       r.path("deploy.git"),
	}
	for name, value := range r.variables {
		if value == "" {
			r.t.Fatalf("clouds.yaml has nothing for %s", name)
		}
	}
}

// workspace is a new clone of the source.
func (r *runner) workspace() string {
	r.t.Helper()
	r.jobs++
	r.git("", "clone", "--quiet", r.path("source.git"), r.path(r.last()))
	return r.last()
}

// last is the workspace of the last job.
func (r *runner) last() string { return fmt.Sprintf("job-%d", r.jobs) }

// bash runs a script in a folder as runners do: it ends at the first failure.
func (r *runner) bash(folder, path string, env map[string]string, script string) error {
	cmd := exec.CommandContext(r.t.Context(), "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script)
	cmd.Dir = r.path(folder)
	cmd.Env = []string{"PATH=" + path + r.path("bin") + ":/usr/local/bin:/usr/bin:/bin", "HOME=" + r.path("."), "GIT_CONFIG_NOSYSTEM=1"}
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		r.t.Fatal(err)
	}
	if err != nil {
		return fmt.Errorf("%s\n%s%w", script, out, err)
	}
	return nil
}

func (r *runner) git(folder string, args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=author", "-c", "user.email=author@example.com"}, args...)...)
	cmd.Dir = r.path(folder)
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r *runner) push(folder string) {
	r.t.Helper()
	r.git(folder, "add", "--all")
	r.git(folder, "commit", "--quiet", "-m", "a change")
	r.git(folder, "push", "--quiet", "origin", "HEAD:main")
}

func (r *runner) path(name string) string { return filepath.Join(r.dir, name) }

func (r *runner) write(name, text string) {
	r.t.Helper()
	if err := os.MkdirAll(filepath.Dir(r.path(name)), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(r.path(name), []byte(text), 0o755); err != nil {
		r.t.Fatal(err)
	}
}

func (r *runner) text(name string) string {
	r.t.Helper()
	text, err := os.ReadFile(r.path(name))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(text)
}

// change and remove are what an author merges.
func (r *runner) change(file, from, to string) {
	r.t.Helper()
	text := r.text("author/" + file)
	if !strings.Contains(text, from) {
		r.t.Fatalf("%s has no %q", file, from)
	}
	r.write("author/"+file, strings.Replace(text, from, to, 1))
	r.push("author")
}

func (r *runner) remove(files ...string) {
	r.t.Helper()
	r.git("author", append([]string{"rm", "--quiet"}, files...)...)
	r.push("author")
}

// deployed is what the other repository holds of vpnctl's.
func (r *runner) deployed() map[string]string {
	r.t.Helper()
	all := map[string]string{}
	for name := range strings.Lines(r.git("deploy.git", "ls-tree", "-r", "--name-only", "main")) {
		if name = strings.TrimSpace(name); name != "README" {
			all[name] = r.git("deploy.git", "show", "main:"+name)
		}
	}
	return all
}

func (r *runner) commits() string { return r.git("deploy.git", "rev-list", "--count", "main") }

// wipe is an accident in the other repository.
func (r *runner) wipe() {
	r.t.Helper()
	r.git("deployer", "pull", "--quiet", "origin", "main")
	r.git("deployer", "rm", "-r", "--quiet", "acme", "kustomization.yaml")
	r.push("deployer")
}
