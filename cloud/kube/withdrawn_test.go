package kube_test

import (
	"errors"
	"testing"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/kube"
	"github.com/vpnctl/vpnctl/cloud/kube/fakeapi"
)

// TestWithdrawn tells a CRD that stands from one that is being deleted, or gone.
func TestWithdrawn(t *testing.T) {
	crd := func(finalizers ...any) map[string]any {
		return map[string]any{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
			"metadata": map[string]any{"name": "vpngateways.vpn.bnerd.net", "finalizers": finalizers}}
	}
	for name, test := range map[string]struct {
		edit      func(api *fakeapi.Server)
		withdrawn bool
		err       error
	}{
		"it stands":       {func(*fakeapi.Server) {}, false, nil},
		"being deleted":   {func(api *fakeapi.Server) { api.Remove(t, "CustomResourceDefinition", "", "vpngateways.vpn.bnerd.net") }, true, nil},
		"may not be seen": {func(api *fakeapi.Server) { api.Deny = func(c fakeapi.Call) bool { return c.Verb == "get" } }, false, cloud.ErrForbidden},
		"gone by that one": {func(api *fakeapi.Server) {
			api.Put(t, crd())
			api.Remove(t, "CustomResourceDefinition", "", "vpngateways.vpn.bnerd.net")
		}, true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			api := fakeapi.New(t)
			api.Put(t, crd("customresourcecleanup.apiextensions.k8s.io"))
			test.edit(api)
			d, err := kube.Over(api.Config(), kube.Options{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := d.Withdrawn(t.Context(), "VPNGateway")
			if got != test.withdrawn || !errors.Is(err, test.err) {
				t.Errorf("%t, %v, want %t, %v", got, err, test.withdrawn, test.err)
			}
			for _, c := range api.Calls() {
				if !c.Metadata {
					t.Errorf("%s %s %s reads more than metadata", c.Verb, c.Resource, c.Name)
				}
			}
		})
	}
}
