package loop_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/kube"
	"github.com/vpnctl/vpnctl/cloud/kube/fakeapi"
	"github.com/vpnctl/vpnctl/cloud/reconcile/loop"
	"github.com/vpnctl/vpnctl/cloud/reconcile/world"
	"github.com/vpnctl/vpnctl/cloud/simulator"
)

// errand is a controller that goes through all that may happen to gateways, over an API
// server that may forbid something.
type errand struct {
	*world.World
	api  *fakeapi.Server
	file string
	c    *loop.Controller
	log  bytes.Buffer

	mu      sync.Mutex // held by who denies
	adopted bool       // what an operator had made was taken over
}

func newErrand(t *testing.T, deny func(*errand, fakeapi.Call) bool) *errand {
	l := &errand{World: world.New(t, simulator.Options{}), api: world.API(t, "acme")}
	f := &field{World: l.World, file: filepath.Join(t.TempDir(), "vpnctl.yaml")}
	f.estateFile(clusterEstate + "  monitoring: {podMonitor: true, prometheusRule: true}\n")
	l.file = f.file
	for _, m := range definitions() {
		l.put(m.JSON)
	}
	l.gateways()
	written := false
	l.api.Intercept(func(_ int, c fakeapi.Call) fakeapi.Fault {
		if c.Resource == "vpnpeers" && c.Subresource == "status" && c.Writes() && !written { // another one was first
			written = true
			peer := l.api.Get("VPNPeer", "acme", c.Name)
			peer.Object["status"] = map[string]any{"bytesIn": int64(1)}
			l.api.PutAs(t, "vpnctl-agent", peer.Object)
		}
		return fakeapi.Fault{}
	})
	l.api.Deny(func(c fakeapi.Call) bool { return deny(l, c) })
	l.begin()
	return l
}

// gateways are of every kind, with all that a gateway may have, and a link.
func (l *errand) gateways() {
	text, err := os.ReadFile(filepath.Join(world.Root(l.T), "testdata", "controller", "gateways.yaml"))
	if err != nil {
		l.T.Fatal(err)
	}
	l.put(strings.NewReplacer("NAMESPACE", "acme", `M="}`, `M=", presharedKeySecretRef: {name: ina-psk, key: psk}}`).Replace(string(text)))
	l.put("apiVersion: ipsec.bnerd.net/v1alpha1\nkind: ClusterLink\nmetadata: {name: north}\n" +
		"spec: {serviceClusterCIDR: 10.40.0.0/16, serviceClusterRouter: service-cluster-router}\n")
}

// pskOfIna is the last Secret that is needed.
const pskOfIna = "apiVersion: v1\nkind: Secret\nmetadata: {name: ina-psk, namespace: acme}\ndata: {psk: eA==}\n"

func (l *errand) put(documents string) {
	for text := range strings.SplitSeq(documents, "---\n") {
		var object map[string]any
		if err := yaml.Unmarshal([]byte(text), &object); err != nil {
			l.T.Fatal(err)
		}
		l.api.Put(l.T, object)
	}
}

// begin starts a controller that remembers nothing.
func (l *errand) begin() {
	driver, err := kube.Over(l.api.Config(), kube.Options{Gone: 10 * time.Second, Poll: time.Millisecond})
	if err != nil {
		l.T.Fatal(err)
	}
	operator, err := l.Connect(l.T.Context(), "operator")
	if err != nil {
		l.T.Fatal(err)
	}
	if _, err := driver.OtherLeader(l.T.Context(), "acme"); err != nil { // as the command begins
		fmt.Fprintln(&l.log, err)
	}
	l.c = &loop.Controller{
		EstateFile: l.file, Cluster: driver, Herald: driver, Drivers: []cloud.Driver{operator, driver}, Locker: operator, Holder: "test",
		Missing: driver.Missing, PublicKey: driver.PublicKey, Definition: driver.Definition, Log: slog.New(slog.NewTextHandler(&l.log, nil)),
	}
}

func (l *errand) rounds(n int) {
	for range n {
		l.c.Round(l.T.Context())
	}
}

// steps are the life, one after the other.
var steps = []func(*errand){
	func(l *errand) { l.rounds(2) },
	func(l *errand) { // pods that don't run, and then do
		l.pods(false)
		l.rounds(1)
	},
	func(l *errand) {
		l.pods(true)
		l.rounds(1)
		l.put(pskOfIna)
		l.rounds(1)
	},
	func(l *errand) { // what was told an hour ago is told by another process
		for _, o := range l.api.All() {
			if o.GetKind() == "Event" {
				o.Object["lastTimestamp"] = time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
				l.api.Put(l.T, o.Object)
			}
		}
		l.api.Remove(l.T, "Secret", "acme", "ina-psk")
		l.begin()
		l.rounds(2)
	},
	func(l *errand) { // the mark of the key that was made is lost
		key := l.api.Get("Secret", "acme", "remote-wg-key")
		if key == nil {
			l.T.Fatalf("no key was made:\n%s", l.said())
		}
		key.SetAnnotations(nil)
		l.api.Put(l.T, key.Object)
		l.rounds(2)
	},
	func(l *errand) { // what there is of a gateway is an operator's, which was stopped
		made := l.operators()
		l.rounds(3)
		l.adopted = made > 0 && l.unadopted() == ""
	},
	func(l *errand) {
		l.api.Remove(l.T, "Pod", "acme", "remote-1")
		l.api.Remove(l.T, "Pod", "acme", "old-1")
		l.api.Remove(l.T, "VPNGateway", "acme", "remote")
		l.api.Remove(l.T, "IPsecGateway", "acme", "old")
		l.api.Remove(l.T, "VPNPeer", "acme", "ina")
		l.api.Remove(l.T, "ClusterLink", "", "north")
		l.rounds(3)
	},
}

// operators makes the objects of a gateway those of an operator that is at zero, and says
// how many there are.
func (l *errand) operators() int {
	l.put("apiVersion: apps/v1\nkind: Deployment\n" +
		"metadata: {name: operator, namespace: acme, labels: {app.kubernetes.io/name: bnerd-vpn-operator}}\n" +
		"spec: {replicas: 0, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}}}\n")
	manifest := l.api.Get("IPsecGateway", "acme", "old")
	made := 0
	for _, o := range l.api.All() {
		if o.GetLabels()["vpn.bnerd.net/gateway"] != "old" || o.GetKind() == "IPsecGateway" || o.GetKind() == "Pod" {
			continue
		}
		l.api.Remove(l.T, o.GetKind(), "acme", o.GetName())
		o.Object["metadata"] = map[string]any{"name": o.GetName(), "namespace": "acme", "ownerReferences": []any{map[string]any{
			"apiVersion": manifest.GetAPIVersion(), "kind": manifest.GetKind(), "name": "old", "uid": string(manifest.GetUID()), "controller": true,
		}}}
		l.api.PutAs(l.T, "operator", o.Object)
		made++
	}
	return made
}

// unadopted is an object that an operator's manifest still owns; empty: there is none.
func (l *errand) unadopted() string {
	for _, o := range l.api.All() {
		if len(o.GetOwnerReferences()) > 0 || o.GetNamespace() == "acme" && o.GetName() == "old" && o.GetKind() == "Deployment" && o.GetLabels()["vpn.bnerd.net/gateway"] != "old" {
			return o.GetKind() + " " + o.GetName()
		}
	}
	return ""
}

// imageMissing is why the pods don't run.
const imageMissing = "ImagePullBackOff"

// pods says of the gateways' Deployments whether their pods run.
func (l *errand) pods(run bool) {
	for _, name := range []string{"remote", "old"} {
		d := l.api.Get("Deployment", "acme", name)
		if d == nil {
			l.T.Fatalf("no Deployment %s was made:\n%s", name, l.said())
		}
		available, status := int64(1), "True"
		if !run {
			available, status = 0, "False"
		}
		d.Object["status"] = map[string]any{"availableReplicas": available, "readyReplicas": available, "replicas": int64(1), "updatedReplicas": int64(1),
			"observedGeneration": d.GetGeneration(), "conditions": []any{map[string]any{"type": "Available", "status": status, "message": "not available"}}}
		l.api.PutAs(l.T, "kube-controller-manager", d.Object)
		labels, _, _ := unstructured.NestedMap(d.Object, "spec", "template", "metadata", "labels")
		l.api.PutAs(l.T, "kubelet", map[string]any{
			"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": name + "-1", "namespace": "acme", "labels": labels},
			"status": map[string]any{"containerStatuses": []any{map[string]any{"name": "dataplane", "state": map[string]any{"waiting": map[string]any{"reason": imageMissing}}}}},
		})
	}
}

// said is what the log, the statuses and the page say.
func (l *errand) said() string {
	text := l.log.String()
	for _, o := range l.api.All() {
		if status, there := o.Object["status"]; there && strings.Contains(o.GetAPIVersion(), "bnerd.net") {
			text += fmt.Sprintln(status)
		}
	}
	page := httptest.NewRecorder()
	l.c.Handler().ServeHTTP(page, httptest.NewRequestWithContext(l.T.Context(), http.MethodGet, "/", nil))
	return strings.ReplaceAll(text+page.Body.String(), `\`, "")
}
