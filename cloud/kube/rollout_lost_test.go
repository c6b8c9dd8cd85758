package kube_test

import (
	"strings"
	"testing"

	"github.com/vpnctl/vpnctl/cloud"
	worlds "github.com/vpnctl/vpnctl/cloud/reconcile/world"
	"github.com/vpnctl/vpnctl/plan"
)

// TestAPodThatCanNotEnd: where the node of a pod that is ending is lost, the node is
// named, and what is to be done.
func TestAPodThatCanNotEnd(t *testing.T) {
	e := estate(t, "acme")
	w := newWorld(t)
	w.apply(e, plan.Options{})
	g := e.Gateways[0].Owner
	d := w.on.Get("Deployment", g.Namespace, g.Name)
	d.Object["status"] = map[string]any{"observedGeneration": d.GetGeneration()}
	w.put(d.Object)
	n := worlds.Nodes(t)[0]
	labels := map[string]any{}
	for k, v := range d.GetLabels() {
		labels[k] = v
	}
	w.put(map[string]any{"apiVersion": "v1", "kind": "Pod", "spec": map[string]any{"nodeName": n.Name},
		"metadata": map[string]any{"namespace": g.Namespace, "name": "dc1-old", "labels": labels, "finalizers": []any{"example.org/kubelet"}}})
	w.on.Remove(t, "Pod", g.Namespace, "dc1-old")
	for _, c := range []struct{ ready, says, not string }{
		{"True", "pod dc1-old is ending", "Node object"},
		{"Unknown", n.Name + " is not ready: pod dc1-old can't end there", "is ending"},
	} {
		w.put(worlds.Node(n.Name, n.ServerID, c.ready))
		seen, err := w.driver().Observe(t.Context(), e, cloud.Scope{})
		if err != nil {
			t.Fatal(err)
		}
		if got := seen.Rollouts[g.String()].Message; !strings.Contains(got, c.says) || strings.Contains(got, c.not) {
			t.Errorf("its node's Ready is %s: %s", c.ready, got)
		}
	}
}
