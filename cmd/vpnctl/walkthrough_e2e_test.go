//go:build e2e

package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vpnctl/vpnctl/cloud/kube/lab"
	"github.com/vpnctl/vpnctl/crds"
)

// TestWalkthrough does with gateways what people do, by manifests alone: vpnctl
// reconcile, a real Kubernetes and the real services of $OS_CLIENT_CONFIG_FILE have to
// follow. Each part goes on where the one before has ended.
func TestWalkthrough(t *testing.T) {
	w := walk(t)
	w.create()
	w.change()
	w.rollBack()
	w.adopt(dc1)
	w.loseNode()
	w.migrate()
	w.migrateBack()
	w.delete()
}

// walker goes through it, with a controller.
type walker struct {
	*controlled
	cloud *openStack
	nodes map[string]string // by the name of each node its server
}

// The gateways of a walk: the examples', in one namespace.
var (
	dc1    = walked{"vpn.bnerd.net/v1alpha1", "VPNGateway", "dc1"}
	remote = walked{"vpn.bnerd.net/v1alpha1", "VPNGateway", "remote"}
	old    = walked{"ipsec.bnerd.net/v1alpha1", "IPsecGateway", "old"}
	heir   = walked{"vpn.bnerd.net/v1alpha1", "VPNGateway", "heir"}
)

type walked struct{ version, kind, name string }

func walk(t *testing.T) *walker {
	real, err := realCloud(os.Getenv("OS_CLIENT_CONFIG_FILE"), "operator")
	if err != nil {
		t.Fatal(err)
	}
	w := &walker{controlled: &controlled{t: t, lab: lab.Start(t), dir: t.TempDir()}, cloud: real, nodes: map[string]string{}}
	w.file("clouds.yaml", readFile(t, os.Getenv("OS_CLIENT_CONFIG_FILE")))
	w.servers()
	w.lab.Apply(t, crds.YAML())
	w.namespace = w.lab.Namespace(t)
	t.Cleanup(w.abandon)
	w.file("vpnctl.yaml", estateOf(w.namespace, "target: cluster"))
	w.start()
	return w
}

// servers makes nodes of the cloud's servers, and the only ones that take gateways.
func (w *walker) servers() {
	byName, err := w.cloud.servers()
	if err != nil || len(byName) < 2 {
		w.t.Fatalf("the walk wants two servers: %v %v", byName, err)
	}
	w.lab.CordonAll(w.t)
	for name, id := range byName {
		w.lab.AddNode(w.t, "walk-"+name, "openstack:///"+id)
		w.nodes["walk-"+name] = id
	}
}

// abandon leaves nothing of a walk that ended early: its manifests would wait for a
// controller that is no more.
func (w *walker) abandon() {
	for _, g := range []walked{dc1, remote, old, heir} {
		_, _ = w.lab.Objects(w.t, g.version, g.kind, w.namespace).Patch(context.WithoutCancel(w.t.Context()), g.name,
			types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	}
	w.cloud.sweep(w.namespace)
}

func readFile(t *testing.T, path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// example applies a file of the examples, with words replaced.
func (w *walker) example(path string, replaced ...string) {
	text := read(w.t, "examples/"+path)
	customer, _, _ := strings.Cut(path, "/")
	w.lab.Apply(w.t, []byte(strings.NewReplacer(append(replaced, "namespace: "+customer, "namespace: "+w.namespace)...).Replace(text)))
}

func (w *walker) secret(name, key, value string) {
	w.lab.Apply(w.t, []byte(fmt.Sprintf("apiVersion: v1\nkind: Secret\nmetadata: {name: %s, namespace: %s}\nstringData: {%s: %q}\n", name, w.namespace, key, value)))
}

// create: three customers, of both groups and protocols. WireGuard's key is nobody's yet.
func (w *walker) create() {
	w.secret("plant1-psk", "psk", "a-long-one")
	w.secret("initech-psk", "psk", "another-long-one")
	w.secret("laptop-hank-psk", "psk", "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")
	w.example("acme/gateway.yaml")
	w.example("acme/plant1.yaml")
	w.example("globex/gateway.yaml", "    privateKeySecretRef:    # must exist: nothing generates keys for a target directory\n      name: remote-wg-key\n      key: privateKey\n", "")
	w.example("globex/sites.yaml")
	w.example("globex/people.yaml")
	w.example("initech/gateway.yaml")
	for _, g := range []walked{dc1, remote, old} {
		w.ready(g)
		w.agrees(g)
	}
	if key := w.status(remote, "wireguardPublicKey"); len(key) != 44 {
		w.t.Errorf("the public key of a generated key is %q", key)
	}
	if w.lab.Get(w.t, "v1", "Secret", w.namespace, "remote-wg-key") == nil {
		w.t.Error("the Secret of the generated key is not there")
	}
}

// change: a peer moves to another address. The cloud follows, the pod doesn't notice.
func (w *walker) change() {
	pod := w.pod(dc1)
	w.example("acme/plant1.yaml", "address: 198.51.100.7 ", "address: 198.51.100.77 ")
	w.eventually("the group lets 198.51.100.77 in and 198.51.100.7 no more", func() bool {
		rules := w.rules(dc1)
		return slices.Contains(rules, "udp 500 198.51.100.77/32") && !slices.Contains(rules, "udp 500 198.51.100.7/32")
	})
	w.eventually("the swanctl.conf names 198.51.100.77", func() bool { return strings.Contains(w.swanctl(dc1), "198.51.100.77") })
	w.ready(dc1)
	if now := w.pod(dc1); now != pod {
		w.t.Errorf("a peer's address has changed, and the pod is %s instead of %s", now, pod)
	}
}

// rollBack: the manifests of before, and with them everything that was before.
func (w *walker) rollBack() {
	before := w.allocated(dc1)
	w.example("acme/plant1.yaml")
	w.eventually("the group lets 198.51.100.7 in and 198.51.100.77 no more", func() bool {
		rules := w.rules(dc1)
		return slices.Contains(rules, "udp 500 198.51.100.7/32") && !slices.Contains(rules, "udp 500 198.51.100.77/32")
	})
	w.ready(dc1)
	w.agrees(dc1)
	if now := w.allocated(dc1); now != before {
		w.t.Errorf("rolled back, the gateway has %s instead of %s", now, before)
	}
}

// loseNode: what was on a lost node goes on elsewhere, under the same addresses.
func (w *walker) loseNode() {
	before, lost := w.allocated(dc1), w.status(dc1, "nodeName")
	w.lab.NotReady(w.t, lost)
	w.eventually("the gateway is on another node", func() bool { node := w.status(dc1, "nodeName"); return node != lost && node != "" })
	w.eventually("its port is, too", func() bool { return w.port(dc1).Device == w.nodes[w.status(dc1, "nodeName")] })
	w.lab.Ready(w.t, lost) // until then its pod can't end, and the new one can't begin
	for _, g := range []walked{dc1, remote, old} {
		w.ready(g)
		w.agrees(g)
	}
	if now := w.allocated(dc1); now != before {
		w.t.Errorf("after its node was lost the gateway has %s instead of %s", now, before)
	}
}

// migrate: a VPNGateway takes the place of an IPsecGateway, whose public address and
// service CIDR it pins. Until the old one is deleted, nothing happens to it.
func (w *walker) migrate() {
	before, address, pod := w.allocated(old), w.floating(old), w.pod(old)
	w.lab.Apply(w.t, w.successor(w.status(old, "floatingIP")))
	w.stands(heir, "False")
	if now := w.allocated(old); now != before || w.pod(old) != pod || w.floating(old).ID != address.ID {
		w.t.Errorf("an heir was written down, and the gateway has %s instead of %s", now, before)
	}
	w.ready(old)
	w.gone(old)
	w.ready(heir)
	w.agrees(heir)
	if now := w.allocated(heir); now != before {
		w.t.Errorf("the heir has %s instead of %s", now, before)
	}
	if now := w.floating(heir); now.ID != address.ID || len(now.Tags) > 0 {
		w.t.Errorf("the floating IP was %s; pinned it is %s with tags %v", address.ID, now.ID, now.Tags)
	}
}

// migrateBack: the way back, with the address pinned by the old one.
func (w *walker) migrateBack() {
	before, address := w.allocated(heir), w.floating(heir)
	for _, peer := range []string{"hq", "annex"} {
		w.lab.Delete(w.t, "vpn.bnerd.net/v1alpha1", "VPNPeer", w.namespace, peer)
	}
	w.gone(heir)
	if free := w.address(address.Address); free.ID != address.ID || free.Port != "" {
		w.t.Errorf("with the heir gone its pinned address should be free and there, but is %+v", free)
	}
	w.example("initech/gateway.yaml", "  endpoint:\n", "  endpoint:\n    floatingIP: "+address.Address+"\n")
	w.ready(old)
	w.agrees(old)
	if now := w.allocated(old); now != before || w.floating(old).ID != address.ID {
		w.t.Errorf("back again the gateway has %s instead of %s", now, before)
	}
}

// delete: nothing is left but the address, which is a customer's since it was pinned.
func (w *walker) delete() {
	address := w.floating(old)
	w.t.Cleanup(func() { _, _ = w.cloud.call("DELETE", "floatingips/"+address.ID, "") })
	for _, peer := range []string{"plant1", "springfield", "cypress-creek", "laptop-ina", "laptop-hank", "phone-ina"} {
		w.lab.Delete(w.t, "vpn.bnerd.net/v1alpha1", "VPNPeer", w.namespace, peer)
	}
	for _, g := range []walked{dc1, remote, old} {
		w.gone(g)
	}
	w.empty()
	if w.lab.Get(w.t, "v1", "Secret", w.namespace, "remote-wg-key") != nil {
		w.t.Error("the Secret of the generated key is still there")
	}
	if w.lab.Get(w.t, "v1", "Secret", w.namespace, "plant1-psk") == nil {
		w.t.Error("the Secret that somebody wrote is gone")
	}
	if left := w.address(address.Address); left.ID != address.ID || left.Port != "" {
		w.t.Errorf("the customer's address should be free and there, but is %+v", left)
	}
	w.stop()
}

// successor is the old gateway in the newer form, with what its customer knows pinned.
func (w *walker) successor(address string) []byte {
	return []byte(strings.NewReplacer("NAMESPACE", w.namespace, "ADDRESS", address).Replace(`
apiVersion: vpn.bnerd.net/v1alpha1
kind: VPNGateway
metadata: {name: heir, namespace: NAMESPACE}
spec:
  protocol: ipsec
  endpoint: {floatingIP: ADDRESS}
  serviceCIDR: 100.64.200.0/24
  ipsec: {ike: {version: 2, proposals: [aes256-sha256-ecp256], lifetime: 28800s, dpd: {delay: 15s}}}
  exposures: [{name: reports, virtualIP: 100.64.200.10, target: {address: 10.20.0.40, ports: [443]}}]
  reverseExposures: [{name: printer, virtualIP: 100.64.200.200, target: {address: 10.90.4.9, ports: [9100]}}]
---
apiVersion: vpn.bnerd.net/v1alpha1
kind: VPNPeer
metadata: {name: hq, namespace: NAMESPACE}
spec:
  gatewayRef: heir
  ipsec:
    peer: {address: 192.0.2.17, id: 192.0.2.17}
    remoteSubnets: [10.80.0.0/16, 10.81.0.0/16]
    selectors: joined
    esp: {proposals: [aes256-sha256-ecp256], lifetime: 3600s}
    pskSecretRef: {name: initech-psk, key: psk}
  authorization: {exposures: [reports]}
---
apiVersion: vpn.bnerd.net/v1alpha1
kind: VPNPeer
metadata: {name: annex, namespace: NAMESPACE}
spec:
  gatewayRef: heir
  ipsec:
    peer: {address: 192.0.2.99, id: annex.initech.example}
    remoteSubnets: [10.90.4.0/22]
    esp: {proposals: [aes256gcm16-prfsha256-ecp256, aes256-sha256-ecp256]}
    pskSecretRef: {name: initech-psk, key: psk}
  authorization: {exposures: [reports], reverseExposures: [printer]}
`))
}
