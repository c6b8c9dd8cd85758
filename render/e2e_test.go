//go:build e2e

package render

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vpnctl/vpnctl/agent/lab/netns"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/pod"
	"github.com/vpnctl/vpnctl/render/swanctl"
)

// These tests want root, nft (nftables) and charon (strongswan-swanctl,
// charon-systemd, libcharon-extra-plugins). Everything runs in network namespaces.

// complete are the examples with every fact known, and a gateway with each approved
// proposal for IKE and for ESP, on either data plane.
func complete() map[string]Input {
	all := map[string]Input{"acme": acme(), "globex": globex(), "initech": initech()}
	known := resource.GatewayFacts{FloatingIP: addr("203.0.113.22"), PortAddress: addr("10.254.0.19"), MAC: "fa:16:3e:00:00:19"}
	old := all["initech"]
	old.Facts, old.Node = facts(old.Gateway.Owner, known), resource.Node{Name: "worker-1"}
	all["initech"] = old
	for name, dataplane := range map[string]string{"kernel": vpn.DataplaneKernel, "userspace": vpn.DataplaneUserspace} {
		in := acme()
		in.Estate.Pod.IPsecDataplane = dataplane
		proposals := []string{"aes256-sha256-ecp256", "aes256-sha512-ecp384", "aes256gcm16-prfsha384-ecp384", "aes256gcm16-prfsha256-ecp256"}
		in.Gateway.IKE.Proposals = proposals
		in.Gateway.Peers[0].ESPProposals = proposals
		in.Gateway.Peers = append(in.Gateway.Peers, site("plant-2", "198.51.100.8", "172.16.0.0/24", "172.17.0.0/16"))
		in.Gateway.Peers[1].Grants = &vpn.Grants{Exposures: []string{"web"}}
		all["proposals, "+name] = in
	}
	return all
}

// data is the data of a gateway's ConfigMaps.
func data(t *testing.T, in Input) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, r := range rendered(t, in) {
		if r.Object != nil && r.Object.Kind == "ConfigMap" {
			for key, text := range decode(r.Object.Content).Data {
				all[key] = text
			}
		}
	}
	return all
}

func TestNftLoadsEveryRuleset(t *testing.T) {
	for name, in := range complete() {
		t.Run(name, func(t *testing.T) {
			text := data(t, in)[pod.KeyRules]
			nft(t, text, "nft -c -f $1 && nft -f $1 && nft -f $1 && nft list table inet vpnctl")
		})
	}
}

// TestHostMapsAreFilledInOneTransaction: what the agent appends to a ruleset loads
// with it, and another address replaces the first.
func TestHostMapsAreFilledInOneTransaction(t *testing.T) {
	text := data(t, acme())[pod.KeyRules] + "add element inet vpnctl host_erp { 100.64.3.10 : 192.0.2.7 }\n"
	if out := nft(t, text, "nft -f $1 && nft list map inet vpnctl host_erp"); !strings.Contains(out, "100.64.3.10 : 192.0.2.7") {
		t.Errorf("the map holds\n%s", out)
	}
}

// nft runs a script on a ruleset, in a network of its own.
func nft(t *testing.T, text, script string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "nat.nft")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := netns.New(t, "nft").Command("sh", "-c", script, "sh", file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, text)
	}
	return string(out)
}

func TestCharonLoadsEveryConnection(t *testing.T) {
	// The settings for ESP in user space, which every kernel can carry.
	charon := netns.NewCharon(t, netns.New(t, "gateway"), t.TempDir(), netns.PodSettings())
	charon.Start(t)
	for name, in := range complete() {
		text := data(t, in)[pod.KeySwanctl]
		if text == "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "swanctl.conf")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			charon.Swanctl(t, "--load-conns", "--file", file)
			listed := charon.Swanctl(t, "--list-conns")
			for _, p := range in.Gateway.Peers {
				if !strings.Contains(listed, p.Name+": IKEv2") || !strings.Contains(listed, "id: "+p.ID) {
					t.Errorf("%s is not among the connections:\n%s", p.Name, listed)
				}
				for _, child := range swanctl.ChildNames(p) {
					if !strings.Contains(listed, child+": TUNNEL") {
						t.Errorf("no child %s:\n%s", child, listed)
					}
				}
			}
		})
	}
}
