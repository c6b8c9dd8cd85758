package loop_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/cloud/kube/fakeapi"
	ipsecv1alpha1 "github.com/vpnctl/vpnctl/crds/ipsec/v1alpha1"
)

// TestALinkIsRefusedInItsStatus: it is told, once, that nobody looks after it, nothing of
// it is touched, and gateways are as without it.
func TestALinkIsRefusedInItsStatus(t *testing.T) {
	f := newFieldOverAPI(t)
	f.api.Put(t, map[string]any{
		"apiVersion": "ipsec.bnerd.net/v1alpha1", "kind": "ClusterLink",
		"metadata": map[string]any{"name": "north", "finalizers": []any{ipsecv1alpha1.LinkFinalizer}},
		"spec":     map[string]any{"serviceClusterCIDR": "10.40.0.0/16", "serviceClusterRouter": "gateway-router"},
	})
	f.put(manifestsOf(t, "acme/dc1")...)
	f.turns(2)
	if f.api.Get("Deployment", "acme", "dc1") == nil {
		t.Error("the gateway was not made")
	}
	told, err := json.Marshal(f.api.Get("ClusterLink", "", "north").Object["status"])
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`"type":"Ready"`, `"status":"False"`, `"reason":"NotSupported"`, "ClusterLink is not supported by this version"} {
		if !strings.Contains(string(told), part) {
			t.Errorf("no %s in its status: %s", part, told)
		}
	}
	f.api.Remove(t, "ClusterLink", "", "north")
	f.turns(1)
	if u := f.api.Get("ClusterLink", "", "north"); u == nil || len(u.GetFinalizers()) != 1 {
		t.Fatalf("deleted, it was let go by whoever didn't make it: %v", u)
	}
	f.api.Forget()
	f.turns(1)
	for _, call := range f.api.Calls() {
		if call.Writes() && call.Resource == "clusterlinks" {
			t.Errorf("nothing is new, and it was written: %+v", call)
		}
	}
}

// TestLinksThatMayNotBeListed are none: nothing is done for them in any case.
func TestLinksThatMayNotBeListed(t *testing.T) {
	f := newFieldOverAPI(t)
	f.api.Intercept(func(_ int, call fakeapi.Call) fakeapi.Fault {
		if call.Resource == "clusterlinks" {
			return fakeapi.Fault{Code: 403}
		}
		return fakeapi.Fault{}
	})
	if next := f.c.Round(t.Context()); time.Until(next) < time.Minute {
		t.Errorf("the next round is due in %s", time.Until(next))
	}
}
