package standing

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/manifest"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// TestPeersReady: what the summary of each of two peers says.
func TestPeersReady(t *testing.T) {
	psk := func(name string) vpn.SecretRef { return vpn.SecretRef{Name: name, Key: "psk"} }
	two := vpn.Gateway{Owner: dc1, Exposures: []vpn.Exposure{{Name: "web"}}, Peers: []vpn.Peer{
		{Name: "a", PSK: psk("a-psk"), Grants: &vpn.Grants{Exposures: []string{"web"}}}, {Name: "b", PSK: psk("b-psk")}}}
	good := account{gateway: two, rollout: cloud.Rollout{Available: true}}
	with := func(change func(*account)) account {
		a := good
		change(&a)
		return a
	}
	key := func(a *account) {
		a.gateway.WireGuard = &vpn.Interface{PrivateKey: psk("dc1-key")}
		a.missing = []vpn.SecretRef{psk("dc1-key")}
	}
	for sentence, tt := range map[string]struct {
		account account
		want    map[string]string
	}{
		"all is well, and one has no grant": {good, map[string]string{"a": "True Ready", "b": "True Ready"}},
		"a Secret is one peer's": {with(func(a *account) { a.missing = []vpn.SecretRef{psk("a-psk")} }),
			map[string]string{"a": "False PeerSecretMissing no Secret a-psk (key psk)", "b": "True Ready"}},
		"a Secret is one peer's, and no pod runs": {with(func(a *account) { a.missing, a.rollout = []vpn.SecretRef{psk("a-psk")}, cloud.Rollout{} }),
			map[string]string{"a": "False PeerSecretMissing no Secret a-psk (key psk)", "b": "False GatewayNotReady see the status of VPNGateway dc1"}},
		"the gateway's own key is missing": {with(key),
			map[string]string{"a": "False GatewayNotReady see the status of VPNGateway dc1", "b": "False GatewayNotReady see the status of VPNGateway dc1"}},
		"the configuration was not written": {with(func(a *account) { a.tried(outcome(object("ConfigMap", "dc1-nat"), errors.New("409"))) }),
			map[string]string{"a": "False GatewayNotReady see the status of VPNGateway dc1", "b": "False GatewayNotReady see the status of VPNGateway dc1"}},
		"the configuration waits": {with(func(a *account) {
			c := object("ConfigMap", "dc1-nat")
			a.changes = map[resource.ID]plan.Change{c.ID: c}
		}), map[string]string{"a": "Unknown GatewayNotReady see the status of VPNGateway dc1", "b": "Unknown GatewayNotReady see the status of VPNGateway dc1"}},
	} {
		got := map[string]string{}
		for name, c := range tt.account.peersReady(authorized(tt.account.gateway)) {
			got[name] = spelled(c)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", sentence, diff)
		}
	}
}

func spelled(c cloud.Condition) string {
	text := c.Status + " " + c.Reason
	if c.Message != "" {
		text += " " + c.Message
	}
	return text
}

// TestPeersReadyOfInvalid: only the peer that isn't valid is told so; the others' last
// good state stays, and so does what was said of them.
func TestPeersReadyOfInvalid(t *testing.T) {
	s := Invalid(dc1, manifest.Diagnostics{{Severity: manifest.Error, File: "VPNPeer acme/a", Field: "spec.ipsec", Message: "missing"}})
	want := cloud.Status{Conditions: []cloud.Condition{
		{Type: "Ready", Status: False, Reason: "InvalidSpec", Message: "Authorized: spec.ipsec: missing"},
		{Type: "Authorized", Status: False, Reason: "InvalidSpec", Message: "spec.ipsec: missing"},
	}}
	if diff := cmp.Diff(want, s.Peer("a")); diff != "" || len(s.PeersReady) != 1 {
		t.Errorf("%d peers are spoken of (-want +got)\n%s", len(s.PeersReady), diff)
	}
}

// TestPeersOfAKeylessGateway: what is found out of a gateway's key comes after all else,
// and its peers wait for it.
func TestPeersOfAKeylessGateway(t *testing.T) {
	a := account{gateway: vpn.Gateway{Owner: dc1, Peers: []vpn.Peer{{Name: "a"}}}, rollout: cloud.Rollout{Available: true}}
	s := Gateway{Owner: dc1, Conditions: a.conditions(), Peers: authorized(a.gateway)}
	s.PeersReady = a.peersReady(s.Peers)
	s.Keyless(False, "Secret dc1-key, key privateKey: there is nothing in it")
	if got, want := spelled(s.PeersReady["a"]), "False GatewayNotReady see the status of VPNGateway dc1"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
