package main

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"

	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/pod"
	"github.com/vpnctl/vpnctl/render/swanctl"
)

// provided says which Debian package a command of the pod comes with.
var provided = map[string]string{"charon-systemd": "charon-systemd", "swanctl": "strongswan-swanctl", "nft": "nftables"}

// dockerfile is what the tests need of cmd/vpnctl/Dockerfile.
type dockerfile struct {
	text         string
	stages       []string
	plugins      []string
	packages     []string
	afterInstall []string // the commands that follow in the same RUN
}

func readDockerfile(t *testing.T) dockerfile {
	t.Helper()
	data, err := os.ReadFile("Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	d := dockerfile{text: string(data)}
	joined := strings.ReplaceAll(d.text, "\\\n", " ")
	for line := range strings.Lines(joined) {
		if rest, ok := strings.CutPrefix(line, "FROM "); ok {
			d.stages = append(d.stages, strings.TrimSpace(rest))
		}
		if rest, ok := strings.CutPrefix(line, "ARG PLUGINS="); ok {
			d.plugins = strings.Fields(strings.Trim(strings.TrimSpace(rest), `"`))
		}
		if rest, ok := strings.CutPrefix(line, "RUN apt-get update"); ok {
			_, rest, _ = strings.Cut(rest, "--no-install-recommends")
			commands := strings.Split(rest, "&&")
			d.packages, d.afterInstall = strings.Fields(commands[0]), commands[1:]
		}
	}
	if len(d.plugins) == 0 || len(d.packages) == 0 || len(d.afterInstall) == 0 {
		t.Fatalf("the Dockerfile doesn't read as it should: %+v", d)
	}
	return d
}

// commands are all that the pods of both protocols run: containers, probes, and what
// the agent calls.
func commands(t *testing.T) []string {
	t.Helper()
	all := []string{"nft"}
	for _, protocol := range []vpn.Protocol{vpn.IPsec, vpn.WireGuard} {
		objects, err := pod.Objects(pod.Spec{Node: "worker-1", Gateway: vpn.Gateway{
			Owner: vpn.Owner{Namespace: "acme", Name: "dc1"}, Protocol: protocol, WireGuard: &vpn.Interface{},
		}})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range objects {
			d, ok := o.Body.(appsv1.Deployment)
			if !ok {
				continue
			}
			for _, c := range d.Spec.Template.Spec.Containers {
				all = append(all, c.Command[0])
				if c.LivenessProbe.Exec != nil {
					all = append(all, c.LivenessProbe.Exec.Command[0])
				}
				if c.SecurityContext.RunAsUser == nil {
					t.Errorf("%s runs as the image's user, who is nobody", c.Name)
				}
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func TestTheImageHasEveryCommandOfThePod(t *testing.T) {
	d := readDockerfile(t)
	seen := map[string]bool{}
	for _, command := range commands(t) {
		seen[command] = true
		switch {
		case command == "vpnctl":
			if !strings.Contains(d.text, "COPY --from=build /out/vpnctl /usr/local/bin/vpnctl\n") {
				t.Error("vpnctl isn't copied to a folder of the PATH")
			}
		case !slices.Contains(d.packages, provided[command]):
			t.Errorf("%s comes with %q, which isn't installed: %v", command, provided[command], d.packages)
		}
	}
	for command := range provided {
		if !seen[command] {
			t.Errorf("no pod runs %s", command)
		}
	}
	if !seen["vpnctl"] {
		t.Error("no pod runs vpnctl")
	}
}

// TestTheImageHasThePluginsThatAreLoaded and no other one.
func TestTheImageHasThePluginsThatAreLoaded(t *testing.T) {
	load := regexp.MustCompile(`(?m)^\s*load = "?([^"\n]*)"?$`)
	var want []string
	for _, dataplane := range []string{vpn.DataplaneKernel, vpn.DataplaneUserspace} {
		m := load.FindStringSubmatch(swanctl.Daemon(dataplane))
		if m == nil {
			t.Fatalf("no list of plugins:\n%s", swanctl.Daemon(dataplane))
		}
		want = append(want, strings.Fields(m[1])...)
	}
	got := readDockerfile(t).plugins
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(slices.Compact(want), got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestTheImageIsTheOneThatIsRendered(t *testing.T) {
	d := readDockerfile(t)
	name, _, _ := strings.Cut(pod.Image, ":")
	workflow, err := os.ReadFile(root + ".github/workflows/image.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(workflow), "IMAGE: "+name+"\n") {
		t.Errorf("the workflow doesn't publish %s", name)
	}
	if !strings.Contains(d.text, "-t "+pod.Image+" .") {
		t.Errorf("the Dockerfile doesn't say how to build %s", pod.Image)
	}
	if m := regexp.MustCompile(`(?m)^USER (\S+)$`).FindStringSubmatch(d.text); m == nil || strings.HasPrefix(m[1], "0") || strings.HasPrefix(m[1], "root") {
		t.Errorf("the image's user is %v", m)
	}
	if release := debian.FindStringSubmatch(d.stages[1]); len(d.stages) != 2 || release == nil || !strings.HasSuffix(d.stages[0], "-"+release[1]+" AS build") {
		t.Errorf("the stages are %q", d.stages)
	}
}

var debian = regexp.MustCompile(`^debian:(\w+)-slim$`)

// TestTheBuildIsSentWhatItCompiles: every file of the module that goes into vpnctl.
func TestTheBuildIsSentWhatItCompiles(t *testing.T) {
	data, err := os.ReadFile("Dockerfile.dockerignore")
	if err != nil {
		t.Fatal(err)
	}
	kept := func(file string) bool {
		keep := true
		for line := range strings.Lines(string(data)) {
			pattern := strings.TrimSpace(line)
			switch rest, back := strings.CutPrefix(pattern, "!"); {
			case pattern == "" || strings.HasPrefix(pattern, "#"):
			case pattern == "*":
				keep = false
			case back && (file == rest || strings.HasPrefix(file, rest+"/")):
				keep = true
			case strings.HasPrefix(pattern, "**/") && anyPart(file, pattern[3:]):
				keep = false
			}
		}
		return keep
	}
	module, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	list := exec.Command("go", "list", "-deps", "-f", `{{if and .Module .Module.Main}}{{range .GoFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}{{range .EmbedFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}{{end}}`, ".")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	files := strings.Fields(string(out))
	if len(files) < 100 {
		t.Fatalf("only %d files go into vpnctl", len(files))
	}
	for _, file := range append(files, module+"/go.mod", module+"/go.sum", module+"/Makefile") {
		if name, _ := filepath.Rel(module, file); !kept(name) {
			t.Errorf("%s isn't sent to the build", name)
		}
	}
	for _, file := range []string{".git/config", "README.md", "bin/vpnctl", "cmd/vpnctl/kill_test.go", "testdata/golden/x", "render/testdata/x"} {
		if kept(file) {
			t.Errorf("%s is sent to the build", file)
		}
	}
}

// anyPart tells whether a pattern matches one of a path's names.
func anyPart(file, pattern string) bool {
	return slices.ContainsFunc(strings.Split(file, "/"), func(name string) bool {
		ok, _ := path.Match(pattern, name)
		return ok
	})
}
