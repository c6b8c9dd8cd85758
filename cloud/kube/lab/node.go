//go:build e2e

package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// kubelet is the label of a node that has one.
const kubelet = "lab.vpnctl/kubelet"

// AddNode adds a node with a provider ID, such as openstack:///<server>, and waits
// until it is ready. It goes when the test is over. Pods outlive their node by a
// minute: a namespace that the test makes after this is gone before the node.
func (l *Lab) AddNode(t testing.TB, name, providerID string) {
	t.Helper()
	t.Cleanup(func() { l.remove(t, l.Objects(t, "v1", "Node", ""), name) })
	l.addNode(t, name, providerID)
}

func (l *Lab) addNode(t testing.TB, name, providerID string) {
	t.Helper()
	template, err := os.ReadFile(filepath.Join(l.scripts, "node.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	l.Apply(t, []byte(strings.NewReplacer("NAME", name, "PROVIDER-ID", providerID, "ZONE", "az1").Replace(string(template))))
	l.awaitNode(t, name)
}

// CordonAll keeps what is new off all nodes that there are, until the test is over.
func (l *Lab) CordonAll(t testing.TB) {
	t.Helper()
	nodes := l.Objects(t, "v1", "Node", "")
	list, err := nodes.List(lasting(t), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range list.Items {
		t.Cleanup(func() { l.cordon(t, n.GetName(), false) })
		l.cordon(t, n.GetName(), true)
	}
}

func (l *Lab) cordon(t testing.TB, name string, is bool) {
	t.Helper()
	patch := fmt.Appendf(nil, `{"spec":{"unschedulable":%t}}`, is)
	if _, err := l.Objects(t, "v1", "Node", "").Patch(lasting(t), name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

// RemoveNode removes a node, as when its server is deleted. One that was there before
// the test is there again after it.
func (l *Lab) RemoveNode(t testing.TB, name string) {
	t.Helper()
	was := l.Get(t, "v1", "Node", "", name)
	if was == nil {
		t.Fatalf("there is no node %s", name)
	}
	l.Delete(t, "v1", "Node", "", name)
	t.Cleanup(func() { l.addNode(t, name, text(was.Object, "spec", "providerID")) })
}

// NotReady takes a node's kubelet away: it heartbeats no more, starts no pod and ends
// none. What the control plane concludes from that after its grace period, of the
// node and of its pods, is concluded at once. The node is ready again after Ready, or
// when the test is over.
func (l *Lab) NotReady(t testing.TB, name string) {
	t.Helper()
	t.Cleanup(func() { l.Ready(t, name) })
	mark(t, l.Objects(t, "v1", "Node", ""), name, "labels", kubelet, nil)
	nodes := l.Objects(t, "v1", "Node", "")
	quiet := time.Time{}
	Await(t, time.Minute, func(ctx context.Context) string {
		// The kubelet may say once more that all is well, before it sees the label.
		if ConditionOf(l.Get(t, "v1", "Node", "", name), "Ready").Status == "Unknown" {
			if time.Since(quiet) > time.Second {
				return ""
			}
			return name + " was ready until now"
		}
		quiet = time.Now()
		_, err := nodes.Patch(ctx, name, types.StrategicMergePatchType,
			condition("Ready", "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status."), metav1.PatchOptions{}, "status")
		if err != nil {
			return err.Error()
		}
		return name + " was ready until now"
	})
	l.unreadyPods(t, name)
}

// unreadyPods says of the pods on a node what the control plane says of them when the
// node is lost.
func (l *Lab) unreadyPods(t testing.TB, node string) {
	t.Helper()
	pods, err := l.Objects(t, "v1", "Pod", "").List(lasting(t), metav1.ListOptions{FieldSelector: "spec.nodeName=" + node})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pods.Items {
		_, err := l.Objects(t, "v1", "Pod", p.GetNamespace()).Patch(lasting(t), p.GetName(), types.StrategicMergePatchType,
			condition("Ready", "False", "", ""), metav1.PatchOptions{}, "status")
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Ready gives a node its kubelet back, and waits until it is ready. Its pods are
// ready soon after, and those that were to end are gone.
func (l *Lab) Ready(t testing.TB, name string) {
	t.Helper()
	mark(t, l.Objects(t, "v1", "Node", ""), name, "labels", kubelet, "running")
	l.awaitNode(t, name)
}

func (l *Lab) awaitNode(t testing.TB, name string) {
	t.Helper()
	nodes := l.Objects(t, "v1", "Node", "")
	Await(t, time.Minute, func(ctx context.Context) string {
		o, err := nodes.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		if c := ConditionOf(o, "Ready"); c.Status != "True" {
			return name + " is not ready: " + c.Message
		}
		return ""
	})
}

// PodReady makes a pod that runs ready or not ready, as its readiness probe would.
func (l *Lab) PodReady(t testing.TB, namespace, name string, ready bool) {
	t.Helper()
	var value any
	if !ready {
		value = "false"
	}
	mark(t, l.Objects(t, "v1", "Pod", namespace), name, "annotations", "lab.vpnctl/ready", value)
}

// mark sets a label or an annotation, or takes it away.
func mark(t testing.TB, of dynamic.ResourceInterface, name, among, key string, value any) {
	t.Helper()
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{among: map[string]any{key: value}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := of.Patch(lasting(t), name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatalf("changing %s of %s: %v", among, name, err)
	}
}

// condition is a patch of an object's status that sets one condition.
func condition(kind, status, reason, message string) []byte {
	return fmt.Appendf(nil, `{"status":{"conditions":[{"type":%q,"status":%q,"reason":%q,"message":%q,"lastTransitionTime":%q}]}}`,
		kind, status, reason, message, time.Now().UTC().Format(time.RFC3339))
}
