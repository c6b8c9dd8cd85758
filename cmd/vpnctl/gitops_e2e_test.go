//go:build e2e

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/vpnctl/vpnctl/cloud/kube/lab"
	"github.com/vpnctl/vpnctl/crds"
)

// synced is an estate whose files an engine brings into a cluster.
type synced struct {
	*controlled
	repository *lab.Repository
	customers  map[string]string // namespaces in the lab, by those of the examples
	engine     engine
}

// engine is Flux or Argo CD, as examples/pipelines sets it up.
type engine interface {
	name() string
	follow()
	unruled() []string  // takes the health rules away: how they were, and are
	sync(commit string) // waits until the commit is applied and healthy
	again()             // what it does every few minutes
	hourly() int        // and how often that is in an hour
	says() string       // of the health of all: healthy, failed, or why neither
}

// TestFluxRendered: what apply writes is synced by Flux as examples/pipelines says.
func TestFluxRendered(t *testing.T) {
	s := newSynced(t)
	s.engine = &byFlux{s, s.lab.Flux(t)}
	s.life()
}

// TestArgoCDRendered: what apply writes is synced by Argo CD as examples/pipelines says.
func TestArgoCDRendered(t *testing.T) {
	s := newSynced(t)
	s.engine = &byArgoCD{s, s.lab.ArgoCD(t)}
	s.life()
}

func newSynced(t *testing.T) *synced {
	s := &synced{controlled: &controlled{t: t, lab: lab.Start(t), dir: t.TempDir()}, customers: map[string]string{}}
	s.lab.Apply(t, crds.YAML())
	for _, name := range []string{"acme", "globex", "initech"} {
		s.customers[name] = s.lab.Namespace(t)
	}
	s.namespace = s.customers["acme"] // names the estate, too
	s.cloud()
	s.estate()
	for example, files := range map[string][]string{
		"acme": {"gateway.yaml", "plant1.yaml"}, "globex": {"gateway.yaml", "sites.yaml", "people.yaml"}, "initech": {"gateway.yaml"},
	} {
		for _, f := range files {
			text := read(t, "examples/"+example+"/"+f)
			s.file("checkout/gateways/"+example+"/"+f, strings.ReplaceAll(text, "namespace: "+example, "namespace: "+s.customers[example]))
		}
	}
	s.repository = s.lab.Repository(t)
	s.repository.Name = "gateways" // of the engine's objects, too
	return s
}

// estate writes the Estate's file, with everything that can be rendered.
func (s *synced) estate() {
	s.t.Helper()
	seed, err := os.ReadFile(s.path("seed/vpnctl.yaml"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.file("checkout/vpnctl.yaml", string(seed)+"  monitoring: {podMonitor: true, prometheusRule: true}\n")
}

// life goes from the first sync to the end of a gateway.
func (s *synced) life() {
	s.vpnctl("apply", "--auto-approve")
	s.repository.Commit(s.t, s.path("checkout/deploy"))
	s.engine.follow()
	s.push()
	s.present()
	s.report()
	s.ruled()
	s.health()

	s.atRest(s.engine.hourly())
	s.planEmpty()
	s.planInCluster()

	s.edit("acme/plant1.yaml", "198.51.100.7", "198.51.100.20")
	was := s.deployment("acme", "dc1")
	s.vpnctl("apply", "--auto-approve")
	s.push()
	s.present()
	if now := s.deployment("acme", "dc1"); now.GetGeneration() != was.GetGeneration() || now.GetUID() != was.GetUID() {
		s.t.Errorf("the Deployment was at generation %d of %s and is at %d of %s", was.GetGeneration(), was.GetUID(), now.GetGeneration(), now.GetUID())
	}
	s.atRest(2)

	s.leave("initech", "IPsecGateway", "old")
	s.planEmpty()
}

// vpnctl runs a command in the checkout, which has to end well.
func (s *synced) vpnctl(args ...string) string {
	s.t.Helper()
	cmd := exec.Command("vpnctl", append(args, "gateways")...)
	cmd.Dir = s.path("checkout")
	cmd.Env = append(os.Environ(), "OS_CLIENT_CONFIG_FILE="+s.path("clouds.yaml"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("vpnctl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (s *synced) path(name string) string { return filepath.Join(s.dir, name) }

// push commits the tree and waits until the engine has it in the cluster.
func (s *synced) push() {
	s.t.Helper()
	s.engine.sync(s.repository.Commit(s.t, s.path("checkout/deploy")))
}

// planEmpty wants a plan without changes.
func (s *synced) planEmpty() {
	s.t.Helper()
	if out := s.vpnctl("plan", "--detailed-exitcode"); !strings.Contains(out, "Plan: no changes") {
		s.t.Errorf("the plan is not empty:\n%s", out)
	}
}

func (s *synced) edit(file, from, to string) {
	s.t.Helper()
	path := s.path("checkout/gateways/" + file)
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), from) {
		s.t.Fatalf("%s has no %s: %v", file, from, err)
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(text), from, to)), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

func (s *synced) deployment(customer, name string) *unstructured.Unstructured {
	s.t.Helper()
	o := s.lab.Get(s.t, "apps/v1", "Deployment", s.customers[customer], name)
	if o == nil {
		s.t.Fatalf("there is no Deployment %s", name)
	}
	return o
}

// leave takes a gateway's manifest away: files first, so that the engine ends the pod,
// then the cloud side.
func (s *synced) leave(customer, kind, name string) {
	s.t.Helper()
	var gone []*unstructured.Unstructured
	for _, o := range s.files() {
		if o.GetNamespace() == s.customers[customer] {
			gone = append(gone, o)
		}
	}
	if !slices.ContainsFunc(gone, func(o *unstructured.Unstructured) bool { return o.GetKind() == kind && o.GetName() == name }) {
		s.t.Fatalf("%s %s is not in the tree", kind, name)
	}
	if err := os.RemoveAll(s.path("checkout/gateways/" + customer)); err != nil {
		s.t.Fatal(err)
	}
	s.estate()
	if out := s.vpnctl("apply", "--auto-approve", "--prune"); !strings.Contains(out, "held until") {
		s.t.Errorf("nothing is held while the pod runs:\n%s", out)
	}
	s.push()
	for _, o := range gone {
		lab.Await(s.t, time.Minute, func(context.Context) string {
			if s.lab.Get(s.t, o.GetAPIVersion(), o.GetKind(), o.GetNamespace(), o.GetName()) != nil {
				return o.GetKind() + " " + o.GetName() + " is still there"
			}
			return ""
		})
	}
	lab.Await(s.t, time.Minute, func(ctx context.Context) string {
		pods, err := s.lab.Objects(s.t, "v1", "Pod", s.customers[customer]).List(ctx, everything)
		if err != nil || len(pods.Items) > 0 {
			return "its pod is still there"
		}
		return ""
	})
	s.vpnctl("apply", "--auto-approve", "--prune", "--pods-gone")
	if left := s.owned(kind + "/" + s.customers[customer] + "/" + name); len(left) > 0 {
		s.t.Errorf("in the cloud was left: %v", left)
	}
}

// owned are the objects in the cloud of one owner.
func (s *synced) owned(owner string) []string {
	s.t.Helper()
	real, err := realCloud(s.path("clouds.yaml"), "operator")
	if err != nil {
		s.t.Fatal(err)
	}
	all, err := real.of(s.namespace)
	if err != nil {
		s.t.Fatal(err)
	}
	var left []string
	for _, o := range all {
		if slices.Contains(o.Tags, "vpn.bnerd.net/owner="+owner) {
			left = append(left, o.collection+" "+o.Name)
		}
	}
	return left
}
