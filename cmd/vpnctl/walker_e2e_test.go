//go:build e2e

package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/vpnctl/vpnctl/cloud/kube/lab"
)

func (w *walker) get(g walked) *unstructured.Unstructured {
	return w.lab.Get(w.t, g.version, g.kind, w.namespace, g.name)
}

func (w *walker) status(g walked, field string) string {
	u := w.get(g)
	if u == nil {
		return ""
	}
	value, _, _ := unstructured.NestedString(u.Object, "status", field)
	return value
}

// ready waits for Ready of the manifest as it is.
func (w *walker) ready(g walked) { w.t.Helper(); w.stands(g, "True") }

func (w *walker) stands(g walked, want string) {
	w.t.Helper()
	lab.Await(w.t, 5*time.Minute, func(context.Context) string {
		u := w.get(g)
		if u == nil {
			return g.name + " is not there"
		}
		c := lab.ConditionOf(u, "Ready")
		if c.Status != want || c.ObservedGeneration != u.GetGeneration() {
			return fmt.Sprintf("%s is Ready %s %s (of generation %d of %d): %s", g.name, c.Status, c.Reason, c.ObservedGeneration, u.GetGeneration(), c.Message)
		}
		return ""
	})
}

// gone deletes a gateway's manifest, and waits until nothing keeps it.
func (w *walker) gone(g walked) {
	w.t.Helper()
	if err := w.lab.Objects(w.t, g.version, g.kind, w.namespace).Delete(w.t.Context(), g.name, metav1.DeleteOptions{}); err != nil {
		w.t.Fatal(err)
	}
	lab.Await(w.t, 5*time.Minute, func(context.Context) string {
		u := w.get(g)
		if u == nil {
			return ""
		}
		c := lab.ConditionOf(u, "Ready")
		return fmt.Sprintf("%s is still there: Ready %s %s: %s", g.name, c.Status, c.Reason, c.Message)
	})
}

func (w *walker) eventually(what string, is func() bool) {
	w.t.Helper()
	lab.Await(w.t, 3*time.Minute, func(context.Context) string {
		if is() {
			return ""
		}
		return "not so yet: " + what
	})
}

// allocated is what must never change by itself, as the status has it.
func (w *walker) allocated(g walked) string {
	u := w.get(g)
	if u == nil {
		return "nothing"
	}
	virtual, _, _ := unstructured.NestedSlice(u.Object, "status", "virtualIPs")
	return fmt.Sprint(w.status(g, "serviceCIDR"), " ", w.status(g, "floatingIP"), " ", virtual)
}

func (w *walker) path(g walked) string { return g.kind + "/" + w.namespace + "/" + g.name }

// one is the only object of a collection that vpnctl made for a gateway.
func (w *walker) one(collection string, g walked) thing {
	w.t.Helper()
	all, err := w.cloud.list(collection, "description="+described(w.path(g), w.namespace))
	if err != nil || len(all) != 1 {
		w.t.Fatalf("%s has %d of %s, error %v", g.name, len(all), collection, err)
	}
	return all[0]
}

func (w *walker) port(g walked) thing { w.t.Helper(); return w.one("ports", g) }

// floating is the floating IP that leads to the gateway's port.
func (w *walker) floating(g walked) thing {
	w.t.Helper()
	all, err := w.cloud.list("floatingips", "port_id="+w.port(g).ID)
	if err != nil || len(all) != 1 {
		w.t.Fatalf("%d floating IPs lead to %s, error %v", len(all), g.name, err)
	}
	return all[0]
}

func (w *walker) address(a string) thing {
	w.t.Helper()
	all, err := w.cloud.list("floatingips", "floating_ip_address="+a)
	if err != nil || len(all) != 1 {
		w.t.Fatalf("there are %d floating IPs %s, error %v", len(all), a, err)
	}
	return all[0]
}

// rules are the ingress rules of a gateway's group.
func (w *walker) rules(g walked) []string {
	w.t.Helper()
	all, err := w.cloud.list("security-group-rules", "direction=ingress&security_group_id="+w.one("security-groups", g).ID)
	if err != nil {
		w.t.Fatal(err)
	}
	var texts []string
	for _, r := range all {
		texts = append(texts, fmt.Sprint(r.Protocol, " ", r.From, " ", r.Remote))
	}
	return texts
}

func (w *walker) swanctl(g walked) string {
	text, _, _ := unstructured.NestedString(w.lab.Get(w.t, "v1", "ConfigMap", w.namespace, g.name+"-swanctl").Object, "data", "swanctl.conf")
	return text
}

// pod is the UID of the only pod of a gateway.
func (w *walker) pod(g walked) string {
	w.t.Helper()
	list, err := w.lab.Objects(w.t, "v1", "Pod", w.namespace).List(w.t.Context(), metav1.ListOptions{LabelSelector: "vpn.bnerd.net/gateway=" + g.name})
	if err != nil || len(list.Items) != 1 {
		w.t.Fatalf("%s has %d pods, error %v", g.name, len(list.Items), err)
	}
	return string(list.Items[0].GetUID())
}

// agrees holds the status of a gateway against the cloud and the cluster.
func (w *walker) agrees(g walked) {
	w.t.Helper()
	port, address := w.port(g), w.floating(g)
	for what, pair := range map[string][2]string{
		"floatingIP":  {w.status(g, "floatingIP"), address.Address},
		"portFixedIP": {w.status(g, "portFixedIP"), port.FixedIPs[0].Address},
		"nodeName":    {w.nodes[w.status(g, "nodeName")], port.Device},
	} {
		if pair[0] != pair[1] {
			w.t.Errorf("%s: the status says %s %s, but the cloud %s", g.name, what, pair[0], pair[1])
		}
	}
	routes, err := w.cloud.routes()
	if err != nil {
		w.t.Fatal(err)
	}
	to := w.status(g, "serviceCIDR")
	if !slices.ContainsFunc(routes, func(r route) bool { return r.To == to && r.Hop == port.FixedIPs[0].Address }) {
		w.t.Errorf("%s: no route leads to %s by %s", g.name, to, port.FixedIPs[0].Address)
	}
	deployment := w.lab.Get(w.t, "apps/v1", "Deployment", w.namespace, g.name)
	if node, _, _ := unstructured.NestedString(deployment.Object, "spec", "template", "spec", "nodeName"); node != w.status(g, "nodeName") {
		w.t.Errorf("%s: the pod is for node %s, the status says %s", g.name, node, w.status(g, "nodeName"))
	}
}
