//go:build e2e

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/vpnctl/vpnctl/cloud/kube/lab"
	"github.com/vpnctl/vpnctl/render/controller"
)

// TestKubeControllerDeployment: a namespace that takes restricted pods only takes the
// controller's, on nodes of their own, and what is printed is what then stands.
func TestKubeControllerDeployment(t *testing.T) {
	i := install(t, "  monitoring: {podMonitor: true, prometheusRule: true}\n")
	i.kubectl("", "-n", i.home, "rollout", "status", "deployment/"+controller.Name, "--timeout=2m")
	pods, err := i.lab.Objects(t, "v1", "Pod", i.home).List(t.Context(), metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=" + controller.Name})
	if err != nil {
		t.Fatal(err)
	}
	nodes := map[string]bool{}
	for _, p := range pods.Items {
		node, _, _ := unstructured.NestedString(p.Object, "spec", "nodeName")
		nodes[node] = true
	}
	if len(pods.Items) != controller.Replicas || len(nodes) != controller.Replicas {
		t.Errorf("%d pods on the nodes %v", len(pods.Items), nodes)
	}
	root := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "root"},
		"spec": map[string]any{"containers": []any{map[string]any{"name": "c", "image": "images.example.org/c:1"}}}}}
	_, err = i.lab.Objects(t, "v1", "Pod", i.home).Create(t.Context(), root, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `violates PodSecurity "restricted`) {
		t.Errorf("a pod that isn't restricted: %v", err)
	}

	before := i.lab.Get(t, "apps/v1", "Deployment", i.home, controller.Name).GetGeneration()
	diff := i.kubectl(i.printed, "diff", "--server-side", "-f", "-") // fails where there is a difference
	if diff != "" {
		t.Errorf("printed again, it differs:\n%s", diff)
	}
	i.kubectl(i.printed, "apply", "--server-side", "-f", "-")
	if after := i.lab.Get(t, "apps/v1", "Deployment", i.home, controller.Name).GetGeneration(); after != before {
		t.Errorf("applied again, its generation is %d and was %d", after, before)
	}
}

// TestKubeControllerExample carries out the README's recipe, and has a controller make the
// example's gateway with the account that the recipe makes.
func TestKubeControllerExample(t *testing.T) {
	t.Parallel()
	i := &installed{controlled: &controlled{t: t, lab: lab.Start(t), dir: t.TempDir(), namespace: "acme"}, home: controller.Namespace}
	i.cloud()
	t.Cleanup(func() {
		i.letGo()
		i.uninstall()
		for _, name := range []string{i.namespace, i.home} {
			i.lab.Delete(t, "v1", "Namespace", "", name)
		}
	})
	if err := os.CopyFS(filepath.Join(i.dir, "examples"), os.DirFS(root+"examples")); err != nil {
		t.Fatal(err)
	}
	login, err := os.ReadFile(filepath.Join(i.dir, "clouds.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	i.file("examples/in-cluster/clouds.yaml", string(login))
	recipe := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", recipe(t))
	recipe.Dir = i.dir
	recipe.Env = append(os.Environ(), "KUBECONFIG="+i.lab.Kubeconfig)
	if out, err := recipe.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}

	i.file("vpnctl.yaml", read(t, "examples/in-cluster/vpnctl.yaml"))
	i.as, i.leases = i.lab.ServiceAccount(t, i.home, controller.Name), i.home
	mark := i.lab.Mark(t)
	i.start()
	i.ready("vpn.bnerd.net/v1alpha1", "VPNGateway", "remote", "True Ready")
	status, _ := i.lab.Get(t, "vpn.bnerd.net/v1alpha1", "VPNGateway", i.namespace, "remote").Object["status"].(map[string]any)
	if status["wireguardPublicKey"] == nil || status["floatingIP"] == nil {
		t.Errorf("the peer's people can't know key and address: %v", status)
	}
	cloud, err := realCloud(filepath.Join(i.dir, "clouds.yaml"), "operator")
	if err != nil {
		t.Fatal(err)
	}
	if made, err := cloud.of("prod-fra1"); err != nil || len(made) < 3 {
		t.Errorf("in the cloud was made: %v %v", made, err)
	}
	i.lab.Delete(t, "vpn.bnerd.net/v1alpha1", "VPNGateway", i.namespace, "remote")
	emptied(t, cloud, "prod-fra1")
	i.stop()
	for _, r := range i.lab.Requests(t, mark) {
		if r.User == i.user() && r.Code == 403 {
			t.Errorf("refused: %s", r)
		}
	}
}

// recipe is the first block of the README's section on the cluster.
func recipe(t *testing.T) string {
	t.Helper()
	_, section, found := strings.Cut(strings.Join(readmeLines(t), "\n"), "\n### In the cluster\n")
	_, rest, begins := strings.Cut(section, "```sh\n")
	text, _, ends := strings.Cut(rest, "```")
	if !found || !begins || !ends || !strings.Contains(text, "render controller") {
		t.Fatal("the README has no recipe")
	}
	return text
}
