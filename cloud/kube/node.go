package kube

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/vpnctl/vpnctl/plan/resource"
)

// controlPlane are the labels of nodes that carry no gateways.
var controlPlane = []string{"node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"}

// providerID is how the OpenStack cloud provider names a node's server:
// openstack:///<server ID>, or with the region between the slashes.
var providerID = regexp.MustCompile(`^openstack://[^/]*/([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12})$`)

// ServerID is the Nova server behind a node's spec.providerID. It reports false for
// anything that isn't OpenStack's.
func ServerID(id string) (string, bool) {
	m := providerID.FindStringSubmatch(id)
	if m == nil {
		return "", false
	}
	return strings.ToLower(m[1]), true
}

// nodeFacts are the nodes as planning needs them, sorted by name.
func nodeFacts(list []unstructured.Unstructured) ([]resource.Node, error) {
	var all []resource.Node
	for i := range list {
		var n corev1.Node
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(list[i].Object, &n); err != nil {
			return nil, fmt.Errorf("node %s: %w", list[i].GetName(), err)
		}
		all = append(all, nodeFact(&n))
	}
	slices.SortFunc(all, func(a, b resource.Node) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// notReady is the problem of a node that doesn't answer.
const notReady = "is not Ready"

func nodeFact(n *corev1.Node) resource.Node {
	fact := resource.Node{Name: n.Name}
	server, parsed := ServerID(n.Spec.ProviderID)
	fact.ServerID = server
	switch {
	case !parsed:
		fact.Problem = fmt.Sprintf("its providerID %q is not openstack:///<server ID>", n.Spec.ProviderID)
		return fact
	case !ready(n):
		fact.Problem = notReady
		return fact
	case slices.ContainsFunc(controlPlane, func(l string) bool { _, is := n.Labels[l]; return is }):
		fact.Closed = "part of the control plane"
	case n.Spec.Unschedulable:
		fact.Closed = "cordoned"
	}
	fact.Ready = true
	return fact
}

func ready(n *corev1.Node) bool {
	return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}
