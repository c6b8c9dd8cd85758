package kube_test

import (
	"strings"
	"testing"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/plan"
)

// TestRollouts: whether a pod runs, and why it doesn't, as far as the cluster tells.
func TestRollouts(t *testing.T) {
	e := estate(t, "acme")
	w := newWorld(t)
	w.apply(e, plan.Options{})
	g := e.Gateways[0].Owner
	made := w.on.Get("Deployment", g.Namespace, g.Name)
	for _, step := range []struct {
		name      string
		status    map[string]any
		pod       map[string]any
		available bool
		says      string
	}{
		{"nothing is known yet", nil, nil, false, "just changed"},
		{"no pod yet", map[string]any{"observedGeneration": int64(1)}, nil, false, "not there yet"},
		{"a condition", map[string]any{"observedGeneration": int64(1), "conditions": []any{
			map[string]any{"type": "ReplicaFailure", "status": "True", "message": "exceeded quota: pods"},
		}}, nil, false, "exceeded quota"},
		{"the pod tells more", map[string]any{"observedGeneration": int64(1), "updatedReplicas": int64(1), "conditions": []any{
			map[string]any{"type": "Available", "status": "False", "message": "Deployment does not have minimum availability."},
		}}, map[string]any{"containerStatuses": []any{
			map[string]any{"name": "charon", "state": map[string]any{"waiting": map[string]any{"reason": "ImagePullBackOff", "message": "no such image"}}},
		}}, false, "charon waits: ImagePullBackOff: no such image"},
		{"it runs", map[string]any{"observedGeneration": int64(1), "updatedReplicas": int64(1), "availableReplicas": int64(1)}, nil, true, ""},
	} {
		d := made.DeepCopy()
		delete(d.Object, "status")
		if step.status != nil {
			d.Object["status"] = step.status
			w.put(d.Object)
		}
		if step.pod != nil {
			labels := map[string]any{}
			for k, v := range made.GetLabels() {
				labels[k] = v
			}
			w.put(map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"namespace": g.Namespace, "name": "p", "labels": labels}, "status": step.pod})
		}
		seen, err := w.driver().Observe(t.Context(), e, cloud.Scope{})
		if err != nil {
			t.Fatal(err)
		}
		got, known := seen.Rollouts[g.String()]
		if !known || got.Available != step.available || !strings.Contains(got.Message, step.says) || got.Available != (got.Message == "") {
			t.Errorf("%s: %+v", step.name, got)
		}
	}
}
