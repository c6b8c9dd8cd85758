package alloc_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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

// What a ledger says of the past counts for every later run.
func TestAddressesOfThePast(t *testing.T) {
	past := func(virtual, tunnel []alloc.Past) func(*alloc.Ledger) {
		return func(l *alloc.Ledger) { l.PastVirtualIPs, l.PastAddresses = virtual, tunnel }
	}
	type was = []alloc.Past
	for sentence, c := range map[string]struct {
		gateway vpn.Gateway
		ledgers []alloc.Ledger
		want    string
		virtual was
		tunnel  was
	}{
		"nothing was given back": {
			ipsec("a", exposure("web", "")), []alloc.Ledger{had("a", "100.64.0.0/24", vips(map[string]byte{"web": 10}))},
			"100.64.0.0/24 web:10", nil, nil,
		},
		"a name goes": {
			ipsec("a", exposure("api", "")), []alloc.Ledger{had("a", "100.64.0.0/24", vips(map[string]byte{"api": 11, "web": 10}))},
			"100.64.0.0/24 api:11", was{{"web", 10}}, nil,
		},
		"another comes later": {
			ipsec("a", exposure("api", ""), exposure("new", "")),
			[]alloc.Ledger{had("a", "100.64.0.0/24", vips(map[string]byte{"api": 11}), past(was{{"web", 10}}, nil))},
			"100.64.0.0/24 api:11;new:12", was{{"web", 10}}, nil,
		},
		"the same comes back": {
			ipsec("a", exposure("api", ""), exposure("new", ""), exposure("web", "")),
			[]alloc.Ledger{had("a", "100.64.0.0/24", vips(map[string]byte{"api": 11}), past(was{{"web", 10}}, nil))},
			"100.64.0.0/24 api:11;new:12;web:10", nil, nil,
		},
		"a pin takes it": {
			ipsec("a", exposure("api", "100.64.0.10")),
			[]alloc.Ledger{had("a", "100.64.0.0/24", vips(map[string]byte{"api": 11}), past(was{{"web", 10}}, nil))},
			"100.64.0.0/24 api:10", was{{"api", 11}}, nil,
		},
		"a name that has had several gets the last one": {
			ipsec("a", exposure("web", "")), []alloc.Ledger{had("a", "100.64.0.0/24", past(was{{"api", 10}, {"web", 12}, {"web", 20}}, nil))},
			"100.64.0.0/24 web:20", was{{"api", 10}, {"web", 12}}, nil,
		},
		"an exposure turns round": {
			ipsec("a", reversed("web", "")), []alloc.Ledger{had("a", "100.64.0.0/24", past(was{{"web", 10}}, nil))},
			"100.64.0.0/24 web:200", was{{"web", 10}}, nil,
		},
		"a road warrior goes, and others come": {
			wireguard("a", warrior("max", "")), []alloc.Ledger{had("a", "100.64.0.0/24", addresses(map[string]byte{"ina": 199}))},
			"100.64.0.0/24 max:198", nil, was{{"ina", 199}},
		},
		"a road warrior comes back": {
			wireguard("a", warrior("ina", ""), warrior("max", "")),
			[]alloc.Ledger{had("a", "100.64.0.0/24", addresses(map[string]byte{"max": 198}), past(nil, was{{"ina", 199}}))},
			"100.64.0.0/24 ina:199;max:198", nil, nil,
		},
		"no exposure gets a road warrior's by its name": {
			wireguard("a", exposure("ina", "")), []alloc.Ledger{had("a", "100.64.0.0/24", past(nil, was{{"ina", 199}}))},
			"100.64.0.0/24 ina:10", nil, was{{"ina", 199}},
		},
		"another service CIDR has no past": {
			ipsec("a", cidr("100.64.9.0/24"), exposure("web", "")),
			[]alloc.Ledger{had("a", "100.64.0.0/24", vips(map[string]byte{"api": 11, "web": 10}), past(was{{"old", 12}}, nil))},
			"100.64.9.0/24 web:10", nil, nil,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			in := alloc.Input{Estate: estate(c.gateway), Ledgers: c.ledgers}
			for range 2 { // the second time with what the first one wrote
				got, problems := alloc.Assign(in)
				if problems != nil {
					t.Fatal(problems)
				}
				l := got[owner("a")]
				if diff := cmp.Diff(c.want, show(got)["a"]); diff != "" {
					t.Errorf("allocated (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff([]was{c.virtual, c.tunnel}, []was{l.PastVirtualIPs, l.PastAddresses}); diff != "" {
					t.Errorf("past (-want +got):\n%s", diff)
				}
				in.Ledgers = []alloc.Ledger{l}
			}
		})
	}
}

// An heir has the past of its range, and so has whoever comes after it.
func TestThePastOfAPredecessor(t *testing.T) {
	in := alloc.Input{
		Estate: estate(ipsec("a", cidr("100.64.5.0/24"), exposure("api", ""), exposure("new", ""))),
		Ledgers: []alloc.Ledger{had("gone", "100.64.5.0/24", vips(map[string]byte{"web": 12, "api": 11}), func(l *alloc.Ledger) {
			l.PastVirtualIPs = []alloc.Past{{Name: "erp", Octet: 10}}
		})},
		Released: []vpn.Owner{owner("gone")},
	}
	got, _ := alloc.Assign(in)
	if diff := cmp.Diff(map[string]string{"a": "100.64.5.0/24 api:11;new:13"}, show(got)); diff != "" {
		t.Errorf("allocated (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]alloc.Past{{Name: "erp", Octet: 10}, {Name: "web", Octet: 12}}, got[owner("a")].PastVirtualIPs); diff != "" {
		t.Errorf("past (-want +got):\n%s", diff)
	}
}

// However long a gateway lives, its past takes a few entries, and what was given back
// last is in them.
func TestThePastIsBounded(t *testing.T) {
	was := had("a", "100.64.0.0/24")
	for i := range 100 {
		name := strings.Repeat("n", 50) + strconv.Itoa(i)
		got, problems := alloc.Assign(alloc.Input{
			Estate:  estate(wireguard("a", exposure("x"+name, ""), warrior("w"+name, ""))),
			Ledgers: []alloc.Ledger{was},
		})
		if problems != nil {
			t.Fatal(problems)
		}
		was = got[owner("a")]
	}
	count := map[string]int{}
	for _, e := range was.Entries() {
		name, _, _ := strings.Cut(e.Name, ".")
		count[name]++
	}
	if count["past-vips"] != 4 || count["past-addr"] != 4 {
		t.Errorf("entries: %v", count)
	}
	for _, past := range [][]alloc.Past{was.PastVirtualIPs, was.PastAddresses} {
		if last := past[len(past)-1].Name; !strings.HasSuffix(last, "n98") {
			t.Errorf("the last of the past is %s", last)
		}
	}
}
