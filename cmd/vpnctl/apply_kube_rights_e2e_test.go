//go:build e2e

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestKubeApplyReadOnly: whoever may only look can plan, is told what it could not see, and
// is told what it lacks.
func TestKubeApplyReadOnly(t *testing.T) {
	a := newApplied(t)
	a.lab.Apply(t, []byte(read(t, "examples/access/plan.yaml")))
	reader := a.account("vpnctl-plan")
	mark := a.lab.Mark(t)
	if out := a.ends(a.commandAs(reader, "plan", "--detailed-exitcode"), exitChanges, []string{"Secrets can't be seen"}); strings.Count(out, "can't be seen") != 1 {
		t.Errorf("more is unseen:\n%s", out)
	}
	a.ends(a.commandAs(reader, "apply", "--auto-approve"), exitError, []string{"nothing was changed: in the cluster this account may not create ", "patch deployments.apps in " + a.namespace})
	a.run(exitDone, nil, "apply", "--auto-approve")
	a.ends(a.commandAs(reader, "plan", "--detailed-exitcode"), exitDone, []string{"Plan: no changes"})
	for _, w := range a.lab.Writes(t, mark) {
		if strings.Contains(w.User, ":"+a.namespace+":reader") {
			t.Errorf("a plan: %s", w)
		}
	}
	a.lab.PodReady(t, a.namespace, a.pod(), false)
	a.available(0)
	a.grant("nodes", "vpngateways", "vpnpeers", "ipsecgateways", "clusterlinks", "network-attachment-definitions", "configmaps", "serviceaccounts",
		"roles", "rolebindings", "networkpolicies", "deployments", "podmonitors", "prometheusrules")
	a.rebind()
	a.ends(a.commandAs(reader, "plan"), exitDone, []string{"why pods don't run can't be seen", "whether a vpnctl reconcile keeps this estate can't be seen"})
	a.ends(a.commandAs(reader, "apply", "--auto-approve"), exitError, []string{"writing the status of VPNGateway " + a.namespace + "/dc1", "could not be written: the manifest"})
	a.grant("nodes", "vpngateways", "vpnpeers", "ipsecgateways", "clusterlinks")
	a.ends(a.commandAs(reader, "plan"), exitError, []string{`cannot list resource "configmaps"`, "a ClusterRole with the verb list on configmaps, bound to this account, lets it"})
}

// account is the kubeconfig of a ServiceAccount that has a ClusterRole.
func (a *applied) account(role string) string {
	a.lab.Apply(a.t, []byte("apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: reader, namespace: "+a.namespace+"}\n"))
	a.bind(role)
	a.t.Cleanup(func() {
		a.lab.Delete(a.t, rbacGroup, "ClusterRoleBinding", "", a.namespace)
		a.lab.Delete(a.t, rbacGroup, "ClusterRole", "", a.namespace)
	})
	return a.lab.ServiceAccount(a.t, a.namespace, "reader")
}

const rbacGroup = "rbac.authorization.k8s.io/v1"

func (a *applied) bind(role string) {
	a.lab.Apply(a.t, []byte("apiVersion: "+rbacGroup+"\nkind: ClusterRoleBinding\nmetadata: {name: "+a.namespace+"}\n"+
		"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "+role+"}\nsubjects: [{kind: ServiceAccount, name: reader, namespace: "+a.namespace+"}]\n"))
}

// rebind gives the account what grant lets it do, and nothing else.
func (a *applied) rebind() {
	a.lab.Delete(a.t, rbacGroup, "ClusterRoleBinding", "", a.namespace)
	a.bind(a.namespace)
}

// TestKubeApplyRights: the example's rights are enough for a gateway's whole life, with a
// key that the cluster makes, and for a link's.
func TestKubeApplyRights(t *testing.T) {
	a := newApplied(t)
	a.lab.Apply(t, []byte(read(t, "examples/access/apply.yaml")))
	account := a.account("vpnctl-apply")
	a.file("gateways/road.yaml", "apiVersion: vpn.bnerd.net/v1alpha1\nkind: VPNGateway\nmetadata: {name: road, namespace: "+a.namespace+"}\n"+
		"spec:\n  protocol: wireguard\n  wireguard: {listenPort: 51820}\n  exposures: [{name: erp, target: {address: 10.20.0.30, ports: [443]}}]\n")
	a.file("gateways/link.yaml", a.linkOf())
	a.ends(a.commandAs(account, "apply", "--auto-approve"), exitDone, nil)
	a.await("True Ready")
	a.linkSays("True Ready", `"transitIP"`)
	if status, _ := a.lab.Get(t, vpnGroup, "VPNGateway", a.namespace, "road").Object["status"].(map[string]any); status["wireguardPublicKey"] == nil {
		t.Errorf("without a public key: %v", status)
	}
	a.edit("gateway.yaml", "ports: [636]", "ports: [636, 3269]")
	a.ends(a.commandAs(account, "apply", "--auto-approve"), exitDone, nil)
	a.ends(a.commandAs(account, "plan", "--detailed-exitcode"), exitDone, []string{"Plan: no changes"})
	if err := os.RemoveAll(filepath.Join(a.dir, "gateways")); err != nil {
		t.Fatal(err)
	}
	a.file("gateways/none.yaml", "")
	if out := a.ends(a.commandAs(account, "apply", "--auto-approve", "--prune", "--allow-empty"), exitDone, nil); strings.Contains(out, "forbidden") {
		t.Errorf("something was not allowed:\n%s", out)
	}
	a.nothing()
}

// grant lets the reader look at some resources, and nothing else.
func (a *applied) grant(resources ...string) {
	a.lab.Apply(a.t, []byte("apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: "+a.namespace+"}\n"+
		"rules: [{apiGroups: ['*'], resources: ["+strings.Join(resources, ", ")+"], verbs: [get, list]}]\n"))
}
