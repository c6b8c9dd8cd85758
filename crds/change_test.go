package crds_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/vpnctl/vpnctl/crds/admission"
)

const (
	gateway = `{apiVersion: vpn.bnerd.net/v1alpha1, kind: VPNGateway, metadata: {name: dc1},
  spec: {protocol: wireguard, wireguard: {}}}`
	peer = `{apiVersion: vpn.bnerd.net/v1alpha1, kind: VPNPeer, metadata: {name: ina},
  spec: {gatewayRef: dc1, wireguard: {publicKey: I+gVbcxtTwG8EyY3BPZyzN8sLibjnoOElJdWMFIzDHQ=}}}`
	link = `{apiVersion: ipsec.bnerd.net/v1alpha1, kind: ClusterLink, metadata: {name: north},
  spec: {serviceClusterRouter: r, serviceClusterCIDR: 10.40.0.0/16}}`
	foreignLink = `{apiVersion: ipsec.bnerd.net/v1alpha1, kind: ClusterLink, metadata: {name: north},
  spec: {serviceClusterRouter: r, serviceClusterCIDR: 10.40.0.0/16,
    credentialsSecretRef: {name: clusterlink-north, namespace: vpn}, customerProjectID: abc}}`
)

// What a definition says about changes.
func TestChanges(t *testing.T) {
	server, err := admission.New()
	if err != nil {
		t.Fatal(err)
	}
	for sentence, c := range map[string]struct {
		object, from, to string
		want             string // part of the refusal
	}{
		"a protocol stays":                       {gateway, "protocol: wireguard, wireguard: {}", "protocol: ipsec, ipsec: {ike: {version: 2, proposals: [aes256-sha256-ecp256]}}", "protocol can't be changed"},
		"a listen port may change":               {gateway, "wireguard: {}", "wireguard: {listenPort: 443}", ""},
		"a peer stays with its gateway":          {peer, "gatewayRef: dc1", "gatewayRef: dc2", "gatewayRef can't be changed"},
		"a key may change":                       {peer, "I+gVbcxtTwG8EyY3BPZyzN8sLibjnoOElJdWMFIzDHQ=", "INncGqBtYvRywBYigmBrTnGG2XBCgJw0fErqESztLjk=", ""},
		"a link stays with its network":          {link, "10.40.0.0/16", "10.41.0.0/16", "serviceClusterCIDR can't be changed"},
		"a link may get another router":          {link, "serviceClusterRouter: r", "serviceClusterRouter: s", ""},
		"a link stays in its project":            {link, "10.40.0.0/16}", "10.40.0.0/16, credentialsSecretRef: {name: clusterlink-north, namespace: vpn}, customerProjectID: abc}", "can't be added or removed"},
		"a customer's project stays":             {foreignLink, "customerProjectID: abc", "customerProjectID: abd", "customerProjectID can't be changed"},
		"a customer's project can't be removed":  {foreignLink, ", customerProjectID: abc", "", "customerProjectID can't be changed or removed"},
		"a Secret may move to another namespace": {foreignLink, "namespace: vpn", "namespace: vpn2", ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			if strings.Count(c.object, c.from) != 1 {
				t.Fatalf("%q is not there once", c.from)
			}
			old, changed := object(t, c.object), object(t, strings.Replace(c.object, c.from, c.to, 1))
			if errs := server.Check(old, nil); len(errs) > 0 {
				t.Fatalf("the object is refused as it is: %v", errs)
			}
			got := server.Check(changed, old).ToAggregate()
			switch {
			case c.want == "" && got != nil:
				t.Errorf("refused: %v", got)
			case c.want != "" && (got == nil || !strings.Contains(got.Error(), c.want)):
				t.Errorf("got %v, want %q", got, c.want)
			}
		})
	}
}

// A link of the time before customerProjectID has a Secret alone, and gets it.
func TestCustomerProjectCanBeAdded(t *testing.T) {
	server, err := admission.New()
	if err != nil {
		t.Fatal(err)
	}
	with := object(t, foreignLink)
	without := object(t, strings.Replace(foreignLink, ", customerProjectID: abc", "", 1))
	if errs := server.Check(without, nil); len(errs) == 0 {
		t.Error("a new link without customerProjectID is accepted")
	}
	if errs := server.Check(without, without); len(errs) > 0 {
		t.Errorf("an old link can't be written again: %v", errs)
	}
	if errs := server.Check(with, without); len(errs) > 0 {
		t.Errorf("customerProjectID can't be added: %v", errs)
	}
}

func object(t *testing.T, text string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := yaml.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}
