package kube_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/vpnctl/vpnctl/cloud/kube"
	"github.com/vpnctl/vpnctl/cloud/kube/fakeapi"
	worlds "github.com/vpnctl/vpnctl/cloud/reconcile/world"
	"github.com/vpnctl/vpnctl/plan"
)

// long is how long a test waits for what must come.
const long = 2 * time.Minute

// restarting is a cluster whose API server can be restarted.
type restarting interface{ restart() }

// TestChanges: what a plan depends on is told of, whatever happens to the connection.
func TestChanges(t *testing.T) { changesAreTold(t, newWorld) }

func changesAreTold(t *testing.T, open opening) {
	e := estate(t, "acme")
	w := open(t)
	w.apply(e, plan.Options{})
	w.put(secret("acme", "named", "k", "dg=="))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	changes := w.driver().Changes(ctx, e.Name, kube.Watching{Named: func(_, name string) bool { return name == "named" }})
	g := e.Gateways[0].Owner
	last := 0
	// probe changes an object of a kind until that is told: its watch runs then
	probe := func(kind, name string) {
		t.Helper()
		for late := time.After(long); ; {
			last++
			u := w.on.Get(kind, map[bool]string{true: "", false: g.Namespace}[kind == "Node"], name)
			labels := u.GetLabels()
			if labels == nil {
				labels = map[string]string{}
			}
			labels["probe"] = string(rune('a' + last%26))
			u.SetLabels(labels)
			if kind == "Node" {
				was, _, _ := unstructured.NestedBool(u.Object, "spec", "unschedulable")
				_ = unstructured.SetNestedField(u.Object, !was, "spec", "unschedulable")
			}
			w.put(u.Object)
			select {
			case <-changes:
				return
			case <-late:
				t.Fatalf("a change of %s %s is not told of", kind, name)
			case <-time.After(200 * time.Millisecond):
			}
		}
	}
	drain := func() {
		for {
			select {
			case <-changes:
			case <-time.After(20 * time.Millisecond):
				return
			}
		}
	}
	all := func() {
		t.Helper()
		for kind, name := range map[string]string{
			g.Kind: g.Name, "ConfigMap": g.Name + "-nat", "ServiceAccount": g.Name, "Role": g.Name, "RoleBinding": g.Name,
			"NetworkPolicy": g.Name + "-nic1", "Deployment": g.Name, "NetworkAttachmentDefinition": g.Name, "Secret": "named", "Node": worlds.Nodes(t)[0].Name,
		} {
			drain()
			probe(kind, name)
		}
	}
	t.Cleanup(func() { // the node is everybody's
		n := w.on.Get("Node", "", worlds.Nodes(t)[0].Name)
		unstructured.RemoveNestedField(n.Object, "spec", "unschedulable")
		unstructured.RemoveNestedField(n.Object, "spec", "taints")
		unstructured.RemoveNestedField(n.Object, "metadata", "labels", "probe")
		w.put(n.Object)
	})
	all()
	if w.api != nil {
		w.api.Expire()
		w.api.Disconnect()
	} else {
		w.on.(restarting).restart()
	}
	all()
	stop()
	for late := time.After(long); ; {
		select {
		case _, open := <-changes:
			if !open {
				return
			}
		case <-late:
			t.Fatal("the watches don't end")
		}
	}
}

// TestASecretThatIsNamedLater: it stands before any gateway names it, and is told of as
// soon as one does; also when it goes while nobody watches.
func TestASecretThatIsNamedLater(t *testing.T) {
	for name, away := range map[string]bool{"by the watch": false, "by the list after it": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.put(secret("acme", "psk", "k", "dg=="))
			w.put(secret("acme", "other", "k", "dg=="))
			w.put(secret("acme", "mark", "k", "dg=="))
			var named, cut atomic.Bool
			w.api.Intercept(func(_ int, c fakeapi.Call) fakeapi.Fault {
				if cut.Load() {
					return fakeapi.Fault{Code: 503}
				}
				return fakeapi.Fault{}
			})
			changes := w.driver().Changes(t.Context(), "acme", kube.Watching{Named: func(_, name string) bool { return name == "mark" || name == "psk" && named.Load() }})
			n := 0
			mark := func() { // waits until all up to now was told
				t.Helper()
				for late := time.After(long); ; n++ {
					w.put(secret("acme", "mark", fmt.Sprint("k", n), "dg=="))
					select {
					case <-changes:
						return
					case <-late:
						t.Fatal("nothing is told of")
					case <-time.After(200 * time.Millisecond):
					}
				}
			}
			quiet := func() bool {
				select {
				case <-changes:
					return false
				case <-time.After(300 * time.Millisecond):
					return true
				}
			}
			for mark(); !quiet(); {
			}
			w.on.Remove(t, "Secret", "acme", "other")
			if !quiet() {
				t.Error("a Secret that nobody names is told of")
			}
			named.Store(true)
			if away {
				cut.Store(true)
				w.api.Disconnect()
			}
			w.on.Remove(t, "Secret", "acme", "psk")
			cut.Store(false)
			if away {
				w.api.Expire()
			}
			select {
			case <-changes:
			case <-time.After(long):
				t.Error("that a Secret which a gateway names by now was deleted is not told of")
			}
		})
	}
}

// TestADeniedWatch is told of, by the resource, and so is its end.
func TestADeniedWatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var allowed, denied, again atomic.Bool
	w.api.Deny(func(c fakeapi.Call) bool { return c.Resource == "secrets" && c.Verb == "watch" && !allowed.Load() })
	ctx, stop := context.WithCancel(t.Context())
	changes := w.driver().Changes(ctx, "acme", kube.Watching{
		Named: func(string, string) bool { return false },
		Denied: func(resource string, err error) {
			switch {
			case resource != "secrets" && err != nil:
				t.Errorf("%s: %v", resource, err)
			case resource == "secrets" && err != nil:
				denied.Store(true)
			case resource == "secrets" && denied.Load():
				again.Store(true)
			}
		},
	})
	await(t, "secrets are denied", denied.Load)
	allowed.Store(true)
	await(t, "secrets are watched", again.Load)
	stop()
	for range changes {
	}
}

// TestWhatIsNoChange: statuses and heartbeats aren't told of, what matters is.
func TestWhatIsNoChange(t *testing.T) {
	gateway := func(edit func(*unstructured.Unstructured)) *unstructured.Unstructured {
		u := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{
			"name": "dc1", "namespace": "acme", "uid": "u", "generation": int64(1), "resourceVersion": "1",
		}}}
		edit(u)
		return u
	}
	set := func(v any, path ...string) func(*unstructured.Unstructured) {
		return func(u *unstructured.Unstructured) {
			u.SetResourceVersion("2")
			if err := unstructured.SetNestedField(u.Object, v, path...); err != nil {
				t.Fatal(err)
			}
		}
	}
	list := func(m map[string]any) []any { return []any{m} }
	for name, c := range map[string]struct {
		read   kube.Print
		before func(*unstructured.Unstructured)
		after  func(*unstructured.Unstructured)
		told   bool
	}{
		"a manifest's status":     {kube.OfManifest, set("x", "status", "serviceCIDR"), set("y", "status", "serviceCIDR"), false},
		"a manifest's spec":       {kube.OfManifest, set(int64(1), "metadata", "generation"), set(int64(2), "metadata", "generation"), true},
		"a manifest's annotation": {kube.OfManifest, set("1", "metadata", "annotations", "a"), set("2", "metadata", "annotations", "a"), true},
		"a manifest is deleted":   {kube.OfManifest, set("x", "spec", "a"), set("2026-03-01T12:00:00Z", "metadata", "deletionTimestamp"), true},
		"another of its name":     {kube.OfManifest, set("u", "metadata", "uid"), set("v", "metadata", "uid"), true},
		"a rollout's counters":    {kube.OfDeployment, set(int64(3), "status", "collisionCount"), set(int64(4), "status", "collisionCount"), false},
		"a pod becomes available": {kube.OfDeployment, set(map[string]any{"observedGeneration": int64(1)}, "status"),
			set(map[string]any{"observedGeneration": int64(1), "updatedReplicas": int64(1), "availableReplicas": int64(1)}, "status"), true},
		"a node's heartbeat": {kube.OfNode, set(list(map[string]any{"type": "Ready", "status": "True", "lastHeartbeatTime": "2026-03-01T12:00:00Z"}), "status", "conditions"),
			set(list(map[string]any{"type": "Ready", "status": "True", "lastHeartbeatTime": "2026-03-01T12:05:00Z"}), "status", "conditions"), false},
	} {
		if got := c.read(gateway(c.before)) != c.read(gateway(c.after)); got != c.told {
			t.Errorf("%s: told %v, want %v", name, got, c.told)
		}
	}
}
