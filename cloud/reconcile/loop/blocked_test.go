package loop_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// withPlant2 adds a second peer to Acme's gateway, whose key nobody has made.
func withPlant2(t *testing.T, e vpn.Estate) vpn.Estate {
	t.Helper()
	g := e.Gateways[0]
	second := g.Peers[0]
	second.Name, second.ID, second.PSK = "plant2", "plant2.example.org", vpn.SecretRef{Name: "plant2-psk", Key: "psk"}
	second.Subnets = nil
	for _, s := range g.Peers[0].Subnets {
		second.Subnets = append(second.Subnets, elsewhere(s))
	}
	second.Address = g.Peers[0].Address.Next()
	i := slices.IndexFunc(g.Manifests, func(m vpn.Manifest) bool { return m.Name == "plant1" })
	if i < 0 {
		t.Fatal("plant1 has no manifest")
	}
	m := g.Manifests[i]
	m.Name, m.JSON = "plant2", strings.ReplaceAll(m.JSON, "plant1", "plant2")
	g.Peers, g.Manifests = append(slices.Clone(g.Peers), second), append(slices.Clone(g.Manifests), m)
	e.Gateways = []vpn.Gateway{g}
	return e
}

// elsewhere is a range of the same size beside another one.
func elsewhere(p netip.Prefix) netip.Prefix {
	bytes := p.Addr().As4()
	bytes[1] += 100
	return netip.PrefixFrom(netip.AddrFrom4(bytes), p.Bits())
}

// TestABlockedGatewaySaysSo: a gateway that lost a peer's manifest is left as it is. Keys
// of that peer are missing as before, and once they are there its changes still wait.
func TestABlockedGatewaySaysSo(t *testing.T) {
	p := newPassing(t)
	one := acmeInACluster(t)
	granted := slices.Clone(one.Gateways[0].Peers)
	granted[0].Grants = &vpn.Grants{Exposures: []string{one.Gateways[0].Exposures[0].Name}}
	one.Gateways[0].Peers = granted
	two := withPlant2(t, one)
	p.secret()
	p.apply(two, plan.Options{})
	p.runs()
	lacks := "False PeerSecretMissing: DeploymentReady: no Secret plant2-psk (key psk)"
	p.step("a key is missing", two, plan.Options{}, map[string]string{"ConfigRendered": "True ConfigRendered", "Ready": lacks})
	p.step("the peer's file is gone", one, plan.Options{}, map[string]string{
		"ConfigRendered": "Unknown Pending: 5 changes wait: peer plant2 has no manifest: nothing of this gateway is changed without --prune", "Ready": lacks})
	p.api.Put(t, map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"namespace": "acme", "name": "plant2-psk"}, "data": map[string]any{"psk": "eA=="}})
	p.step("the key comes", one, plan.Options{}, map[string]string{
		"DeploymentReady": "True Available",
		"Ready":           "Unknown Pending: ConfigRendered: 5 changes wait: peer plant2 has no manifest: nothing of this gateway is changed without --prune"})
	p.step("the peer goes", one, plan.Options{Prune: true}, map[string]string{"ConfigRendered": "True ConfigRendered", "Ready": "True Ready"})
}
