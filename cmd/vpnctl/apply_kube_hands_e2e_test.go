//go:build e2e

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vpnctl/vpnctl/cloud/kube/lab"
	"github.com/vpnctl/vpnctl/cloud/simulator"
)

const vpnGroup = "vpn.bnerd.net/v1alpha1"

// owned are the objects of Acme's gateway, with a field of each that another hand changes.
var owned = []struct{ apiVersion, kind, name, patch string }{
	{"v1", "ConfigMap", "dc1-swanctl", `{"data":{"swanctl.conf":"connections {}\n"}}`},
	{"v1", "ConfigMap", "dc1-nat", `{"data":{"nat.nft":"# empty\n"}}`},
	{"v1", "ServiceAccount", "dc1", `{"automountServiceAccountToken":true}`},
	{"rbac.authorization.k8s.io/v1", "Role", "dc1", `{"rules":[{"apiGroups":[""],"resources":["secrets"],"verbs":["*"]}]}`},
	{"rbac.authorization.k8s.io/v1", "RoleBinding", "dc1", `{"subjects":[]}`},
	{"networking.k8s.io/v1", "NetworkPolicy", "dc1-nic1", `{"spec":{"ingress":[{}]}}`},
	{"k8s.cni.cncf.io/v1", "NetworkAttachmentDefinition", "dc1", `{"spec":{"config":"{}"}}`},
	{"apps/v1", "Deployment", "dc1", `{"spec":{"replicas":0}}`},
	{vpnGroup, "VPNGateway", "dc1", `{"metadata":{"labels":{"vpn.bnerd.net/gateway":"other"}}}`},
	{vpnGroup, "VPNPeer", "plant1", `{"spec":{"ipsec":{"peer":{"address":"198.51.100.99"}}}}`},
}

// promised is what must not move by itself: what customers know.
func (a *applied) promised() string {
	a.t.Helper()
	status, _ := a.lab.Get(a.t, vpnGroup, "VPNGateway", a.namespace, "dc1").Object["status"].(map[string]any)
	return fmt.Sprint(status["serviceCIDR"], status["floatingIP"], status["virtualIPs"])
}

// TestKubeApplyRepairs: whatever another hand changes or deletes is put right by the next
// apply, and the plan says who it was; older manifests bring nobody another address; a
// node that is lost is left.
func TestKubeApplyRepairs(t *testing.T) {
	a := newApplied(t)
	a.apply()
	a.await("True Ready")
	before := a.promised()
	for _, o := range owned {
		objects := a.lab.Objects(t, o.apiVersion, o.kind, a.namespace)
		if _, err := objects.Patch(t.Context(), o.name, types.MergePatchType, []byte(o.patch), metav1.PatchOptions{FieldManager: "somebody"}); err != nil {
			t.Fatalf("%s %s: %v", o.kind, o.name, err)
		}
		said := a.run(exitChanges, []string{"kubernetes." + strings.ToLower(o.kind) + "/" + a.namespace + "/" + o.name}, "plan", "--detailed-exitcode")
		if words := strings.Join(strings.Fields(said), " "); o.kind != "VPNGateway" && !strings.Contains(words, "changed by somebody") {
			t.Errorf("%s %s: the plan doesn't say who changed it:\n%s", o.kind, o.name, said)
		}
	}
	a.apply()
	for _, o := range owned {
		a.lab.Delete(t, o.apiVersion, o.kind, a.namespace, o.name)
	}
	a.apply()
	a.await("True Ready")
	if now := a.promised(); now != before {
		t.Errorf("after repairs: %s, was %s", now, before)
	}

	a.edit("gateway.yaml", "name: ldap", "name: directory")
	a.apply()
	moved := a.promised()
	for _, f := range []string{"gateway.yaml", "plant1.yaml"} {
		a.file("gateways/"+f, a.manifest(f))
	}
	a.apply()
	if back := a.promised(); !strings.Contains(back, strings.Fields(before)[0][:10]) || moved == before {
		t.Errorf("after going back: %s, was %s, and %s in between", back, before, moved)
	}

	node := a.text("nodeName")
	a.lab.NotReady(t, node)
	a.run(exitError, []string{"follows the port", "Applied 2 changes", "all is written, but not every pod runs after 1s"}, "apply", "--auto-approve", "--wait=1s")
	if now := a.text("nodeName"); now == node || now == "" {
		t.Errorf("the gateway is on %q, and was on %s", now, node)
	}
	a.lab.Ready(t, node)
	a.available(1)
	a.apply()
	a.await("True Ready")
}

// TestKubeApplyForeign: an object of another hand that stands where one of ours would is
// refused by its name and not touched.
func TestKubeApplyForeign(t *testing.T) {
	a := newApplied(t)
	theirs := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: dc1-nat, namespace: " + a.namespace + "}\ndata: {a: theirs}\n"
	a.lab.Apply(t, []byte(theirs))
	before := a.lab.Get(t, "v1", "ConfigMap", a.namespace, "dc1-nat")
	mark := a.lab.Mark(t)
	a.run(exitError, []string{"kubernetes.configmap/" + a.namespace + "/dc1-nat: it stands already, and is not ours"}, "apply", "--auto-approve")
	for _, w := range a.ofOurs(mark) {
		t.Errorf("refused, and yet: %s", w)
	}
	if now := a.lab.Get(t, "v1", "ConfigMap", a.namespace, "dc1-nat"); now.GetResourceVersion() != before.GetResourceVersion() {
		t.Error("it was touched")
	}
	a.lab.Delete(t, "v1", "ConfigMap", a.namespace, "dc1-nat")
	a.apply()

	a.lab.Delete(t, "v1", "ConfigMap", a.namespace, "dc1-nat")
	a.lab.Apply(t, []byte(theirs))
	a.run(exitError, []string{"dc1-nat: it stands already, and is not ours"}, "apply", "--auto-approve")
	a.await("False ConfigMapFailed: ConfigRendered: it stands already")
}

// TestKubeApplySides: one side at a time leads to the same as both at once, and leaves the
// other side alone.
func TestKubeApplySides(t *testing.T) {
	a := newApplied(t)
	unwritten := func() { // but for the lock
		t.Helper()
		for _, c := range a.sim.Calls() {
			if c.Write() && !strings.Contains(c.Path, "/ports") && !strings.Contains(c.Path, "/auth/tokens") {
				t.Errorf("the cloud was written to: %s %s", c.Method, c.Path)
			}
		}
	}
	mark := a.lab.Mark(t)
	a.run(exitDone, nil, "apply", "--auto-approve", "--only", "kubernetes")
	unwritten()
	for _, w := range a.ofOurs(mark) {
		if w.Group != "vpn.bnerd.net" && w.Resource != "events" {
			t.Errorf("before its cloud side is there: %s", w)
		}
	}
	a.await("Unknown Pending")

	mark = a.lab.Mark(t)
	a.run(exitDone, nil, "apply", "--auto-approve", "--only", "cloud")
	for _, w := range a.ofOurs(mark) {
		t.Errorf("with the cloud alone: %s", w)
	}
	a.sim.Reset()
	a.run(exitDone, nil, "apply", "--auto-approve", "--only", "kubernetes")
	unwritten()
	a.await("True Ready")
	a.apply()

	if err := os.RemoveAll(filepath.Join(a.dir, "gateways")); err != nil {
		t.Fatal(err)
	}
	a.file("gateways/none.yaml", "")
	gone := []string{"apply", "--auto-approve", "--prune", "--allow-empty", "--only"}
	a.run(exitDone, nil, append(gone, "kubernetes")...)
	a.run(exitDone, nil, append(gone, "cloud")...)
	a.nothing()
}

// nothing wants neither objects nor manifests, and nothing in the cloud.
func (a *applied) nothing() {
	a.t.Helper()
	a.empty()
	for _, kind := range []string{"VPNGateway dc1", "VPNPeer plant1"} {
		k, name, _ := strings.Cut(kind, " ")
		if a.lab.Get(a.t, vpnGroup, k, a.namespace, name) != nil {
			a.t.Errorf("%s was left", kind)
		}
	}
}

// TestKubeApplyBesideReconcile: an estate that a reconcile keeps is not applied, unless
// that is meant; what it leaves behind is taken up by apply.
func TestKubeApplyBesideReconcile(t *testing.T) {
	a := newApplied(t)
	a.start()
	for _, f := range []string{"gateway.yaml", "plant1.yaml"} {
		a.lab.Apply(t, []byte(a.manifest(f)))
	}
	a.await("True Ready")
	before := a.promised()
	a.run(exitDone, []string{"estate " + a.namespace + " is kept by vpnctl reconcile", "since 20", "Lease " + a.namespace + "/vpnctl-reconcile-" + a.namespace}, "plan")
	a.run(exitError, []string{"nothing was changed", "is kept by vpnctl reconcile", "since 20"}, "apply", "--auto-approve")
	a.run(exitDone, nil, "apply", "--auto-approve", "--alongside-reconcile")
	a.stop()
	a.apply()
	if got := a.lab.Get(t, vpnGroup, "VPNGateway", a.namespace, "dc1").GetFinalizers(); len(got) != 1 {
		t.Errorf("the finalizer of reconcile is %v", got)
	}

	// nobody is there to see that it is deleted; the manifests say that it stays
	uid := a.lab.Get(t, vpnGroup, "VPNGateway", a.namespace, "dc1").GetUID()
	gateways := a.lab.Objects(t, vpnGroup, "VPNGateway", a.namespace)
	if err := gateways.Delete(t.Context(), "dc1", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	a.run(exitChanges, []string{"kubernetes.vpngateway/" + a.namespace + "/dc1", "it is being deleted, and made anew once it is gone"}, "plan", "--detailed-exitcode")
	a.apply()
	a.await("True Ready")
	if now := a.lab.Get(t, vpnGroup, "VPNGateway", a.namespace, "dc1"); now.GetUID() == uid || a.promised() != before {
		t.Errorf("made anew, it has %s, and had %s", a.promised(), before)
	}
	a.lab.Delete(t, vpnGroup, "VPNGateway", a.namespace, "dc1")
	a.apply()

	// a controller comes back, and finds nothing to do
	a.start()
	lab.Await(t, time.Minute, func(context.Context) string {
		if len(a.lab.Get(t, vpnGroup, "VPNGateway", a.namespace, "dc1").GetFinalizers()) == 0 {
			return "the controller has not begun"
		}
		return ""
	})
	a.stop()
	a.await("True Ready")
	if now := a.promised(); now != before {
		t.Errorf("with a controller again it has %s, and had %s", now, before)
	}

	// its manifest goes, and with it what the controller had put on
	if err := gateways.Delete(t.Context(), "dc1", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(a.dir, "gateways")); err != nil {
		t.Fatal(err)
	}
	a.file("gateways/none.yaml", "")
	a.run(exitDone, nil, "apply", "--auto-approve", "--prune", "--allow-empty")
	a.nothing()
}

// TestKubeApplyPrunes: manifests in the cluster without a file are named, counted, and
// deleted last, whoever applied them.
func TestKubeApplyPrunes(t *testing.T) {
	a := newApplied(t)
	a.start() // labels nothing
	for _, f := range []string{"gateway.yaml", "plant1.yaml"} {
		a.lab.Apply(t, []byte(a.manifest(f)))
	}
	a.await("True Ready")
	a.stop()
	a.file("gateways/gateway.yaml", strings.ReplaceAll(a.manifest("gateway.yaml"), "name: dc1", "name: dc2"))
	if err := os.Remove(filepath.Join(a.dir, "gateways/plant1.yaml")); err != nil {
		t.Fatal(err)
	}
	a.run(exitDone, []string{"no manifest any more", "left alone", "--prune deletes it"}, "apply", "--auto-approve")
	a.run(exitError, []string{"2 gateways and peers would be deleted, more than 1"}, "plan", "--prune", "--max-deletes=1")
	mark := a.lab.Mark(t)
	a.run(exitDone, nil, "apply", "--auto-approve", "--prune")
	var last lab.Request
	for _, w := range a.ofOurs(mark) {
		if w.Verb == "delete" {
			last = w
		}
	}
	if last.Group != "vpn.bnerd.net" {
		t.Errorf("deleted last: %s", last)
	}
	a.run(exitDone, nil, "apply", "--auto-approve", "--prune")
	for _, kind := range []string{"VPNGateway dc1", "VPNPeer plant1"} {
		k, name, _ := strings.Cut(kind, " ")
		if a.lab.Get(t, vpnGroup, k, a.namespace, name) != nil {
			t.Errorf("%s was left", kind)
		}
	}
}

// available waits until as many pods of the gateway are.
func (a *applied) available(want int64) {
	a.t.Helper()
	lab.Await(a.t, 2*time.Minute, func(context.Context) string {
		u := a.lab.Get(a.t, "apps/v1", "Deployment", a.namespace, "dc1")
		if n, _, _ := unstructured.NestedInt64(u.Object, "status", "availableReplicas"); n != want {
			return fmt.Sprintf("%d pods are available, want %d", n, want)
		}
		return ""
	})
}

// pod is the name of the gateway's.
func (a *applied) pod() string {
	a.t.Helper()
	list, err := a.lab.Objects(a.t, "v1", "Pod", a.namespace).List(a.t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 1 {
		a.t.Fatal(len(list.Items), err)
	}
	return list.Items[0].GetName()
}

// TestKubeApplyKilled: runs that end at any moment, twenty of them, and two at once, lead
// to what one would have led to: nothing is left over, no address moves.
func TestKubeApplyKilled(t *testing.T) {
	a := newApplied(t)
	before, middle := "", 0
	for i := range 20 {
		if i == 10 {
			a.run(exitDone, nil, "apply", "--auto-approve", "--wait=0")
			before = a.promised()
		}
		a.edit("gateway.yaml", a.port(i), a.port(i+1))
		cmd := a.command("apply", "--auto-approve", "--wait=0", "--lock-timeout=5s")
		a.sim.Reset()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		a.begins(i % 4) // a lock, a ledger and the lock again are what each has to write
		time.Sleep(time.Duration(20*i) * time.Millisecond)
		_ = cmd.Process.Signal(syscall.SIGKILL)
		if cmd.Wait() != nil && simulator.Count(a.sim.Calls()).Writes > 0 {
			middle++
		}
		a.ahead.Add(int64(5 * time.Minute)) // the lock runs out
	}
	t.Logf("%d of 20 were killed after they had begun to write", middle)
	if middle == 0 {
		t.Error("no run was killed in the middle")
	}
	one, other := a.command("apply", "--auto-approve"), a.command("apply", "--auto-approve")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	a.ends(one, exitDone, nil)
	if err := other.Wait(); err != nil {
		t.Errorf("the one of two at once: %v", err)
	}
	a.apply()
	a.await("True Ready")
	if now := a.promised(); now != before {
		t.Errorf("after 10 kills it has %s, and had %s", now, before)
	}
	if err := os.RemoveAll(filepath.Join(a.dir, "gateways")); err != nil {
		t.Fatal(err)
	}
	a.file("gateways/none.yaml", "")
	a.run(exitDone, nil, "apply", "--auto-approve", "--prune", "--allow-empty")
	a.nothing()
}

// begins waits until a run has written to the cloud so many times; its lock is the first.
func (a *applied) begins(writes int) {
	a.t.Helper()
	lab.Await(a.t, time.Minute, func(context.Context) string {
		if n := simulator.Count(a.sim.Calls()).Writes; n < writes {
			return fmt.Sprintf("the run has written %d times, want %d", n, writes)
		}
		return ""
	})
}

// port is the ports of an exposure after some edits.
func (a *applied) port(n int) string {
	if n == 0 {
		return "ports: [636]"
	}
	return fmt.Sprintf("ports: [%d]", 7000+n)
}
