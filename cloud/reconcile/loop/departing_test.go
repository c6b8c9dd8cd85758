package loop_test

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
)

// TestAPodThatOutlivesItsDeployment: nothing is taken from under it until it is gone,
// whether it was left behind before the gateway was deleted, or while it goes.
func TestAPodThatOutlivesItsDeployment(t *testing.T) {
	for name, meanwhile := range map[string]bool{"before": false, "meanwhile": true} {
		t.Run(name, func(t *testing.T) {
			f := newFieldOverAPI(t)
			f.put(manifestsOf(t, "acme/dc1")...)
			f.turns(2)
			d := f.api.Get("Deployment", "acme", "dc1")
			labels, _, _ := unstructured.NestedMap(d.Object, "spec", "template", "metadata", "labels")
			f.api.PutAs(t, "kubelet", map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "dc1-abc-x", "namespace": "acme", "labels": labels,
				"ownerReferences": []any{map[string]any{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "dc1-abc", "uid": "u", "controller": true}}}})
			if !meanwhile {
				f.api.Remove(t, "Deployment", "acme", "dc1")
			}
			before := f.Look()
			f.api.Remove(t, "VPNGateway", "acme", "dc1")
			f.api.Remove(t, "VPNPeer", "acme", "plant1")
			f.turns(2)
			if f.Look() != before {
				t.Error("the cloud was changed under a running pod")
			}
			if got := f.said("VPNGateway", "acme", "dc1", vpnv1alpha1.ConditionReady); !strings.Contains(got, "pod dc1-abc-x of ReplicaSet dc1-abc still runs") {
				t.Errorf("Ready: %s", got)
			}
			f.api.Remove(t, "Pod", "acme", "dc1-abc-x")
			for range 40 {
				if f.turns(1); f.api.Get("VPNGateway", "acme", "dc1") == nil {
					break
				}
				time.Sleep(time.Second)
			}
			if f.api.Get("VPNGateway", "acme", "dc1") != nil || strings.Contains(f.Look(), "vpnctl-") {
				t.Errorf("the pod is gone, the gateway still stands: %s", f.said("VPNGateway", "acme", "dc1", vpnv1alpha1.ConditionReady))
			}
		})
	}
}
