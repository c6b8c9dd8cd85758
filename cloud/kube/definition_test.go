package kube_test

import (
	"errors"
	"testing"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/kube"
	"github.com/vpnctl/vpnctl/cloud/kube/fakeapi"
)

// TestDefinition tells a CRD that stands from one that is being deleted, or gone, and from
// one that was made anew.
func TestDefinition(t *testing.T) {
	const crds = "CustomResourceDefinition"
	crd := func(finalizers ...any) map[string]any {
		return map[string]any{"apiVersion": "apiextensions.k8s.io/v1", "kind": crds,
			"metadata": map[string]any{"name": "vpngateways.vpn.bnerd.net", "finalizers": finalizers}}
	}
	remove := func(api *fakeapi.Server) { api.Remove(t, crds, "", "vpngateways.vpn.bnerd.net") }
	drop := func(api *fakeapi.Server) {
		api.Put(t, crd())
		remove(api)
	}
	const (
		same = iota
		another
		none
	)
	for name, test := range map[string]struct {
		edit func(api *fakeapi.Server)
		want int
		err  error
	}{
		"it stands":       {func(*fakeapi.Server) {}, same, nil},
		"being deleted":   {remove, none, nil},
		"gone":            {drop, none, nil},
		"may not be seen": {func(api *fakeapi.Server) { api.Deny(func(c fakeapi.Call) bool { return c.Verb == "get" }) }, none, cloud.ErrForbidden},
		"made anew": {func(api *fakeapi.Server) {
			drop(api)
			api.Put(t, crd())
		}, another, nil},
	} {
		t.Run(name, func(t *testing.T) {
			api := fakeapi.New(t)
			api.Put(t, crd("customresourcecleanup.apiextensions.k8s.io"))
			d, err := kube.Over(api.Config(), kube.Options{})
			if err != nil {
				t.Fatal(err)
			}
			before, err := d.Definition(t.Context(), "VPNGateway")
			if before == "" || err != nil {
				t.Fatalf("%q, %v", before, err)
			}
			test.edit(api)
			uid, err := d.Definition(t.Context(), "VPNGateway")
			got := another
			switch uid {
			case before:
				got = same
			case "":
				got = none
			}
			if got != test.want || !errors.Is(err, test.err) {
				t.Errorf("%q after %q, %v, want %v", uid, before, err, test.err)
			}
			for _, c := range api.Calls() {
				if !c.Metadata {
					t.Errorf("%s %s %s reads more than metadata", c.Verb, c.Resource, c.Name)
				}
			}
		})
	}
}
