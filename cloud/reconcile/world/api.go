package world

import (
	"testing"

	"github.com/vpnctl/vpnctl/cloud/kube/fakeapi"
)

// API is an API server whose nodes are those that the examples speak of.
func API(t testing.TB, namespaces ...string) *fakeapi.Server {
	t.Helper()
	api := fakeapi.New(t, namespaces...)
	for _, n := range Nodes(t) {
		api.Put(t, Node(n.Name, n.ServerID, "True"))
	}
	return api
}

// Node is one of a cluster, on a server of the cloud, and whether it is Ready as
// Kubernetes spells that.
func Node(name, server, ready string) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": name},
		"spec":   map[string]any{"providerID": "openstack:///" + server},
		"status": map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": ready}}},
	}
}
