package kube_test

import (
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/kube/fakeapi"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// crowd is a world with more of our objects, and more Secrets, than a page holds.
func crowd(t *testing.T, n int) (*world, vpn.Estate) {
	t.Helper()
	e := estate(t, "acme")
	w := newWorld(t)
	for i := range n {
		o := e.Gateways[0].Owner
		o.Name = fmt.Sprintf("g-%04d", i)
		labels := map[string]any{}
		for k, v := range state.Labels(e.Name, o) {
			labels[k] = v
		}
		w.put(map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"namespace": o.Namespace, "name": o.Name + "-nat",
			"labels": labels, "annotations": map[string]any{"vpn.bnerd.net/owner": o.String()}}})
		w.put(secret(o.Namespace, fmt.Sprintf("s-%04d", i), "k", "dg=="))
	}
	return w, e
}

// count is how many ConfigMaps an observation holds.
func count(o *cloud.Observation) int {
	n := 0
	for id := range o.Graph {
		if id.Kind == resource.KubernetesKind("ConfigMap") {
			n++
		}
	}
	return n
}

// TestPagesThatExpire: a list whose pages are too old half way is read anew, whole.
func TestPagesThatExpire(t *testing.T) {
	const n = 520
	w, e := crowd(t, n)
	for _, of := range []string{"configmaps", "secrets"} {
		var expired atomic.Bool
		w.api.Intercept(func(_ int, c fakeapi.Call) fakeapi.Fault {
			if q, _ := url.ParseQuery(c.Query); c.Resource == of && q.Get("continue") != "" && !expired.Swap(true) {
				w.api.Expire()
			}
			return fakeapi.Fault{}
		})
		seen, err := w.driver().Observe(t.Context(), e, cloud.Scope{})
		if err != nil {
			t.Fatal(err)
		}
		if !expired.Load() || count(seen) != n || len(seen.Secrets) != n {
			t.Errorf("%s: expired %v, %d ConfigMaps and %d Secrets of %d", of, expired.Load(), count(seen), len(seen.Secrets), n)
		}
	}
}

// TestAListThatFailsIsNoPicture: whichever page of whichever list fails, nothing is
// observed, and the error names what it was.
func TestAListThatFailsIsNoPicture(t *testing.T) {
	w, e := crowd(t, 501)
	d := w.driver()
	if _, err := d.Observe(t.Context(), e, cloud.Scope{}); err != nil {
		t.Fatal(err)
	}
	calls := w.api.Calls()
	for _, c := range calls {
		for _, code := range []int{403, 500} {
			w.api.Intercept(func(_ int, o fakeapi.Call) fakeapi.Fault {
				if o.Resource == c.Resource && strings.Contains(o.Query, "continue=") == strings.Contains(c.Query, "continue=") {
					return fakeapi.Fault{Code: code}
				}
				return fakeapi.Fault{}
			})
			_, err := d.Observe(t.Context(), e, cloud.Scope{})
			if seen := code == 403 && (c.Resource == "secrets" || c.Resource == "namespaces"); seen != (err == nil) || err != nil && !strings.Contains(err.Error(), c.Resource) {
				t.Errorf("%d of %+v: %v", code, c, err)
			}
		}
	}
	if len(calls) < 15 {
		t.Errorf("%d calls are too few", len(calls))
	}
}
