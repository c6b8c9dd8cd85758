package loop_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/reconcile/world"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// cluster is a Kubernetes cluster in memory: manifests with finalizers and statuses,
// objects, and nodes. It is the driver as well.
type cluster struct {
	t     testing.TB
	nodes []resource.Node

	mu        sync.Mutex
	manifests map[string]*cloud.Manifest // Kind namespace/name
	objects   resource.Graph
	down      map[string]string // owner text → why its pod doesn't run
	secrets   map[string]string // namespace/name → version; nil: they can't be seen
	created   int
	calls     int
	said      map[string]int // statuses written
	events    []string
	changes   chan struct{}
	// fault is asked before each call, and after it with done: an error is the call's.
	fault func(what string, done bool) error
}

var errGone = errors.New("the cluster doesn't answer")

func newCluster(t testing.TB) *cluster {
	c := &cluster{t: t, manifests: map[string]*cloud.Manifest{}, objects: resource.Graph{}, down: map[string]string{},
		said: map[string]int{}, changes: make(chan struct{}, 1)}
	for _, n := range world.Estate(t).Kubernetes.Nodes {
		c.nodes = append(c.nodes, resource.Node{Name: n.Name, ServerID: n.ServerID, Ready: true})
	}
	return c
}

// do is one call: what is done may be lost on either way.
func (c *cluster) do(what string, work func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	if c.fault != nil {
		if err := c.fault(what, false); err != nil {
			return err
		}
	}
	err := work()
	if c.fault != nil && err == nil {
		err = c.fault(what, true)
	}
	return err
}

// fails sets what calls fail from now on; nil: none.
func (c *cluster) fails(fault func(what string, done bool) error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fault = fault
}

// called counts the calls so far, made the objects that there are.
func (c *cluster) called() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls
}

func (c *cluster) made() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.objects)
}

func (c *cluster) wake() {
	select {
	case c.changes <- struct{}{}:
	default:
	}
}

func (c *cluster) Handles(k resource.Kind) bool { return !k.Cloud() }

func (c *cluster) Observe(_ context.Context, e vpn.Estate, _ cloud.Scope) (*cloud.Observation, error) {
	o := &cloud.Observation{Graph: resource.Graph{}, Rollouts: map[string]cloud.Rollout{},
		Facts: resource.Facts{Gateways: map[string]resource.GatewayFacts{}}}
	err := c.do("list objects", func() error {
		o.Facts.Nodes, o.Secrets = slices.Clone(c.nodes), maps.Clone(c.secrets)
		for id, r := range c.objects {
			r.Needs = nil
			o.Graph[id] = r
			if id.Kind == resource.KubernetesKind("Deployment") {
				o.Rollouts[r.Owner] = cloud.Rollout{Available: c.down[r.Owner] == "", Message: c.down[r.Owner]}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return o, nil
}

func (c *cluster) Apply(_ context.Context, change plan.Change) (resource.GatewayFacts, error) {
	err := c.do(string(change.Action)+" "+change.ID.String(), func() error {
		defer c.wake()
		if change.Action == plan.Delete {
			delete(c.objects, change.ID)
			return nil
		}
		r := *change.After
		r.Needs, r.Ref, r.Proof = nil, "uid of "+change.ID.String(), "label"
		c.objects[change.ID] = r
		return nil
	})
	return resource.GatewayFacts{}, err
}

func (c *cluster) Manifests(context.Context) ([]cloud.Manifest, error) {
	var all []cloud.Manifest
	err := c.do("list manifests", func() error {
		for _, m := range c.manifests {
			all = append(all, *m)
		}
		return nil
	})
	slices.SortFunc(all, func(a, b cloud.Manifest) int {
		if n := a.Created.Compare(b.Created); n != 0 {
			return n
		}
		return strings.Compare(keyOf(a), keyOf(b))
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

func keyOf(m cloud.Manifest) string { return m.Kind + " " + m.Namespace + "/" + m.Name }

// find is the manifest that another one was read from; the caller holds the lock.
func (c *cluster) find(m cloud.Manifest) *cloud.Manifest {
	if have := c.manifests[keyOf(m)]; have != nil && have.UID == m.UID {
		return have
	}
	return nil
}

func (c *cluster) Hold(_ context.Context, m cloud.Manifest) error {
	return c.do("hold "+keyOf(m), func() error {
		if have := c.find(m); have != nil && !have.Deleting {
			if have.Status == nil {
				c.t.Errorf("%s got its finalizer before a status", keyOf(m))
			}
			have.Held = true
		}
		return nil
	})
}

func (c *cluster) Release(_ context.Context, m cloud.Manifest) error {
	return c.do("release "+keyOf(m), func() error {
		if have := c.find(m); have != nil {
			if have.Held = false; have.Deleting {
				delete(c.manifests, keyOf(m))
			}
		}
		return nil
	})
}

func (c *cluster) Record(_ context.Context, m cloud.Manifest, s cloud.Status) (changed bool, err error) {
	var read, have map[string]any
	next := mergeStatus(c.t, m.Status, s)
	if m.Status != nil {
		if err := json.Unmarshal(m.Status, &read); err != nil {
			return false, err
		}
		if reflect.DeepEqual(read, next) {
			return false, nil
		}
	}
	err = c.do("record "+keyOf(m), func() error {
		found := c.find(m)
		if found == nil {
			return nil
		}
		if found.Status != nil {
			if err := json.Unmarshal(found.Status, &have); err != nil {
				return err
			}
		}
		found.Status, err = json.Marshal(mergeStatus(c.t, found.Status, s))
		c.said[keyOf(m)]++
		changed = true
		return err
	})
	return changed, err
}

// mergeStatus is a status with what is to be said in it.
func mergeStatus(t testing.TB, before []byte, s cloud.Status) map[string]any {
	merged := map[string]any{}
	if before != nil {
		if err := json.Unmarshal(before, &merged); err != nil {
			t.Fatal(err)
		}
	}
	maps.Copy(merged, s.Fields)
	conditions, _ := merged["conditions"].([]any)
	for _, w := range s.Conditions {
		entry := map[string]any{"type": w.Type, "status": w.Status, "reason": w.Reason, "message": w.Message}
		i := slices.IndexFunc(conditions, func(x any) bool { return x.(map[string]any)["type"] == w.Type })
		if i < 0 {
			conditions = append(conditions, entry)
			continue
		}
		conditions = slices.Clone(conditions)
		conditions[i] = entry
	}
	merged["conditions"] = conditions
	data, err := json.Marshal(merged)
	if err != nil {
		t.Fatal(err)
	}
	plain := map[string]any{}
	if err := json.Unmarshal(data, &plain); err != nil {
		t.Fatal(err)
	}
	return plain
}

func (c *cluster) Event(_ context.Context, m cloud.Manifest, h cloud.Happening) error {
	return c.do("event", func() error {
		kind := map[bool]string{true: "Warning", false: "Normal"}[h.Warning]
		c.events = append(c.events, fmt.Sprintf("%s %s %s", keyOf(m), kind, h.Reason))
		return nil
	})
}

// write is kubectl apply.
func (c *cluster) write(all ...vpn.Manifest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range all {
		m := cloud.Manifest{Kind: w.Kind, Namespace: w.Namespace, Name: w.Name, JSON: []byte(w.JSON)}
		if have := c.manifests[keyOf(m)]; have != nil {
			if string(have.JSON) != w.JSON {
				have.JSON, have.Generation = m.JSON, have.Generation+1
			}
			continue
		}
		c.created++
		m.UID, m.Generation, m.Created = fmt.Sprint("uid", c.created), 1, time.Date(2026, 1, 1, 0, 0, c.created, 0, time.UTC)
		c.manifests[keyOf(m)] = &m
	}
	c.wake()
}

// remove is kubectl delete.
func (c *cluster) remove(all ...vpn.Manifest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range all {
		key := keyOf(cloud.Manifest{Kind: w.Kind, Namespace: w.Namespace, Name: w.Name})
		if m := c.manifests[key]; m != nil && m.Held {
			m.Deleting = true
		} else {
			delete(c.manifests, key)
		}
	}
	c.wake()
}

// status is what a manifest's condition says.
func (c *cluster) status(key, kind string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.manifests[key]
	if m == nil {
		return "gone"
	}
	var s struct {
		Conditions []struct{ Type, Status, Reason, Message string }
	}
	if m.Status != nil {
		if err := json.Unmarshal(m.Status, &s); err != nil {
			c.t.Fatal(err)
		}
	}
	for _, x := range s.Conditions {
		if x.Type == kind {
			return strings.TrimSuffix(x.Status+" "+x.Reason+": "+x.Message, ": ")
		}
	}
	return "nothing said"
}

func (c *cluster) ready(key string) string { return c.status(key, vpnv1alpha1.ConditionReady) }

// statuses counts what was written into statuses so far.
func (c *cluster) statuses() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, k := range c.said {
		n += k
	}
	return n
}
