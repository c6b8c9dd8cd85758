package alloc_test

import (
	"fmt"
	"testing"

	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// many makes n exposures, or whatever else the function makes of a name.
func many(n int, each func(name, pin string) change) change {
	return func(g *vpn.Gateway) {
		for i := range n {
			each(fmt.Sprintf("x%03d", i), "")(g)
		}
	}
}

func TestVirtualIPs(t *testing.T) {
	runAssign(t, map[string]assignCase{
		"exposures from .10 up, reverse exposures from .200 up, by name": {
			in:   alloc.Input{Estate: estate(ipsec("a", exposure("web", ""), exposure("db", ""), reversed("scada", ""), reversed("plc", "")))},
			want: map[string]string{"a": "100.64.0.0/24 db:10;plc:200;scada:201;web:11"},
		},
		"what is held stays, whatever comes and goes": {
			in: alloc.Input{
				Estate:  estate(ipsec("a", exposure("new", ""), exposure("web", ""))),
				Ledgers: []alloc.Ledger{had("a", "100.64.0.0/24", vips(map[string]byte{"web": 12}))},
			},
			want: map[string]string{"a": "100.64.0.0/24 new:10;web:12"},
		},
		"pins come before automatic choices": {
			in:   alloc.Input{Estate: estate(ipsec("a", exposure("auto", ""), exposure("web", "100.64.0.10")))},
			want: map[string]string{"a": "100.64.0.0/24 auto:11;web:10"},
		},
		"a pin on an address that another exposure holds is refused, and names both": {
			in: alloc.Input{
				Estate:  estate(ipsec("a", exposure("web", ""), exposure("db", "100.64.0.10"))),
				Ledgers: []alloc.Ledger{had("a", "100.64.0.0/24", vips(map[string]byte{"web": 10}))},
			},
			problems: []string{"a: exposure db is pinned to 100.64.0.10, which exposure web holds"},
		},
		"a pin on an address whose holder is pinned elsewhere in the same edit is a move of both": {
			in: alloc.Input{
				Estate:  estate(ipsec("a", exposure("web", "100.64.0.20"), exposure("db", "100.64.0.10"))),
				Ledgers: []alloc.Ledger{had("a", "100.64.0.0/24", vips(map[string]byte{"web": 10, "db": 20}))},
			},
			want: map[string]string{"a": "100.64.0.0/24 db:10;web:20"},
		},
		"a pin removed leaves the address": {
			in: alloc.Input{
				Estate:  estate(ipsec("a", exposure("web", ""))),
				Ledgers: []alloc.Ledger{had("a", "100.64.0.0/24", vips(map[string]byte{"web": 99}))},
			},
			want: map[string]string{"a": "100.64.0.0/24 web:99"},
		},
		"two pins on one address are refused": {
			in:       alloc.Input{Estate: estate(ipsec("a", exposure("web", "100.64.0.10"), exposure("db", "100.64.0.10")))},
			problems: []string{"a: exposure web is pinned to 100.64.0.10, and so is exposure db"},
		},
		"a pin outside the service CIDR, its list's range, or on .1 is refused": {
			in: alloc.Input{Estate: estate(ipsec("a", exposure("far", "100.64.7.10"), exposure("high", "100.64.0.200"), reversed("low", "100.64.0.199"), exposure("self", "100.64.0.1")))},
			problems: []string{
				"a: exposure far is pinned to 100.64.7.10, outside the service CIDR 100.64.0.0/24",
				"a: exposure high is pinned to 100.64.0.200, outside its range .10–.199",
				"a: exposure self is pinned to 100.64.0.1, outside its range .10–.199",
				"a: reverse exposure low is pinned to 100.64.0.199, outside its range .200–.254",
			},
		},
		"an exposure that becomes a reverse exposure gets another address": {
			in: alloc.Input{
				Estate:  estate(ipsec("a", reversed("web", ""))),
				Ledgers: []alloc.Ledger{had("a", "100.64.0.0/24", vips(map[string]byte{"web": 10}))},
			},
			want: map[string]string{"a": "100.64.0.0/24 web:200"},
		},
		"a name in both lists is refused": {
			in:       alloc.Input{Estate: estate(ipsec("a", exposure("web", ""), reversed("web", "")))},
			problems: []string{"a: exposure name web is used twice"},
		},
		"exhaustion names the range and its figures": {
			in:       alloc.Input{Estate: estate(ipsec("a", many(193, exposure)))},
			problems: []string{"a: no address is left for exposure x190 and 2 more: exposures .10–.199: 190 of 190 taken"},
		},
		"reverse exposures never grow into the exposures": {
			in:       alloc.Input{Estate: estate(ipsec("a", many(56, reversed)))},
			problems: []string{"a: no address is left for reverse exposure x055: reverse exposures .200–.254: 55 of 55 taken"},
		},
	})
}

func TestRoadWarriors(t *testing.T) {
	runAssign(t, map[string]assignCase{
		"from .199 down": {
			in:   alloc.Input{Estate: estate(wireguard("a", warrior("ina", ""), warrior("bob", "")))},
			want: map[string]string{"a": "100.64.0.0/24 bob:199;ina:198"},
		},
		"then from .254 down": {
			in:   alloc.Input{Estate: estate(wireguard("a", many(8, warrior), warrior("y", ""), warrior("z", "")))},
			want: map[string]string{"a": "100.64.0.0/24 x000:199;x001:198;x002:197;x003:196;x004:195;x005:194;x006:193;x007:192;y:254;z:253"},
		},
		"virtual IPs are placed first, and no address is given twice": {
			in: alloc.Input{Estate: estate(wireguard("a", road("100.64.0.8/29"), exposure("web", ""), exposure("db", ""),
				warrior("ina", ""), warrior("bob", "")))},
			want: map[string]string{"a": "100.64.0.0/24 bob:15;ina:14 db:10;web:11"},
		},
		"a new virtual IP walks around the road warriors that hold addresses of its range": {
			in: alloc.Input{
				Estate:  estate(wireguard("a", reversed("plc", ""), reversed("scada", ""), warrior("ina", ""))),
				Ledgers: []alloc.Ledger{had("a", "100.64.0.0/24", addresses(map[string]byte{"ina": 200}))},
			},
			want: map[string]string{"a": "100.64.0.0/24 ina:200 plc:201;scada:202"},
		},
		"a virtual IP pinned on a road warrior's address is refused": {
			in: alloc.Input{
				Estate:  estate(wireguard("a", exposure("web", "100.64.0.199"), warrior("ina", ""))),
				Ledgers: []alloc.Ledger{had("a", "100.64.0.0/24", addresses(map[string]byte{"ina": 199}))},
			},
			problems: []string{"a: exposure web is pinned to 100.64.0.199, which road warrior ina holds"},
		},
		"a ledger that gives one address twice is refused until one is pinned": {
			in: alloc.Input{
				Estate:  estate(wireguard("a", reversed("plc", ""), warrior("ina", ""))),
				Ledgers: []alloc.Ledger{had("a", "100.64.0.0/24", vips(map[string]byte{"plc": 210}), addresses(map[string]byte{"ina": 210}))},
			},
			problems: []string{"a: reverse exposure plc and road warrior ina both hold .210 in the ledger"},
		},
		"a changed tunnel address is a move": {
			in: alloc.Input{
				Estate:  estate(wireguard("a", warrior("ina", "100.64.0.195"))),
				Ledgers: []alloc.Ledger{had("a", "100.64.0.0/24", addresses(map[string]byte{"ina": 199}))},
			},
			want: map[string]string{"a": "100.64.0.0/24 ina:195"},
		},
		"another range moves those outside it": {
			in: alloc.Input{
				Estate:  estate(wireguard("a", road("100.64.0.128/25"), warrior("ina", ""), warrior("bob", ""))),
				Ledgers: []alloc.Ledger{had("a", "100.64.0.0/24", addresses(map[string]byte{"ina": 130, "bob": 20}))},
			},
			want: map[string]string{"a": "100.64.0.0/24 bob:199;ina:130"},
		},
		"the whole service CIDR as range leaves out the network's and the gateway's own addresses": {
			in: alloc.Input{Estate: estate(wireguard("a", road("100.64.0.0/24"), many(254, warrior)))},
			problems: []string{
				"a: no address is left for road warrior x253: road warriors .2–.254: 253 of 253 taken",
			},
		},
		"exhaustion tells who else sits in the range": {
			in:       alloc.Input{Estate: estate(wireguard("a", road("100.64.0.8/29"), many(4, exposure), many(5, warrior)))},
			problems: []string{"a: no address is left for road warrior x004: road warriors .8–.15: 8 of 8 taken, 4 of them by virtual IPs"},
		},
		"sites get no address": {
			in:   alloc.Input{Estate: estate(wireguard("a", site("plant1")))},
			want: map[string]string{"a": "100.64.0.0/24"},
		},
	})
}
