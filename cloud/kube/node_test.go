package kube

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/vpnctl/vpnctl/plan/resource"
)

const server = "0b7c5a1e-2f2d-4f0e-9a51-6d6f6b1c0001"

func TestServerID(t *testing.T) {
	for id, want := range map[string]string{
		"openstack:///" + server:                            server,
		"openstack://RegionOne/" + server:                   server,
		"openstack:///0B7C5A1E-2F2D-4F0E-9A51-6D6F6B1C0001": server,
		"openstack://" + server:                             "", "openstack:///" + server + "/x": "", "openstack:///": "", "": "",
		"aws:///eu/i-0": "", server: "", "openstack:///not-a-server": "", "xopenstack:///" + server: "",
	} {
		if got, ok := ServerID(id); got != want || ok != (want != "") {
			t.Errorf("%q: %q %v, want %q", id, got, ok, want)
		}
	}
}

// TestNodes: which nodes carry gateways, and why others don't.
func TestNodes(t *testing.T) {
	node := func(edit func(*corev1.Node)) *corev1.Node {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Spec: corev1.NodeSpec{ProviderID: "openstack:///" + server}}
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeDiskPressure, Status: corev1.ConditionFalse}, {Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		edit(n)
		return n
	}
	for name, tt := range map[string]struct {
		edit func(*corev1.Node)
		want resource.Node
	}{
		"ready":         {func(*corev1.Node) {}, resource.Node{Name: "n", ServerID: server, Ready: true}},
		"cordoned":      {func(n *corev1.Node) { n.Spec.Unschedulable = true }, resource.Node{Name: "n", ServerID: server, Ready: true, Closed: "cordoned"}},
		"control plane": {func(n *corev1.Node) { n.Labels = map[string]string{controlPlane[0]: ""} }, resource.Node{Name: "n", ServerID: server, Ready: true, Closed: "part of the control plane"}},
		"not ready":     {func(n *corev1.Node) { n.Status.Conditions[1].Status = corev1.ConditionUnknown }, resource.Node{Name: "n", ServerID: server, Problem: "is not Ready"}},
		"says nothing":  {func(n *corev1.Node) { n.Status.Conditions = nil }, resource.Node{Name: "n", ServerID: server, Problem: "is not Ready"}},
		"another cloud": {func(n *corev1.Node) { n.Spec.ProviderID = "aws:///x" }, resource.Node{Name: "n", Problem: `its providerID "aws:///x" is not openstack:///<server ID>`}},
	} {
		object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(node(tt.edit))
		if err != nil {
			t.Fatal(err)
		}
		got, err := nodeFacts([]unstructured.Unstructured{{Object: object}})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]resource.Node{tt.want}, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}
