//go:build e2e

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vpnctl/vpnctl/cloud/kube/lab"
	"github.com/vpnctl/vpnctl/render/controller"
)

// byFluxInCluster is the controller's example, which Flux brings into a cluster.
type byFluxInCluster struct {
	*installed
	flux       *lab.Flux
	repository *lab.Repository
}

// TestFluxController: Flux installs the controller and brings the manifests as
// examples/pipelines says, with the health rules that are printed. A controller with the
// account that came so makes the gateway; when it leaves the repository, nothing is left.
func TestFluxController(t *testing.T) {
	f := newFluxInCluster(t)
	f.file("vpnctl.yaml", read(t, "examples/in-cluster/vpnctl.yaml"))
	f.vpnctl("render", "controller", "--crds", "--out", f.dir+"/tree/controller", "--estate", f.dir+"/vpnctl.yaml")
	if err := os.CopyFS(f.dir+"/tree/gateways", os.DirFS(root+"examples/in-cluster/gateways")); err != nil {
		t.Fatal(err)
	}
	commit := f.repository.Commit(t, f.dir+"/tree")
	f.lab.Apply(t, []byte(strings.ReplaceAll(read(t, "examples/pipelines/flux/controller.yaml"), "https://git.example.com/vpn.git", f.repository.URL)))
	f.synced("vpnctl-controller", commit)
	f.synced("vpnctl-gateways", commit)
	rules(t, f.lab, f.dir, "flux", "kustomization gateways", "kustomization vpnctl-gateways")

	f.as, f.leases = f.lab.ServiceAccount(t, f.home, controller.Name), f.home
	f.start()
	const group, kind, name = "vpn.bnerd.net/v1alpha1", "VPNGateway", "remote"
	f.ready(group, kind, name, "True Ready")
	f.says("True ReconciliationSucceeded")
	f.podReady(false)
	f.ready(group, kind, name, "False DeploymentUnavailable")
	f.says("False HealthCheckFailed")
	f.podReady(true)
	f.ready(group, kind, name, "True Ready")
	f.says("True ReconciliationSucceeded")

	f.file("tree/gateways/kustomization.yaml", "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [namespace.yaml]\n")
	commit = f.repository.Commit(t, f.dir+"/tree")
	f.synced("vpnctl-gateways", commit)
	lab.Await(t, 2*time.Minute, func(context.Context) string {
		if f.lab.Get(t, group, kind, f.namespace, name) != nil {
			return "the gateway is still there"
		}
		return ""
	})
	cloud, err := realCloud(filepath.Join(f.dir, "clouds.yaml"), "operator")
	if err != nil {
		t.Fatal(err)
	}
	emptied(t, cloud, "prod-fra1")
	f.stop()
}

func newFluxInCluster(t *testing.T) *byFluxInCluster {
	t.Helper()
	f := &byFluxInCluster{installed: &installed{controlled: &controlled{t: t, lab: lab.Start(t), dir: t.TempDir(), namespace: "acme"}, home: controller.Namespace}}
	f.cloud()
	f.flux = f.lab.Flux(t)
	f.repository = f.lab.Repository(t)
	f.repository.Name = "vpnctl"
	t.Cleanup(func() { // what Flux has applied is left by it, and goes by hand
		for _, name := range []string{"vpnctl-gateways", "vpnctl-controller"} {
			f.kustomization(name, `{"spec":{"prune":false}}`)
			f.lab.Delete(t, fluxKustomize, "Kustomization", fluxSystem, name)
		}
		f.lab.Delete(t, "source.toolkit.fluxcd.io/v1", "GitRepository", fluxSystem, "vpnctl")
		f.letGo()
		f.uninstall()
		for _, name := range []string{f.namespace, f.home} {
			f.lab.Delete(t, "v1", "Namespace", "", name)
		}
	})
	return f
}

const fluxSystem, fluxKustomize = "flux-system", "kustomize.toolkit.fluxcd.io/v1"

// kustomization changes one, if it is there.
func (f *byFluxInCluster) kustomization(name, patch string) {
	_, _ = f.lab.Objects(f.t, fluxKustomize, "Kustomization", fluxSystem).Patch(context.WithoutCancel(f.t.Context()), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
}

// request has Flux look now, and not at its next interval.
func (f *byFluxInCluster) request(kind, apiVersion, name string) {
	at := fmt.Appendf(nil, `{"metadata":{"annotations":{"reconcile.fluxcd.io/requestedAt":"%d"}}}`, time.Now().UnixNano())
	_, _ = f.lab.Objects(f.t, apiVersion, kind, fluxSystem).Patch(f.t.Context(), name, types.MergePatchType, at, metav1.PatchOptions{})
}

// synced waits until a Kustomization has applied a commit.
func (f *byFluxInCluster) synced(name, commit string) {
	f.t.Helper()
	f.request("GitRepository", "source.toolkit.fluxcd.io/v1", "vpnctl")
	for asked := time.Now(); ; f.request("Kustomization", fluxKustomize, name) {
		u := f.lab.Get(f.t, fluxKustomize, "Kustomization", fluxSystem, name)
		status, _ := u.Object["status"].(map[string]any)
		if applied := fmt.Sprint(status["lastAppliedRevision"]); strings.HasSuffix(applied, commit) && lab.ConditionOf(u, "Ready").Status == "True" {
			return
		}
		if time.Since(asked) > 4*time.Minute {
			f.t.Fatalf("%s is not at %s: %v", name, commit, status)
		}
		time.Sleep(2 * time.Second)
	}
}

// says waits until the Kustomization of the gateways is in a state.
func (f *byFluxInCluster) says(want string) {
	f.t.Helper()
	f.request("Kustomization", fluxKustomize, "vpnctl-gateways")
	lab.Await(f.t, 3*time.Minute, func(context.Context) string {
		c := lab.ConditionOf(f.lab.Get(f.t, fluxKustomize, "Kustomization", fluxSystem, "vpnctl-gateways"), "Ready")
		if got := c.Status + " " + c.Reason; got != want {
			return "Flux says " + got + ": " + c.Message + ", want " + want
		}
		return ""
	})
}

// podReady has the gateway's pod ready or not.
func (f *byFluxInCluster) podReady(is bool) {
	f.t.Helper()
	pods, err := f.lab.Objects(f.t, "v1", "Pod", f.namespace).List(f.t.Context(), metav1.ListOptions{LabelSelector: "vpn.bnerd.net/gateway=remote"})
	if err != nil || len(pods.Items) != 1 {
		f.t.Fatalf("%d pods: %v", len(pods.Items), err)
	}
	f.lab.PodReady(f.t, f.namespace, pods.Items[0].GetName(), is)
}

// rules gives an engine the health rules by the commands that vpnctl render health --help
// shows, with words replaced.
func rules(t *testing.T, l *lab.Lab, dir, engine string, oldNew ...string) {
	t.Helper()
	var lines []string
	for line := range strings.Lines(renderHealth{}.Help()) {
		if text, shown := strings.CutPrefix(line, "    "); shown && strings.Contains(text, engine) {
			lines = append(lines, strings.TrimSpace(text))
		}
	}
	if len(lines) != 2 {
		t.Fatalf("the help shows for %s: %q", engine, lines)
	}
	shell(t, l, "cd "+dir+" && "+strings.NewReplacer(oldNew...).Replace(strings.Join(lines, " && ")))
}
