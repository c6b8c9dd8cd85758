package render

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// heir is the same gateway under another name, with peers of other names.
func heir(t *testing.T, in Input) Input {
	in = copied(t, in)
	in.Gateway.Owner.Name = "heir"
	if in.Gateway.WireGuard != nil {
		in.Gateway.WireGuard.GeneratedKey = false
	}
	addresses := map[string]byte{}
	for i := range in.Gateway.Peers {
		p := &in.Gateway.Peers[i]
		if octet := in.Ledger.Addresses[p.Name]; octet != 0 {
			addresses[p.Name+"-2"] = octet
		}
		p.Name += "-2"
	}
	in.Ledger.Addresses = addresses
	known := in.Facts.Gateway("VPNGateway/acme/dc1")
	if in.Gateway.Protocol == vpn.WireGuard {
		known = in.Facts.Gateway("VPNGateway/globex/remote")
	}
	in.Facts = facts(in.Gateway.Owner, known)
	return in
}

func TestSuccession(t *testing.T) {
	for sentence, c := range map[string]struct {
		of        func() Input
		change    func(*Input)
		customers []string
		says      string
	}{
		"the same under other names":          {acme, func(*Input) {}, nil, ""},
		"the same sessions under other names": {globex, func(*Input) {}, nil, ""},
		"more is offered, and timers differ": {acme, func(in *Input) {
			in.Gateway.IKE.Proposals = append(in.Gateway.IKE.Proposals, "aes256-sha512-ecp384")
			in.Gateway.IKE.Lifetime /= 2
			in.Gateway.Peers = append(in.Gateway.Peers, site("plant9", "198.51.100.9", "192.168.90.0/24"))
		}, nil, ""},
		"no such peer": {acme, func(in *Input) { in.Gateway.Peers[0] = site("plant9", "198.51.100.9", "192.168.10.0/24") },
			[]string{"plant1"}, "plant1 has no tunnel with acme/heir"},
		"its address alone": {acme, func(in *Input) { in.Gateway.Peers[0].ID = "plant9" },
			[]string{"plant1"}, "plant1 must identify itself as plant9"},
		"its identity alone": {acme, func(in *Input) { in.Gateway.Peers[0].Address = addr("198.51.100.9") },
			[]string{"plant1"}, "plant1 is expected at 198.51.100.9"},
		"an IKE proposal less": {acme, func(in *Input) { in.Gateway.IKE.Proposals = []string{"aes256-sha512-ecp384"} },
			[]string{"plant1"}, "plant1 can't use the IKE proposal aes256-sha256-ecp256 any more"},
		"an ESP proposal less": {acme, func(in *Input) { in.Gateway.Peers[0].ESPProposals = []string{"aes256-sha256-ecp256"} },
			[]string{"plant1"}, "plant1 can't use the ESP proposal aes256gcm16-prfsha384-ecp384 any more"},
		"other subnets": {acme, func(in *Input) { in.Gateway.Peers[0].Subnets = networks("192.168.10.0/24") },
			[]string{"plant1"}, "plant1 has the subnets 192.168.10.0/24 there, not 192.168.10.0/24, 192.168.20.0/24"},
		"joined child SAs": {acme, func(in *Input) { in.Gateway.Peers[0].Selectors = vpn.Joined },
			[]string{"plant1"}, "plant1 has one child SA for all subnets there, not one for each"},
		"another pre-shared key": {acme, func(in *Input) { in.Gateway.Peers[0].PSK.Key = "other" },
			[]string{"plant1"}, "plant1 must use the pre-shared key of Secret plant1-psk, key other"},
		"another protocol is told by the gateways": {acme, func(in *Input) { *in = heirless(globex()) }, nil, ""},
		"all that differs is named": {acme, func(in *Input) { in.Gateway.Peers[0].PSK.Name, in.Gateway.Peers[0].ID = "other", "plant9" },
			[]string{"plant1"}, "plant1 must identify itself as plant9; plant1 must use the pre-shared key of Secret other, key psk"},

		"a public key less": {globex, func(in *Input) { in.Gateway.Peers = in.Gateway.Peers[1:] },
			[]string{"berlin"}, "berlin has no session with globex/heir"},
		"another port": {globex, func(in *Input) { in.Gateway.WireGuard.ListenPort = 51821 },
			[]string{"berlin", "ina", "oslo"}, "ina finds the gateway on another port"},
		"another private key": {globex, func(in *Input) { in.Gateway.WireGuard.PrivateKey.Name = "heir-wg-key" },
			[]string{"berlin", "ina", "oslo"}, "oslo finds the gateway with the key of Secret heir-wg-key"},
		"another tunnel address": {globex, func(in *Input) { in.Ledger.Addresses["ina-2"] = 198 },
			[]string{"ina"}, "ina has the addresses 100.64.7.198/32 there, not 100.64.7.199/32"},
		"no pre-shared key any more": {globex, func(in *Input) { in.Gateway.Peers[0].PresharedKey = vpn.SecretRef{} },
			[]string{"berlin"}, "berlin must not use a pre-shared key any more"},
	} {
		t.Run(sentence, func(t *testing.T) {
			after := heir(t, c.of())
			c.change(&after)
			got := Succession(rendered(t, c.of()), rendered(t, after))
			if diff := cmp.Diff(c.customers, got.Customers); diff != "" || (got.Impact == plan.ImpactCustomer) != (c.customers != nil) {
				t.Errorf("%s, customers (-want +got)\n%s", got.Impact, diff)
			}
			if !strings.Contains(got.Consequence, c.says) || c.says == "" && got.Consequence != "" {
				t.Errorf("%q does not say %q", got.Consequence, c.says)
			}
		})
	}
}

func heirless(in Input) Input {
	in.Gateway.WireGuard.GeneratedKey = false
	return in
}

func TestSuccessionOfWhatCannotBeRead(t *testing.T) {
	good := rendered(t, acme())
	id := kubernetesID("ConfigMap", "dc1-swanctl")
	broken := resource.Graph{}
	broken.Merge(good)
	broken[id] = resource.Resource{ID: id, Object: &resource.Object{Kind: "ConfigMap", Content: strings.Replace(good[id].Object.Content, "connections {", "include {", 1)}}
	for sentence, graphs := range map[string][2]resource.Graph{
		"nothing was there":                {{}, good},
		"nothing comes":                    {good, {}},
		"connections were edited by hand":  {broken, good},
		"connections that come are broken": {good, broken},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := Succession(graphs[0], graphs[1]); got.Impact != plan.ImpactCustomer || !strings.Contains(got.Consequence, "not known") {
				t.Errorf("%+v", got)
			}
		})
	}
}
