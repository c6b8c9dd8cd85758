package alloc_test

import (
	"testing"

	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Whoever has written an address down calls there after the edit as well.
func TestFormerAddresses(t *testing.T) {
	full := map[string]byte{}
	for octet := byte(10); octet < 199; octet++ {
		full["x"+string(rune('a'+octet/26))+string(rune('a'+octet%26))] = octet
	}
	fullGateway := func(more ...change) vpn.Gateway {
		for name := range full {
			more = append(more, exposure(name, ""))
		}
		return ipsec("a", more...)
	}
	all := func(more string) map[string]byte {
		octets := map[string]byte{more: 199}
		for name, octet := range full {
			octets[name] = octet
		}
		return octets
	}
	runAssign(t, map[string]assignCase{
		"a renamed exposure leaves its address to nobody": {
			in: alloc.Input{
				Estate:  estate(ipsec("a", exposure("api", ""), exposure("portal", ""), exposure("ldap", ""))),
				Ledgers: []alloc.Ledger{had("a", "100.64.0.0/24", vips(map[string]byte{"ldap": 10, "web": 11}))},
			},
			want: map[string]string{"a": "100.64.0.0/24 api:12;ldap:10;portal:13"},
		},
		"a road warrior's goes to no other, and to no exposure": {
			in: alloc.Input{
				Estate:  estate(wireguard("a", road("100.64.0.8/29"), exposure("web", ""), warrior("ina", ""))),
				Ledgers: []alloc.Ledger{had("a", "100.64.0.0/24", addresses(map[string]byte{"bob": 15, "max": 10}))},
			},
			want: map[string]string{"a": "100.64.0.0/24 ina:14 web:11"},
		},
		"an exposure's goes to no road warrior": {
			in: alloc.Input{
				Estate:  estate(wireguard("a", warrior("ina", ""))),
				Ledgers: []alloc.Ledger{had("a", "100.64.0.0/24", vips(map[string]byte{"web": 199}))},
			},
			want: map[string]string{"a": "100.64.0.0/24 ina:198"},
		},
		"where no other is left it is given out": {
			in: alloc.Input{
				Estate:  estate(fullGateway(exposure("new", ""))),
				Ledgers: []alloc.Ledger{had("a", "100.64.0.0/24", vips(all("old")))},
			},
			want: map[string]string{"a": show(map[vpn.Owner]alloc.Ledger{owner("a"): had("a", "100.64.0.0/24", vips(all("new")))})["a"]},
		},
		"a pin may take it": {
			in: alloc.Input{
				Estate:  estate(ipsec("a", exposure("api", "100.64.0.11"))),
				Ledgers: []alloc.Ledger{had("a", "100.64.0.0/24", vips(map[string]byte{"web": 11}))},
			},
			want: map[string]string{"a": "100.64.0.0/24 api:11"},
		},
	})
}

func TestAddressesOfAPredecessor(t *testing.T) {
	gone := had("gone", "100.64.5.0/24", vips(map[string]byte{"web": 12, "api": 10, "mes": 201}), addresses(map[string]byte{"ina": 195}))
	runAssign(t, map[string]assignCase{
		"who pins its range gets them by name": {
			in: alloc.Input{
				Estate:  estate(wireguard("a", cidr("100.64.5.0/24"), exposure("api", ""), exposure("web", ""), exposure("new", ""), exposure("mes", ""), warrior("ina", ""))),
				Ledgers: []alloc.Ledger{gone}, Released: []vpn.Owner{owner("gone")},
			},
			want: map[string]string{"a": "100.64.5.0/24 ina:195 api:10;mes:11;new:13;web:12"},
		},
		"but keeps its own": {
			in: alloc.Input{
				Estate:  estate(ipsec("a", cidr("100.64.5.0/24"), exposure("api", ""), exposure("web", ""))),
				Ledgers: []alloc.Ledger{gone, had("a", "100.64.0.0/24", vips(map[string]byte{"web": 10}))}, Released: []vpn.Owner{owner("gone")},
			},
			want: map[string]string{"a": "100.64.5.0/24 api:11;web:10"},
		},
		"and its own pins": {
			in: alloc.Input{
				Estate:  estate(ipsec("a", cidr("100.64.5.0/24"), exposure("db", "100.64.5.12"), exposure("web", "100.64.5.10"), exposure("api", ""))),
				Ledgers: []alloc.Ledger{gone}, Released: []vpn.Owner{owner("gone")},
			},
			want: map[string]string{"a": "100.64.5.0/24 api:11;db:12;web:10"},
		},
		"who has the range by now has nothing to do with it": {
			in: alloc.Input{
				Estate: estate(ipsec("a", cidr("100.64.5.0/24"), exposure("api", ""), exposure("web", ""))),
				Ledgers: []alloc.Ledger{had("a", "100.64.5.0/24", vips(map[string]byte{"web": 10}), created(1)),
					had("gone", "100.64.5.0/24", vips(map[string]byte{"api": 30}), created(2))}, Released: []vpn.Owner{owner("gone")},
			},
			want: map[string]string{"a": "100.64.5.0/24 api:11;web:10"},
		},
		"another range of the pool brings none": {
			in: alloc.Input{
				Estate:  estate(ipsec("a", exposure("web", ""))),
				Ledgers: []alloc.Ledger{gone}, Released: []vpn.Owner{owner("gone")},
			},
			want: map[string]string{"a": "100.64.0.0/24 web:10"},
		},
	})
}
