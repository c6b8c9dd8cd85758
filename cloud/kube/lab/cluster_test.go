//go:build e2e

package lab

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/vpnctl/vpnctl/crds"
)

// deployment is one with a pod, which may be held to a node.
func deployment(namespace, name, node string) []byte {
	return fmt.Appendf(nil, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[2]s, namespace: %[1]s}
spec:
  selector: {matchLabels: {app: %[2]s}}
  template:
    metadata: {labels: {app: %[2]s}}
    spec:
      nodeName: %[3]q
      terminationGracePeriodSeconds: 1
      containers: [{name: main, image: example.invalid/none:1}]
`, namespace, name, node)
}

// awaitAvailable waits until a Deployment's condition Available has a status.
func awaitAvailable(t *testing.T, l *Lab, namespace, name, status string) {
	t.Helper()
	Await(t, time.Minute, func(context.Context) string {
		if c := ConditionOf(l.Get(t, "apps/v1", "Deployment", namespace, name), "Available"); c.Status != status {
			return fmt.Sprintf("%s is not Available=%s: %+v", name, status, c)
		}
		return ""
	})
}

// pod is the pod of a Deployment, or nil as long as it has none.
func pod(t *testing.T, l *Lab, namespace, app string) *unstructured.Unstructured {
	t.Helper()
	list, err := l.Objects(t, "v1", "Pod", namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "app=" + app})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list.Items {
		return &p
	}
	return nil
}

func TestKubeServesWhatGatewaysNeed(t *testing.T) {
	t.Parallel()
	l := Start(t)
	l.Apply(t, crds.YAML())
	namespace := l.Namespace(t)
	for _, kind := range [][2]string{
		{"vpn.bnerd.net/v1alpha1", "VPNGateway"}, {"vpn.bnerd.net/v1alpha1", "VPNPeer"},
		{"ipsec.bnerd.net/v1alpha1", "IPsecGateway"}, {"ipsec.bnerd.net/v1alpha1", "ClusterLink"},
		{"k8s.cni.cncf.io/v1", "NetworkAttachmentDefinition"},
		{"monitoring.coreos.com/v1", "PodMonitor"}, {"monitoring.coreos.com/v1", "PrometheusRule"},
	} {
		Await(t, time.Minute, func(ctx context.Context) string { // a CRD is served some time after it is there
			if _, err := l.Objects(t, kind[0], kind[1], namespace).List(ctx, metav1.ListOptions{}); err != nil {
				return kind[1] + ": " + err.Error()
			}
			return ""
		})
	}
}

func TestKubeRunsPods(t *testing.T) {
	t.Parallel()
	l := Start(t)
	namespace := l.Namespace(t)
	l.Apply(t, deployment(namespace, "web", ""))
	awaitAvailable(t, l, namespace, "web", "True")
	p := pod(t, l, namespace, "web")
	if text(p.Object, "spec", "nodeName") == "" || text(p.Object, "status", "podIP") == "" {
		t.Errorf("the pod is on node %q with address %q", text(p.Object, "spec", "nodeName"), text(p.Object, "status", "podIP"))
	}
	l.PodReady(t, namespace, p.GetName(), false)
	awaitAvailable(t, l, namespace, "web", "False")
	l.PodReady(t, namespace, p.GetName(), true)
	awaitAvailable(t, l, namespace, "web", "True")
}

func TestKubeNodeIsLostAndComesBack(t *testing.T) {
	t.Parallel()
	l := Start(t)
	l.AddNode(t, "spare", "openstack:///5ba1e000-0000-4000-8000-000000000001")
	namespace := l.Namespace(t)
	l.Apply(t, deployment(namespace, "before", "spare"))
	awaitAvailable(t, l, namespace, "before", "True")

	l.NotReady(t, "spare")
	awaitAvailable(t, l, namespace, "before", "False")
	l.Apply(t, deployment(namespace, "after", "spare"))
	first := pod(t, l, namespace, "before")
	if err := l.Objects(t, "v1", "Pod", namespace).Delete(t.Context(), first.GetName(), metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(3 * time.Second) // in which a kubelet would have done both
	if p := pod(t, l, namespace, "after"); p == nil || text(p.Object, "status", "phase") != "Pending" {
		t.Errorf("a pod on a lost node is not Pending: %v", p)
	}
	if l.Get(t, "v1", "Pod", namespace, first.GetName()) == nil {
		t.Error("a pod on a lost node has ended")
	}

	l.Kill(t, APIServer)
	l.Up(t) // though a node is lost

	l.Ready(t, "spare")
	awaitAvailable(t, l, namespace, "before", "True")
	awaitAvailable(t, l, namespace, "after", "True")
	Await(t, time.Minute, func(context.Context) string {
		if l.Get(t, "v1", "Pod", namespace, first.GetName()) != nil {
			return "the deleted pod is still there, though its node is back"
		}
		return ""
	})
}

func TestKubeNodesComeAndGo(t *testing.T) {
	t.Parallel()
	l := Start(t)
	const id = "openstack:///5ba1e000-0000-4000-8000-000000000002"
	t.Run("inner", func(t *testing.T) {
		l.AddNode(t, "guest", id)
		if got := text(l.Get(t, "v1", "Node", "", "guest").Object, "spec", "providerID"); got != id {
			t.Errorf("providerID %q, not %q", got, id)
		}
		t.Run("removed", func(t *testing.T) {
			l.RemoveNode(t, "guest")
			if l.Get(t, "v1", "Node", "", "guest") != nil {
				t.Error("guest is still there")
			}
		})
		if o := l.Get(t, "v1", "Node", "", "guest"); o == nil || text(o.Object, "spec", "providerID") != id {
			t.Errorf("after the test that removed guest, it is %v", o)
		}
	})
	if l.Get(t, "v1", "Node", "", "guest") != nil {
		t.Error("guest is still there, though its test is over")
	}
}

func TestKubeAPIServerIsKilledAndComesBack(t *testing.T) {
	t.Parallel()
	l := Start(t)
	namespace := l.Namespace(t)
	l.Apply(t, deployment(namespace, "web", ""))
	version := l.Get(t, "apps/v1", "Deployment", namespace, "web").GetResourceVersion()
	awaitAvailable(t, l, namespace, "web", "True")
	deployments := l.Objects(t, "apps/v1", "Deployment", namespace)
	watch, err := deployments.Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()

	l.Kill(t, APIServer)
	if _, err := deployments.List(t.Context(), metav1.ListOptions{}); err == nil {
		t.Fatal("the API server answers, though it was killed")
	}
	ended := make(chan bool)
	go func() {
		for range watch.ResultChan() {
		}
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Fatal("a watch outlived the API server")
	}
	l.Up(t)
	awaitAvailable(t, l, namespace, "web", "True")
	l.Apply(t, deployment(namespace, "later", ""))
	awaitAvailable(t, l, namespace, "later", "True")

	old, err := deployments.Watch(t.Context(), metav1.ListOptions{ResourceVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	defer old.Stop()
	if e := <-old.ResultChan(); e.Object == nil || !apierrors.IsResourceExpired(apierrors.FromObject(e.Object)) {
		t.Errorf("a watch from before isn't expired, but goes on with %s", e.Type)
	}
}

// client speaks to the API server as whom a kubeconfig names.
func client(t *testing.T, kubeconfig string) dynamic.NamespaceableResourceInterface {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.UserAgent = "test"
	api, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return api.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"})
}

func settings(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name}}}
}

func TestKubeAuditLogTellsWhatWasWritten(t *testing.T) {
	t.Parallel()
	l := Start(t)
	namespace := l.Namespace(t)
	all := client(t, l.Kubeconfig).Namespace(namespace)
	if _, err := all.Create(t.Context(), settings("before"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}

	mark := l.Mark(t)
	if _, err := all.List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := all.Apply(t.Context(), "dry", settings("dry"), metav1.ApplyOptions{FieldManager: "test", DryRun: []string{metav1.DryRunAll}}); err != nil {
		t.Fatal(err)
	}
	if _, err := all.Create(t.Context(), settings("before"), metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
		t.Fatalf("not %v, but that it exists already, is what was expected", err)
	}
	if w := l.Writes(t, mark); len(w) > 0 {
		t.Errorf("a list, a dry run and a refusal are said to have written: %v", w)
	}
	var verbs []string
	for _, r := range l.Requests(t, mark) {
		if r.Agent == "test" {
			verbs = append(verbs, fmt.Sprintf("%s %s %d", r.Verb, r.Resource, r.Code))
		}
	}
	want := []string{"list configmaps 200", "patch configmaps 201", "create configmaps 409"}
	if diff := cmp.Diff(want, verbs); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}

	if _, err := all.Apply(t.Context(), "new", settings("new"), metav1.ApplyOptions{FieldManager: "test"}); err != nil {
		t.Fatal(err)
	}
	if err := all.Delete(t.Context(), "before", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	var writes []string
	for _, r := range l.Writes(t, mark) {
		writes = append(writes, strings.Join([]string{r.User, r.Verb, r.Resource, r.Namespace, r.Name}, " "))
	}
	want = []string{"lab-admin patch configmaps " + namespace + " new", "lab-admin delete configmaps " + namespace + " before"}
	if diff := cmp.Diff(want, writes); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}

func TestKubeAccountsMayDoWhatRolesSay(t *testing.T) {
	t.Parallel()
	l := Start(t)
	namespace := l.Namespace(t)
	for who, kubeconfig := range map[string]string{"nobody": l.Nobody(), "a ServiceAccount": l.ServiceAccount(t, namespace, "default")} {
		if _, err := client(t, kubeconfig).Namespace(namespace).List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
			t.Errorf("%s without a role: %v, not forbidden", who, err)
		}
	}
	l.Apply(t, fmt.Appendf(nil, `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: %[1]s}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reader, namespace: %[1]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
subjects: [{kind: ServiceAccount, name: default, namespace: %[1]s}]
`, namespace))
	may := client(t, l.ServiceAccount(t, namespace, "default")).Namespace(namespace)
	Await(t, 30*time.Second, func(ctx context.Context) string {
		if _, err := may.List(ctx, metav1.ListOptions{}); err != nil {
			return err.Error()
		}
		return ""
	})
	if _, err := may.Create(t.Context(), settings("x"), metav1.CreateOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("creating what may be listed: %v, not forbidden", err)
	}
}

func TestKubeTwoLabsStandSideBySide(t *testing.T) {
	first := Start(t)
	var dir string
	t.Run("second", func(t *testing.T) {
		t.Setenv(variable, "")
		second := Start(t)
		dir = second.dir
		second.AddNode(t, "second", "openstack:///5ba1e000-0000-4000-8000-000000000003")
		if first.Get(t, "v1", "Node", "", "second") != nil {
			t.Error("a node of the second lab is in the first")
		}
		second.Stop(t, APIServer)
		first.Mark(t) // the first answers
	})
	if _, err := os.Stat(filepath.Join(dir, "kubeconfig")); !os.IsNotExist(err) {
		t.Errorf("the second lab has left its kubeconfig: %v", err)
	}
	if left := commandsNaming(t, dir); len(left) > 0 {
		t.Errorf("the second lab has left processes: %v", left)
	}
	first.Mark(t)
}

// commandsNaming lists the processes that have a folder on their command line.
func commandsNaming(t *testing.T, folder string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, file := range files {
		if line, _ := os.ReadFile(file); strings.Contains(string(line), folder) {
			all = append(all, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return all
}
