//go:build e2e

package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

// people is one object of each kind, with the status that programs write.
const people = `
apiVersion: vpn.bnerd.net/v1alpha1
kind: VPNGateway
metadata: {name: dc1, namespace: NS}
spec: {protocol: ipsec, ipsec: {ike: {version: 2, proposals: [aes256-sha256-ecp256]}}}
status:
  floatingIP: 203.0.113.20
  serviceCIDR: 100.64.3.0/24
  nodeName: worker-2
  peersUp: 0 of 1
  peers: [{name: plant1, state: DOWN, message: no answer}]
  conditions: [{type: Ready, status: "True", reason: Ready, message: "", lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 1}]
---
apiVersion: vpn.bnerd.net/v1alpha1
kind: VPNPeer
metadata: {name: plant1, namespace: NS}
spec:
  gatewayRef: dc1
  ipsec:
    peer: {address: 198.51.100.7, id: fw1.example}
    remoteSubnets: [192.168.10.0/24]
    esp: {proposals: [aes256-sha256-ecp256]}
    pskSecretRef: {name: plant1-psk, key: psk}
status:
  state: DOWN
  up: 0 of 1
  message: no answer
  conditions: [{type: Ready, status: "False", reason: PeerSecretMissing, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}, {type: Authorized, status: "True", reason: Granted, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}]
---
apiVersion: ipsec.bnerd.net/v1alpha1
kind: IPsecGateway
metadata: {name: old, namespace: NS}
spec:
  ike: {version: 2, proposals: [aes256-sha256-ecp256]}
  auth: {pskSecretRef: {name: old-psk, key: psk}}
  tunnels:
  - {name: hq, peer: {address: 192.0.2.17, id: hq.example}, remoteSubnets: [10.80.0.0/16], esp: {proposals: [aes256-sha256-ecp256]}}
status:
  floatingIP: 203.0.113.21
  serviceCIDR: 100.64.4.0/24
  nodeName: worker-1
  tunnelsUp: 1 of 1
  tunnels: [{name: hq, state: ESTABLISHED, up: 1 of 1}]
  conditions: [{type: Ready, status: "False", reason: DeploymentUnavailable, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}]
---
apiVersion: ipsec.bnerd.net/v1alpha1
kind: ClusterLink
metadata: {name: north}
spec: {serviceClusterRouter: north-router, serviceClusterCIDR: 10.40.0.0/16}
status:
  transitIP: 10.254.0.7
  conditions: [{type: Ready, status: "True", reason: Ready, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}]
`

// status is dropped of what is written to an object, and specs of what is written to
// a status.
func (c cluster) status() {
	for _, text := range strings.Split(strings.ReplaceAll(people, "NS", c.namespace), "\n---\n") {
		o := manifestOf(c.t, text)
		of := c.lab.Objects(c.t, o.GetAPIVersion(), o.GetKind(), o.GetNamespace())
		status := o.Object["status"]
		made, err := of.Create(c.t.Context(), o, metav1.CreateOptions{})
		if err != nil {
			c.t.Fatal(err)
		}
		if made.Object["status"] != nil {
			c.t.Errorf("%s: a status came with the object: %v", o.GetKind(), made.Object["status"])
		}
		made.Object["status"], made.Object["spec"] = status, map[string]any{"neither": "checked"}
		got, err := of.UpdateStatus(c.t.Context(), made, metav1.UpdateOptions{})
		if err != nil {
			c.t.Fatal(err)
		}
		if diff := cmp.Diff(o.Object["spec"], got.Object["spec"]); diff != "" || got.GetGeneration() != 1 {
			c.t.Errorf("%s: the spec came with the status, generation %d (-want +got)\n%s", o.GetKind(), got.GetGeneration(), diff)
		}
		changed, err := of.Patch(c.t.Context(), o.GetName(), types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}},"status":null}`), metav1.PatchOptions{})
		if err != nil || changed.Object["status"] == nil || changed.GetGeneration() != 1 {
			c.t.Errorf("%s: the status went with the object: %v", o.GetKind(), err)
		}
	}
}

// columns are what kubectl prints, by the short names too.
func (c cluster) columns() {
	age := regexp.MustCompile(`(?m) +\d+[smhd]\w*( |$)`)
	spaces := regexp.MustCompile(` {2,}`)
	for command, want := range map[string]string{
		"get vpngw": "NAME|PROTOCOL|ADDRESS|SERVICE-CIDR|PEERS|READY|AGE\n" +
			"dc1|ipsec|203.0.113.20|100.64.3.0/24|0 of 1|True|*\n",
		"get vpngateways -o wide": "NAME|PROTOCOL|ADDRESS|SERVICE-CIDR|NODE|PEERS|READY|REASON|MESSAGE|AGE\n" +
			"dc1|ipsec|203.0.113.20|100.64.3.0/24|worker-2|0 of 1|True|Ready|no answer|*\n",
		"get vpnp": "NAME|GATEWAY|STATE|UP|AUTHORIZED|READY|AGE\n" +
			"plant1|dc1|DOWN|0 of 1|True|False|*\n",
		"get vpnpeer -o wide": "NAME|GATEWAY|STATE|UP|AUTHORIZED|READY|REASON|ADDRESS|HANDSHAKE|SINCE|MESSAGE|AGE\n" +
			"plant1|dc1|DOWN|0 of 1|True|False|PeerSecretMissing|no answer|*\n",
		"get ipsg": "NAME|ADDRESS|SERVICE-CIDR|TUNNELS|READY|AGE\n" +
			"old|203.0.113.21|100.64.4.0/24|1 of 1|False|*\n",
		"get ipsecgateways -o wide": "NAME|ADDRESS|SERVICE-CIDR|NODE|TUNNELS|READY|REASON|MESSAGE|AGE\n" +
			"old|203.0.113.21|100.64.4.0/24|worker-1|1 of 1|False|DeploymentUnavailable|*\n",
		"get cl": "NAME|ROUTER|CIDR|TRANSIT-IP|READY|AGE\n" +
			"north|north-router|10.40.0.0/16|10.254.0.7|True|*\n",
	} {
		got := shell(c.t, c.lab, "kubectl -n "+c.namespace+" "+command)
		got = spaces.ReplaceAllString(age.ReplaceAllString(got, "  *"), "|")
		if diff := cmp.Diff(want, strings.ReplaceAll(got, " \n", "\n")); diff != "" {
			c.t.Errorf("kubectl %s (-want +got)\n%s", command, diff)
		}
	}
}

func manifestOf(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	o := &unstructured.Unstructured{}
	if err := o.UnmarshalJSON(raw); err != nil {
		t.Fatal(err)
	}
	return o
}
