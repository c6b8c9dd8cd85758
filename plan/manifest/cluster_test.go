package manifest

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

const clusterEstate = `apiVersion: vpnctl.bnerd.net/v1alpha1
kind: Estate
metadata: {name: prod}
spec:
  openstack: {cloud: operator, network: vpn-transit, router: gateway-router, floatingIPPool: public}
  internalSourceCIDRs: [10.254.0.0/24]
`

// held are manifests as JSON, from YAML.
func held(t *testing.T, text string) []Standing {
	t.Helper()
	var all []Standing
	for _, doc := range strings.Split(text, "---\n") {
		data, err := yaml.YAMLToJSON([]byte(doc))
		if err != nil {
			t.Fatal(err)
		}
		var head struct {
			Kind     string
			Metadata struct{ Namespace, Name string }
		}
		if err := yaml.Unmarshal(data, &head); err != nil {
			t.Fatal(err)
		}
		all = append(all, Standing{Kind: head.Kind, Namespace: head.Metadata.Namespace, Name: head.Metadata.Name, JSON: data})
	}
	return all
}

const (
	dc1 = `apiVersion: vpn.bnerd.net/v1alpha1
kind: VPNGateway
metadata: {name: dc1, namespace: acme}
spec:
  protocol: ipsec
  ipsec: {ike: {version: 2, proposals: [aes256-sha256-ecp256]}}
  exposures: [{name: web, target: {address: 10.0.0.1, ports: [443]}}]
`
	plant1 = `apiVersion: vpn.bnerd.net/v1alpha1
kind: VPNPeer
metadata: {name: plant1, namespace: acme}
spec:
  gatewayRef: dc1
  ipsec: {peer: {address: 198.51.100.7, id: plant1}, remoteSubnets: [192.168.1.0/24], esp: {proposals: [aes256-sha256-ecp256]}, pskSecretRef: {name: a, key: psk}}
`
	old = `apiVersion: ipsec.bnerd.net/v1alpha1
kind: IPsecGateway
metadata: {name: old, namespace: initech}
spec:
  ike: {version: 2, proposals: [aes256-sha256-ecp256]}
  auth: {pskSecretRef: {name: a, key: psk}}
  tunnels: [{name: one, peer: {address: 198.51.100.9, id: one}, remoteSubnets: [192.168.9.0/24], esp: {proposals: [aes256-sha256-ecp256]}}]
`
)

// TestWhatIsWrongStaysWithItsGateway: one manifest that is not valid takes its gateway
// out, and nobody else's.
func TestWhatIsWrongStaysWithItsGateway(t *testing.T) {
	replace := func(text, from, to string) string {
		if !strings.Contains(text, from) {
			t.Fatalf("%q is not there", from)
		}
		return strings.Replace(text, from, to, 1)
	}
	all := func(docs ...string) string { return strings.Join(docs, "---\n") }
	for name, tt := range map[string]struct {
		text           string
		valid, invalid []string
		found          map[string]string // manifest → words of what is said of it
	}{
		"all are valid": {text: all(dc1, plant1, old), valid: []string{"VPNGateway/acme/dc1", "IPsecGateway/initech/old"}},
		"a peer": {
			text:  all(dc1, replace(plant1, "198.51.100.7", "here"), old),
			valid: []string{"IPsecGateway/initech/old"}, invalid: []string{"VPNGateway/acme/dc1"},
			found: map[string]string{"VPNPeer acme/plant1": "spec.ipsec.peer.address"},
		},
		"a gateway": {
			text:  all(replace(dc1, "aes256-sha256-ecp256", "des"), plant1, old),
			valid: []string{"IPsecGateway/initech/old"}, invalid: []string{"VPNGateway/acme/dc1"},
			found: map[string]string{"VPNGateway acme/dc1": "is not approved"},
		},
		"a field of a later version": {
			text:  all(replace(dc1, "  protocol:", "  colour: red\n  protocol:"), plant1, old),
			valid: []string{"IPsecGateway/initech/old"}, invalid: []string{"VPNGateway/acme/dc1"},
			found: map[string]string{"VPNGateway acme/dc1": "colour"},
		},
		"a name that is no label": {
			text:  all(replace(dc1, "name: dc1", "name: dc.1"), replace(plant1, "gatewayRef: dc1", "gatewayRef: dc.1"), old),
			valid: []string{"IPsecGateway/initech/old"}, invalid: []string{"VPNGateway/acme/dc.1"},
			found: map[string]string{"VPNGateway acme/dc.1": "metadata.name", "VPNPeer acme/plant1": "gatewayRef"},
		},
		"a peer without its gateway": {
			text: all(plant1, old), valid: []string{"IPsecGateway/initech/old"}, invalid: []string{"VPNGateway/acme/dc1"},
			found: map[string]string{"VPNPeer acme/plant1": "there is no VPNGateway"},
		},
		"two that clash: the later": {
			text: all(replace(old, "  ike:", "  endpoint: {floatingIP: 203.0.113.9}\n  ike:"),
				replace(dc1, "  protocol:", "  endpoint: {floatingIP: 203.0.113.9}\n  protocol:"), plant1),
			valid: []string{"IPsecGateway/initech/old"}, invalid: []string{"VPNGateway/acme/dc1"},
			found: map[string]string{"VPNGateway acme/dc1": "pinned by IPsecGateway initech/old"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "vpnctl.yaml")
			if err := os.WriteFile(file, []byte(clusterEstate), 0o600); err != nil {
				t.Fatal(err)
			}
			c, found := FromCluster(file, held(t, tt.text))
			if len(found) > 0 {
				t.Fatal(found)
			}
			var valid, invalid []string
			for _, g := range c.Estate.Gateways {
				valid = append(valid, g.Owner.String())
				if g.Manifests != nil {
					t.Errorf("the manifest of %s came along", g.Owner)
				}
			}
			for o := range c.Invalid {
				invalid = append(invalid, o.String())
			}
			if diff := cmp.Diff([][]string{tt.valid, tt.invalid}, [][]string{valid, invalid}); diff != "" {
				t.Errorf("valid, invalid (-want +got)\n%s%v", diff, c.Found)
			}
			for _, s := range slices.Sorted(maps.Keys(c.Found)) {
				if c.Found[s].Errors() == 0 {
					continue
				}
				if words := tt.found[s]; words == "" || !strings.Contains(c.Found[s][0].Field+" "+c.Found[s][0].Message, words) {
					t.Errorf("%s: %v, want %q", s, c.Found[s], words)
				}
			}
			for s := range tt.found {
				if c.Found[s].Errors() == 0 {
					t.Errorf("nothing is said of %s", s)
				}
			}
		})
	}
}

// TestAnEstateThatCantBeRead: then there is nothing else.
func TestAnEstateThatCantBeRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "vpnctl.yaml")
	for name, text := range map[string]string{"none": dc1, "half": clusterEstate[:60], "wrong": strings.Replace(clusterEstate, "router:", "rooter:", 1)} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if c, found := FromCluster(file, held(t, dc1)); found.Errors() == 0 || c.Estate.Name != "" || len(c.Invalid) > 0 {
			t.Errorf("%s: %v, %v", name, found, c)
		}
	}
}
