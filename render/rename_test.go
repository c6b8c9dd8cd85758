package render

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

func TestWhatAnotherNameDoes(t *testing.T) {
	named := func(peer int, name string) func(*Input) {
		return func(in *Input) { in.Gateway.Peers[peer].Name = name }
	}
	and := func(changes ...func(*Input)) func(*Input) {
		return func(in *Input) {
			for _, change := range changes {
				change(in)
			}
		}
	}
	keepsAddress := func(in *Input) { in.Ledger.Addresses = map[string]byte{"sam": 199} }
	two := func() Input { // tunnels with one and the same peer
		in := acme()
		for name, subnet := range map[string]string{"a": "172.16.1.0/24", "b": "172.16.2.0/24"} {
			p := site(name, "198.51.100.8", subnet)
			p.ID, p.PSK = "plant2.example.org", vpn.SecretRef{Name: "plant2-psk", Key: "psk"}
			in.Gateway.Peers = append(in.Gateway.Peers, p)
		}
		return in
	}
	both := func(a, b string) func(*Input) { // of which a has 172.16.1.0/24
		return func(in *Input) {
			for i := range in.Gateway.Peers {
				switch in.Gateway.Peers[i].Name {
				case "a":
					in.Gateway.Peers[i].Name = a
				case "b":
					in.Gateway.Peers[i].Name = b
				}
			}
		}
	}
	for sentence, c := range map[string]struct {
		of                    func() Input
		change                func(*Input)
		impact                plan.Impact
		interrupts, customers []string
		says                  string
	}{
		"an IPsec tunnel ends once, and nobody must act": {
			acme, named(0, "factory"), plan.ImpactReconnect, []string{"plant1"}, nil,
			"plant1 goes on as factory: its tunnel ends and is negotiated anew"},
		"two tunnels of one peer keep to their subnets": {
			two, both("z", "y"), plan.ImpactReconnect, []string{"a", "b"}, nil,
			"a goes on as z: its tunnel ends and is negotiated anew; b goes on as y: its tunnel ends and is negotiated anew"},
		"two names that are swapped are two others": {
			two, both("b", "a"), plan.ImpactReconnect, []string{"a", "b"}, nil, "a renegotiates; b renegotiates"},
		"another identity besides is another peer": {
			acme, and(named(0, "factory"), func(in *Input) { in.Gateway.Peers[0].ID = "factory.example.org" }),
			plan.ImpactCustomer, []string{"plant1"}, []string{"plant1"}, "plant1 loses its tunnel for good"},
		"another address besides is another peer": {
			acme, and(named(0, "factory"), func(in *Input) { in.Gateway.Peers[0].Address = addr("198.51.100.9") }),
			plan.ImpactCustomer, []string{"plant1"}, []string{"plant1"}, "plant1 loses its tunnel for good"},
		"another pre-shared key besides": {
			acme, and(named(0, "factory"), func(in *Input) { in.Gateway.Peers[0].PSK.Name = "factory-psk" }),
			plan.ImpactCustomer, []string{"plant1"}, []string{"plant1"}, "plant1 must use the pre-shared key of Secret factory-psk, key psk"},
		"other subnets besides": {
			acme, and(named(0, "factory"), func(in *Input) { in.Gateway.Peers[0].Subnets = networks("192.168.10.0/24") }),
			plan.ImpactCustomer, []string{"plant1"}, []string{"plant1"}, "plant1 has the subnets 192.168.10.0/24 there, not"},
		"another service CIDR besides": {
			acme, and(named(0, "factory"), func(in *Input) { in.Ledger.ServiceCIDR = network("100.64.4.0/24") }),
			plan.ImpactCustomer, []string{"plant1"}, []string{"plant1"}, "plant1 finds the service CIDR 100.64.4.0/24 there"},
		"another floating IP besides": {
			acme, and(named(0, "factory"), func(in *Input) {
				known := in.Facts.Gateway(in.Gateway.Owner.String())
				known.FloatingIP = addr("203.0.113.99")
				in.Facts = facts(in.Gateway.Owner, known)
			}),
			plan.ImpactCustomer, []string{"plant1"}, []string{"plant1"}, "plant1 finds the gateway under the identity 203.0.113.99"},
		"a further peer besides is no heir": {
			acme, and(named(0, "factory"), func(in *Input) {
				in.Gateway.Peers = append(in.Gateway.Peers, site("plant2", "198.51.100.8", "172.16.0.0/24"))
			}),
			plan.ImpactReconnect, []string{"plant1"}, nil, "plant1 goes on as factory"},

		"a WireGuard session stays, its connections end": {
			globex, named(0, "hamburg"), plan.ImpactReconnect, []string{"berlin"}, nil,
			"berlin goes on as hamburg: its session stays, its connections end and are let in again within a minute"},
		"a road warrior that keeps its address": {
			globex, and(named(1, "sam"), keepsAddress), plan.ImpactReconnect, []string{"ina"}, nil, "ina goes on as sam: its session stays"},
		"a road warrior that gets another address": {
			globex, and(named(1, "sam"), func(in *Input) { in.Ledger.Addresses = map[string]byte{"sam": 198} }),
			plan.ImpactCustomer, []string{"ina"}, []string{"ina"}, "ina has the addresses 100.64.7.198/32 there, not 100.64.7.199/32"},
		"another public key besides is another peer": {
			globex, and(named(0, "hamburg"), func(in *Input) { in.Gateway.Peers[0].PublicKey = "I+gVbcxtTwG8EyY3BPZyzN8sLibjnoOElJdWMFIzDHQ=" }),
			plan.ImpactCustomer, []string{"berlin"}, []string{"berlin"}, "berlin loses its session for good"},
		"a pre-shared key less besides": {
			globex, and(named(0, "hamburg"), func(in *Input) { in.Gateway.Peers[0].PresharedKey = vpn.SecretRef{} }),
			plan.ImpactCustomer, []string{"berlin"}, []string{"berlin"}, "berlin must not use a pre-shared key any more"},
		"another listen port besides": {
			globex, and(named(0, "hamburg"), func(in *Input) { in.Gateway.WireGuard.ListenPort = 51821 }),
			plan.ImpactCustomer, []string{"berlin", "ina", "oslo"}, []string{"berlin", "ina", "oslo"}, "berlin finds the gateway on another port"},
		"another private key besides": {
			globex, and(named(0, "hamburg"), func(in *Input) { in.Gateway.WireGuard.PrivateKey.Name = "other" }),
			plan.ImpactCustomer, []string{"berlin", "ina", "oslo"}, []string{"berlin", "ina", "oslo"}, "berlin finds the gateway with the key of Secret other"},
	} {
		t.Run(sentence, func(t *testing.T) {
			before := c.of()
			after := copied(t, before)
			c.change(&after)
			got := judged(t, before, after)
			want := plan.Verdict{Impact: c.impact, Interrupts: c.interrupts, Customers: c.customers}
			if !strings.Contains(got.Consequence, c.says) {
				t.Errorf("%q does not say %q", got.Consequence, c.says)
			}
			got.Consequence = ""
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestRenamed(t *testing.T) {
	broken := rendered(t, acme())
	id := kubernetesID("ConfigMap", "dc1-swanctl")
	r := broken[id]
	o := *r.Object
	o.Content = strings.Replace(o.Content, "connections {", "include {", 1)
	r.Object = &o
	broken[id] = r
	change := func(in Input, edit func(*Input)) Input {
		in = copied(t, in)
		edit(&in)
		return in
	}
	factory := rendered(t, change(acme(), func(in *Input) { in.Gateway.Peers[0].Name = "factory" }))
	for sentence, c := range map[string]struct {
		got, want map[string]string
	}{
		"the same":         {Renamed(rendered(t, acme()), rendered(t, acme())), nil},
		"another name":     {Renamed(rendered(t, acme()), factory), map[string]string{"plant1": "factory"}},
		"nothing to read":  {Renamed(nil, factory), nil},
		"what can't be":    {Renamed(broken, factory), nil},
		"another protocol": {Renamed(rendered(t, acme()), rendered(t, globex())), nil},
		"two of WireGuard": {
			Renamed(rendered(t, globex()), rendered(t, change(globex(), func(in *Input) {
				in.Gateway.Peers[0].Name, in.Gateway.Peers[2].Name = "rome", "bonn"
			}))),
			map[string]string{"berlin": "rome", "oslo": "bonn"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			if diff := cmp.Diff(c.want, c.got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
