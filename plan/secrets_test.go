package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

func TestSecretsOfWhatIsNew(t *testing.T) {
	psk := func(name string) vpn.Peer {
		return vpn.Peer{Name: name, PSK: vpn.SecretRef{Name: name + "-psk", Key: "psk"}}
	}
	shared := func(name string) vpn.Peer { return vpn.Peer{Name: name, PSK: vpn.SecretRef{Name: "all", Key: "psk"}} }
	wireGuard := vpn.Gateway{WireGuard: &vpn.Interface{PrivateKey: vpn.SecretRef{Name: "dc1-wg-key", Key: "privateKey"}},
		Peers: []vpn.Peer{{Name: "site"}, {Name: "ina", PresharedKey: vpn.SecretRef{Name: "ina-psk", Key: "psk"}}}}
	for name, c := range map[string]struct {
		party party
		want  []string
	}{
		"a new gateway's, by name":           {party{gateway: &vpn.Gateway{Peers: []vpn.Peer{psk("b"), psk("a")}}}, []string{"a-psk", "b-psk"}},
		"one that all peers share, once":     {party{gateway: &vpn.Gateway{Peers: []vpn.Peer{shared("b"), shared("a")}}}, []string{"all"}},
		"the key of the interface too":       {party{gateway: &wireGuard}, []string{"dc1-wg-key", "ina-psk"}},
		"a new peer's":                       {party{gateway: &vpn.Gateway{Peers: []vpn.Peer{psk("a"), psk("b")}}, ledger: &alloc.Ledger{Peers: []string{"a"}}, found: 1}, []string{"b-psk"}},
		"none where nothing is new":          {party{gateway: &wireGuard, ledger: &alloc.Ledger{Peers: []string{"ina", "site"}}, found: 1}, nil},
		"none where nobody knows what is":    {party{gateway: &wireGuard, ledger: &alloc.Ledger{}, found: 1}, nil},
		"none of a gateway that is gone":     {party{ledger: &alloc.Ledger{Peers: []string{"a"}}, found: 1}, nil},
		"none of a gateway without any peer": {party{gateway: &vpn.Gateway{}}, nil},
	} {
		var got []string
		for _, s := range c.party.secrets(false) {
			got = append(got, s.Name)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	generated := wireGuard
	generated.WireGuard = &vpn.Interface{PrivateKey: wireGuard.WireGuard.PrivateKey, GeneratedKey: true}
	for made, want := range map[bool]int{false: 2, true: 1} {
		if got := (&party{gateway: &generated}).secrets(made); len(got) != want {
			t.Errorf("a key that no manifest names, made: %v: %v must be there", made, got)
		}
	}
}
