//go:build e2e

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vpnctl/vpnctl/cloud/kube/lab"
	"github.com/vpnctl/vpnctl/render/controller"
)

// installed is a controller that runs with the rights of what vpnctl render controller
// prints, in a namespace of its own.
type installed struct {
	*controlled
	home    string // the controller's namespace
	printed string
}

// install prints the manifests, applies them as people do, and runs the controller as the
// account that they make. It runs beside the cluster: no image is pulled here.
func install(t *testing.T, estate string) *installed {
	t.Helper()
	t.Parallel()
	i := &installed{controlled: &controlled{t: t, lab: lab.Start(t), dir: t.TempDir()}}
	i.home = i.lab.Namespace(t)
	i.namespace = i.lab.Namespace(t)
	i.file("vpnctl.yaml", estateOf(i.namespace, "target: cluster")+estate)
	i.printed = i.vpnctl("render", "controller", "--crds", "--namespace", i.home, "--estate", i.dir+"/vpnctl.yaml")
	t.Cleanup(func() { i.uninstall() })
	t.Cleanup(func() { i.letGo() })
	i.kubectl(i.printed, "apply", "--server-side", "-f", "-")
	i.as, i.leases = i.lab.ServiceAccount(t, i.home, controller.Name), i.home
	return i
}

// uninstall takes away what stands in no namespace.
func (i *installed) uninstall() {
	for _, kind := range []string{"ClusterRoleBinding", "ClusterRole"} {
		i.lab.Delete(i.t, "rbac.authorization.k8s.io/v1", kind, "", controller.Name)
	}
}

// letGo takes the finalizers off what a test that failed has left, or its namespace would
// stay for ever.
func (i *installed) letGo() {
	for _, k := range [][2]string{{"vpn.bnerd.net/v1alpha1", "VPNGateway"}, {"ipsec.bnerd.net/v1alpha1", "IPsecGateway"}} {
		list, err := i.lab.Objects(i.t, k[0], k[1], i.namespace).List(context.WithoutCancel(i.t.Context()), metav1.ListOptions{})
		if err != nil {
			i.t.Fatal(err)
		}
		for _, o := range list.Items {
			i.patch(k[0], k[1], o.GetName(), map[string]any{"metadata": map[string]any{"finalizers": nil}})
		}
	}
}

func (i *installed) vpnctl(args ...string) string {
	i.t.Helper()
	var out, wrong bytes.Buffer
	cmd := exec.Command("vpnctl", args...)
	cmd.Stdout, cmd.Stderr = &out, &wrong
	if err := cmd.Run(); err != nil {
		i.t.Fatalf("vpnctl %v: %v\n%s", args, err, wrong.String())
	}
	return out.String()
}

func (i *installed) kubectl(input string, args ...string) string {
	i.t.Helper()
	cmd := exec.Command("kubectl", append([]string{"--kubeconfig", i.lab.Kubeconfig}, args...)...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	if err != nil {
		i.t.Fatalf("kubectl %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// user is who the API server takes the controller for.
func (i *installed) user() string {
	return "system:serviceaccount:" + i.home + ":" + controller.Name
}

// ready waits until a gateway is, or until what Ready says of it holds a text.
func (i *installed) ready(apiVersion, kind, name, want string) {
	i.t.Helper()
	lab.Await(i.t, 3*time.Minute, func(context.Context) string {
		ready := lab.ConditionOf(i.lab.Get(i.t, apiVersion, kind, i.namespace, name), "Ready")
		if got := fmt.Sprintf("%s %s: %s", ready.Status, ready.Reason, ready.Message); !strings.Contains(got, want) {
			return kind + " " + name + " is " + got + ", want " + want
		}
		return ""
	})
}

// patch changes an object as another hand does.
func (i *installed) patch(apiVersion, kind, name string, what map[string]any) {
	i.t.Helper()
	data, err := json.Marshal(what)
	if err != nil {
		i.t.Fatal(err)
	}
	if _, err := i.lab.Objects(i.t, apiVersion, kind, i.namespace).Patch(context.WithoutCancel(i.t.Context()), name, types.MergePatchType, data, metav1.PatchOptions{}); err != nil {
		i.t.Fatalf("changing %s %s: %v", kind, name, err)
	}
}
