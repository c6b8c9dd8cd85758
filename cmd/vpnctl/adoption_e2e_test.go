//go:build e2e

package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/vpnctl/vpnctl/cloud/kube/lab"
	"github.com/vpnctl/vpnctl/crds"
)

// TestKubeAdoption: what an operator has made of a gateway, in the cluster and in a
// simulated cloud, is taken over by a controller.
func TestKubeAdoption(t *testing.T) {
	t.Parallel()
	w := &walker{controlled: &controlled{t: t, lab: lab.Start(t), dir: t.TempDir()}, nodes: map[string]string{}}
	w.lab.Apply(t, crds.YAML())
	w.namespace = w.lab.Namespace(t)
	w.controlled.cloud()
	var err error
	if w.cloud, err = realCloud(filepath.Join(w.dir, "clouds.yaml"), "operator"); err != nil {
		t.Fatal(err)
	}
	list, err := w.lab.Objects(t, "v1", "Node", "").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range list.Items {
		id, _, _ := unstructured.NestedString(n.Object, "spec", "providerID")
		w.nodes[n.GetName()] = id[strings.LastIndex(id, "/")+1:]
	}
	w.file("vpnctl.yaml", estateOf(w.namespace, "target: cluster"))
	w.start()
	w.secret("plant1-psk", "psk", "a-long-one")
	w.example("acme/gateway.yaml")
	w.example("acme/plant1.yaml")
	w.ready(dc1)
	w.adopt(dc1)
	w.lab.Delete(t, dc1.version, "VPNPeer", w.namespace, "plant1")
	w.gone(dc1)
	w.empty()
	w.stop()
}

// adopt has an operator in the place of the controller, and then a controller in the place
// of the operator. While the operator may be at work, nothing is touched; afterwards all
// is the controller's, the same as it was.
func (w *walker) adopt(g walked) {
	w.t.Helper()
	before, port, address := w.allocated(g), w.port(g).ID, w.floating(g)
	w.stop()
	w.operated(g)
	w.start()
	lab.Await(w.t, time.Minute, func(context.Context) string {
		if c := lab.ConditionOf(w.get(g), "Ready"); c.Status != "False" || !strings.Contains(c.Message, "operator") {
			return fmt.Sprintf("while the operator may be at work: %+v", c)
		}
		return ""
	})
	if tags := w.address(address.Address).Tags; len(tags) != 1 || tags[0] != w.mark(g) {
		w.t.Errorf("while the operator may be at work the address has the tags %v", tags)
	}
	w.stop()

	w.start("--operator-stopped")
	w.ready(g)
	w.agrees(g)
	if now := w.allocated(g); now != before {
		w.t.Errorf("taken over, it has %s instead of %s", now, before)
	}
	if now := w.floating(g); w.port(g).ID != port || now.ID != address.ID {
		w.t.Errorf("taken over, it has port %s and address %s instead of %s and %s", w.port(g).ID, now.ID, port, address.ID)
	}
	for _, collection := range []string{"security-groups", "ports", "floatingips"} {
		tags := w.one(collection, g).Tags
		if slices.Contains(tags, w.mark(g)) || !slices.Contains(tags, "vpn.bnerd.net/managed=vpnctl") {
			w.t.Errorf("taken over, it has %s with the tags %v", collection, tags)
		}
	}
	for _, u := range w.objects(g) {
		if len(u.GetOwnerReferences()) > 0 {
			w.t.Errorf("taken over, %s %s goes with the manifest: %v", u.GetKind(), u.GetName(), u.GetOwnerReferences())
		}
	}
}

// mark is the tag by which an operator finds what it made of a gateway.
func (w *walker) mark(g walked) string {
	group, _, _ := strings.Cut(g.version, "/")
	return group + "/uid=" + string(w.get(g).GetUID())
}

// objects are what is ours of a gateway in the cluster.
func (w *walker) objects(g walked) []*unstructured.Unstructured {
	w.t.Helper()
	all := (&soak{controlled: w.controlled}).owned(g.name)
	if len(all) < 7 {
		w.t.Fatalf("%s has %d objects in the cluster", g.name, len(all))
	}
	var objects []*unstructured.Unstructured
	for _, u := range all {
		objects = append(objects, u)
	}
	return objects
}

// operated makes an operator's of what a gateway has: its names and its tag in the cloud,
// its pods by labels of its own, and every object owned by the manifest, whose status alone
// says what was allocated.
func (w *walker) operated(g walked) {
	w.t.Helper()
	uid := w.get(g).GetUID()
	for collection, body := range map[string]string{
		"security-groups": `{"security_group": {"name": "gw-NAME", "description": "bnerd-vpn-operator"}}`,
		"ports":           `{"port": {"name": "gw-NAME", "description": "bnerd-vpn-operator"}}`,
		"floatingips":     `{"floatingip": {"description": "bnerd-vpn-operator"}}`,
	} {
		path := collection + "/" + w.one(collection, g).ID
		for suffix, text := range map[string]string{"": strings.ReplaceAll(body, "NAME", g.name), "/tags": `{"tags": ["` + w.mark(g) + `"]}`} {
			if _, err := w.cloud.call("PUT", path+suffix, text); err != nil {
				w.t.Fatal(err)
			}
		}
	}
	for _, u := range w.objects(g) {
		at := w.lab.Objects(w.t, u.GetAPIVersion(), u.GetKind(), w.namespace)
		w.lab.Delete(w.t, u.GetAPIVersion(), u.GetKind(), w.namespace, u.GetName())
		child, yes := u.DeepCopy(), true
		child.Object["metadata"] = map[string]any{"name": u.GetName(), "namespace": w.namespace}
		delete(child.Object, "status")
		child.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: g.version, Kind: g.kind, Name: g.name, UID: uid, Controller: &yes, BlockOwnerDeletion: &yes}})
		if u.GetKind() == "Deployment" {
			labels := map[string]any{"app": "gw-" + g.name}
			_ = unstructured.SetNestedField(child.Object, map[string]any{"matchLabels": labels}, "spec", "selector")
			_ = unstructured.SetNestedField(child.Object, labels, "spec", "template", "metadata", "labels")
		}
		if _, err := at.Create(w.t.Context(), child, metav1.CreateOptions{FieldManager: "operator"}); err != nil {
			w.t.Fatal(err)
		}
	}
}
