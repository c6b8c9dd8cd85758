//go:build e2e

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/cloud/kube/lab"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/crds"
)

// applied is an estate of Acme's manifests for a cluster, in a namespace that has their
// Secret, and a simulated cloud on loopback whose clock can be put forward.
type applied struct {
	*controlled
	sim   *simulator.Server
	ahead atomic.Int64 // of the machine's clock, in nanoseconds
}

func newApplied(t *testing.T) *applied {
	t.Helper()
	t.Parallel()
	a := &applied{controlled: &controlled{t: t, lab: lab.Start(t), dir: t.TempDir()}}
	a.lab.Apply(t, crds.YAML())
	a.namespace = a.lab.Namespace(t)
	a.seed()
	var err error
	seed, err := (&Globals{Estate: filepath.Join(a.dir, "seed/vpnctl.yaml")}).seed()
	if err == nil {
		a.sim, err = simulator.New(simulator.Options{Seed: seed, Keep: simulator.All, Clock: func() time.Time { return time.Now().Add(time.Duration(a.ahead.Load())) }})
	}
	if err != nil {
		t.Fatal(err)
	}
	url, closed, err := a.sim.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = closed() })
	access, err := a.sim.Credentials(url, "operator")
	if err != nil {
		t.Fatal(err)
	}
	a.file("clouds.yaml", access.CloudsYAML)
	a.file("vpnctl.yaml", estateOf(a.namespace, "target: cluster"))
	a.secret()
	for _, f := range []string{"gateway.yaml", "plant1.yaml"} {
		a.file("gateways/"+f, a.manifest(f))
	}
	return a
}

func (c *controlled) secret() {
	c.lab.Apply(c.t, []byte("apiVersion: v1\nkind: Secret\nmetadata: {name: plant1-psk, namespace: "+c.namespace+"}\nstringData: {psk: a-long-one}\n"))
}

// manifest is an example's, in the test's namespace.
func (c *controlled) manifest(file string) string {
	return strings.ReplaceAll(read(c.t, "examples/acme/"+file), "namespace: acme", "namespace: "+c.namespace)
}

// edit replaces a text of a manifest, which must be there.
func (c *controlled) edit(file, old, new string) {
	c.t.Helper()
	path := filepath.Join(c.dir, "gateways", file)
	text, err := os.ReadFile(path)
	if err != nil || !bytes.Contains(text, []byte(old)) {
		c.t.Fatalf("%s holds no %q: %v", file, old, err)
	}
	c.file("gateways/"+file, strings.ReplaceAll(string(text), old, new))
}

// command is one over the estate's manifests, as the lab's administrator.
func (c *controlled) command(args ...string) *exec.Cmd {
	return c.commandAs(c.lab.Kubeconfig, args...)
}

func (c *controlled) commandAs(kubeconfig string, args ...string) *exec.Cmd {
	args = append(args, "--estate", filepath.Join(c.dir, "vpnctl.yaml"), "--kubeconfig", kubeconfig, filepath.Join(c.dir, "gateways"))
	cmd := exec.Command("vpnctl", args...)
	cmd.Env = append(os.Environ(), "OS_CLIENT_CONFIG_FILE="+filepath.Join(c.dir, "clouds.yaml"), "NO_COLOR=1")
	return cmd
}

// run wants a command to end with a code, and to have said some words.
func (c *controlled) run(code int, words []string, args ...string) string {
	c.t.Helper()
	return c.ends(c.command(args...), code, words)
}

func (c *controlled) ends(cmd *exec.Cmd, code int, words []string) string {
	c.t.Helper()
	out, err := cmd.CombinedOutput()
	got := 0
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		got = failed.ExitCode()
	} else if err != nil {
		c.t.Fatal(err)
	}
	said := strings.Join(strings.Fields(string(out)), " ")
	if got != code {
		c.t.Fatalf("%v: exit %d, want %d\n%s", cmd.Args[1:], got, code, out)
	}
	for _, w := range words {
		if !strings.Contains(said, w) {
			c.t.Fatalf("%v says nothing of %q:\n%s", cmd.Args[1:], w, out)
		}
	}
	return string(out)
}

// apply wants all to be done, the next plan to be empty, and the next apply to write
// nothing: no status either.
func (c *controlled) apply(args ...string) string {
	c.t.Helper()
	out := c.run(exitDone, nil, append([]string{"apply", "--auto-approve"}, args...)...)
	mark := c.lab.Mark(c.t)
	c.run(exitDone, []string{"Plan: no changes"}, append([]string{"plan", "--detailed-exitcode"}, args...)...)
	c.run(exitDone, nil, append([]string{"apply", "--auto-approve"}, args...)...)
	for _, w := range c.ofOurs(mark) {
		c.t.Errorf("with nothing to do: %s", w)
	}
	return out
}

// ofOurs are what vpnctl wrote to the cluster.
func (c *controlled) ofOurs(since lab.Mark) []lab.Request {
	var ours []lab.Request
	for _, w := range c.lab.Writes(c.t, since) {
		if strings.HasPrefix(w.Agent, "vpnctl/") {
			ours = append(ours, w)
		}
	}
	return ours
}

// ofSaved applies a saved plan.
func (c *controlled) ofSaved(plan, kubeconfig string) *exec.Cmd {
	cmd := c.commandAs(kubeconfig, "apply")
	cmd.Args[len(cmd.Args)-1] = plan
	return cmd
}

// TestKubeApply goes through a gateway's life with plan and apply: made, changed,
// pruned.
func TestKubeApply(t *testing.T) {
	c := newApplied(t)
	mark := c.lab.Mark(t)
	c.run(exitChanges, []string{"+ openstack.security-group", "Kubernetes objects in namespace " + c.namespace}, "plan", "--detailed-exitcode")
	for _, w := range c.ofOurs(mark) {
		t.Errorf("a plan: %s", w)
	}
	saved := filepath.Join(c.dir, "plan.json")
	c.run(exitDone, nil, "plan", "-o", saved)
	config, err := os.ReadFile(c.lab.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	c.file("elsewhere", strings.ReplaceAll(string(config), "https://127.0.0.1:", "https://127.0.0.2:"))
	c.ends(c.ofSaved(saved, filepath.Join(c.dir, "elsewhere")), exitError, []string{"nothing was changed", "was made against another cloud"})
	c.ends(c.ofSaved(saved, c.lab.Kubeconfig), exitDone, []string{"Applied 14 changes"})
	c.apply()
	c.await("True Ready")

	c.edit("gateway.yaml", "ports: [636]", "ports: [636, 3269]")
	c.apply()
	c.await("True Ready")

	if err := os.RemoveAll(filepath.Join(c.dir, "gateways")); err != nil {
		t.Fatal(err)
	}
	c.file("gateways/none.yaml", "")
	c.run(exitDone, []string{"no manifest"}, "apply", "--auto-approve")
	c.run(exitDone, nil, "apply", "--auto-approve", "--prune", "--allow-empty")
	c.empty()
	for _, kind := range []string{"VPNGateway dc1", "VPNPeer plant1"} {
		k, name, _ := strings.Cut(kind, " ")
		if c.lab.Get(t, "vpn.bnerd.net/v1alpha1", k, c.namespace, name) != nil {
			t.Errorf("%s was left", kind)
		}
	}
}
