package kube_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/kube/fakeapi"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// TestAnotherInItsPlace: what comes in the place of an object that was being deleted is
// not written over.
func TestAnotherInItsPlace(t *testing.T) {
	e := estate(t, "acme")
	w := newWorld(t)
	w.apply(e, plan.Options{})
	g := e.Gateways[0].Owner
	u := w.on.Get("ConfigMap", g.Namespace, g.Name+"-nat")
	u.SetFinalizers([]string{"example.com/slow"})
	w.put(u.Object)
	w.on.Remove(t, "ConfigMap", g.Namespace, g.Name+"-nat")
	p := w.plan(e, plan.Options{})
	if len(p.Changes) != 1 || p.Changes[0].Action != plan.Replace {
		t.Fatalf("planned %v, want one replace", p.Changes)
	}
	theirs := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"namespace": g.Namespace, "name": g.Name + "-nat"}, "data": map[string]any{"theirs": "x"}}
	swapped := false
	w.api.Intercept(func(_ int, c fakeapi.Call) fakeapi.Fault {
		if swapped || c.Verb != "get" || c.Resource != "configmaps" {
			return fakeapi.Fault{}
		}
		swapped = true
		return fakeapi.Fault{Then: func() {
			last := w.on.Get("ConfigMap", g.Namespace, g.Name+"-nat")
			last.SetFinalizers(nil)
			w.put(last.Object)
			w.put(theirs)
		}}
	})
	_, err := w.driver().Apply(t.Context(), p.Changes[0])
	if !errors.Is(err, cloud.ErrConflict) {
		t.Errorf("%v, want a conflict", err)
	}
	got := w.on.Get("ConfigMap", g.Namespace, g.Name+"-nat")
	if diff := cmp.Diff(theirs["data"], got.Object["data"]); diff != "" || len(got.GetLabels()) > 0 {
		t.Errorf("it was written over (-want +got):\n%s%v", diff, got.GetLabels())
	}
}

// TestAForbiddenSecret is asked for once in a look, and told of once.
func TestAForbiddenSecret(t *testing.T) {
	w := newWorld(t)
	w.api.Deny(func(c fakeapi.Call) bool { return c.Resource == "secrets" })
	missing, notices, err := w.driver().Missing(t.Context(), map[string][]vpn.SecretRef{"acme": {{Name: "psk", Key: "a"}, {Name: "psk", Key: "b"}, {Name: "psk", Key: "c"}}})
	if err != nil || len(missing) > 0 || len(notices) != 1 {
		t.Errorf("missing %v, told %v, %v", missing, notices, err)
	}
	if n := len(w.api.Calls()); n != 1 {
		t.Errorf("%d calls", n)
	}
}
