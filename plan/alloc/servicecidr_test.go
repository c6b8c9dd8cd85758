package alloc_test

import (
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

func TestServiceCIDR(t *testing.T) {
	small := func(gateways ...vpn.Gateway) vpn.Estate {
		e := estate(gateways...)
		e.ServiceCIDRPool = prefix("100.64.0.0/23")
		return e
	}
	runAssign(t, map[string]assignCase{
		"new gateways get the lowest free ranges in the order of their owners": {
			in:   alloc.Input{Estate: estate(ipsec("b"), ipsec("a"))},
			want: map[string]string{"a": "100.64.0.0/24", "b": "100.64.1.0/24"},
		},
		"what is held stays although a lower range is free": {
			in:   alloc.Input{Estate: estate(ipsec("a"), ipsec("b")), Ledgers: []alloc.Ledger{had("b", "100.64.7.0/24")}},
			want: map[string]string{"a": "100.64.0.0/24", "b": "100.64.7.0/24"},
		},
		"what is held stays although the pool is another by now": {
			in:   alloc.Input{Estate: estate(ipsec("a")), Ledgers: []alloc.Ledger{had("a", "100.80.7.0/24")}},
			want: map[string]string{"a": "100.80.7.0/24"},
		},
		"the range of an owner without a manifest stays taken": {
			in:   alloc.Input{Estate: estate(ipsec("a")), Ledgers: []alloc.Ledger{had("gone", "100.64.0.0/24")}},
			want: map[string]string{"a": "100.64.1.0/24"},
		},
		"claims of any size keep every range that they touch": {
			in: alloc.Input{Estate: estate(ipsec("a")), Claims: []alloc.Claim{
				{Prefix: prefix("100.64.0.0/23"), By: "transit subnet"},
				{Prefix: prefix("100.64.2.17/32"), By: "route"},
				{Prefix: prefix("100.64.3.0/24"), By: "estate other"},
				{Prefix: prefix("fd00::/8"), By: "route"},
			}},
			want: map[string]string{"a": "100.64.4.0/24"},
		},
		"another estate's ledger is a claim": {
			in: alloc.Input{Estate: estate(ipsec("a")), Ledgers: []alloc.Ledger{
				had("a", "100.64.0.0/24", func(l *alloc.Ledger) { l.Estate = "test" }),
			}},
			want: map[string]string{"a": "100.64.1.0/24"},
		},
		"a pin reserves its range before any automatic choice": {
			in:   alloc.Input{Estate: estate(ipsec("a"), ipsec("z", cidr("100.64.0.0/24")))},
			want: map[string]string{"a": "100.64.1.0/24", "z": "100.64.0.0/24"},
		},
		"a pin outside the pool is honoured": {
			in:   alloc.Input{Estate: estate(ipsec("a", cidr("10.9.9.0/24")))},
			want: map[string]string{"a": "10.9.9.0/24"},
		},
		"a changed pin is a move, and octets stay": {
			in: alloc.Input{
				Estate:  estate(wireguard("a", cidr("10.9.9.0/24"), exposure("web", ""), warrior("ina", ""))),
				Ledgers: []alloc.Ledger{had("a", "100.64.0.0/24", vips(map[string]byte{"web": 77}), addresses(map[string]byte{"ina": 193}))},
			},
			want: map[string]string{"a": "10.9.9.0/24 ina:193 web:77"},
		},
		"a pin removed leaves the range": {
			in:   alloc.Input{Estate: estate(ipsec("a")), Ledgers: []alloc.Ledger{had("a", "10.9.9.0/24")}},
			want: map[string]string{"a": "10.9.9.0/24"},
		},
		"a range pinned that another gateway holds is refused, and the holder keeps it": {
			in:       alloc.Input{Estate: estate(ipsec("a"), ipsec("b", cidr("100.64.5.0/24"))), Ledgers: []alloc.Ledger{had("a", "100.64.5.0/24")}},
			want:     map[string]string{"a": "100.64.5.0/24"},
			problems: []string{"b: service CIDR 100.64.5.0/24 is pinned, but VPNGateway/acme/a holds it"},
		},
		"a range that a gateway still moves from is no automatic choice": {
			in:   alloc.Input{Estate: estate(ipsec("a"), ipsec("b")), Ledgers: []alloc.Ledger{had("a", "100.64.5.0/24", movingFrom("100.64.0.0/24"))}},
			want: map[string]string{"a": "100.64.5.0/24", "b": "100.64.1.0/24"},
		},
		"and can't be pinned by another, but by itself": {
			in: alloc.Input{Estate: estate(ipsec("a", cidr("100.64.0.0/24")), ipsec("b", cidr("100.64.1.0/24"))), Ledgers: []alloc.Ledger{
				had("a", "100.64.5.0/24", movingFrom("100.64.0.0/24", "100.64.1.0/24"))}},
			want:     map[string]string{"a": "100.64.0.0/24"},
			problems: []string{"b: service CIDR 100.64.1.0/24 is pinned, but VPNGateway/acme/a has not moved away from it yet"},
		},
		"a range that a gateway of another estate moves from is a claim": {
			in: alloc.Input{Estate: estate(ipsec("a")), Ledgers: []alloc.Ledger{
				had("a", "100.64.1.0/24", movingFrom("100.64.0.0/24"), func(l *alloc.Ledger) { l.Estate = "test" })}},
			want: map[string]string{"a": "100.64.2.0/24"},
		},
		"a range pinned twice is refused for both": {
			in: alloc.Input{Estate: estate(ipsec("a", cidr("100.64.5.0/24")), ipsec("b", cidr("100.64.5.0/24")))},
			problems: []string{
				"a: service CIDR 100.64.5.0/24 is pinned, but VPNGateway/acme/b pins it too",
				"b: service CIDR 100.64.5.0/24 is pinned, but VPNGateway/acme/a pins it too",
			},
		},
		"a range pinned twice stays with the one that holds it": {
			in: alloc.Input{
				Estate:  estate(ipsec("a", cidr("100.64.5.0/24")), ipsec("b", cidr("100.64.5.0/24"))),
				Ledgers: []alloc.Ledger{had("b", "100.64.5.0/24")},
			},
			want:     map[string]string{"b": "100.64.5.0/24"},
			problems: []string{"a: service CIDR 100.64.5.0/24 is pinned, but VPNGateway/acme/b pins it too"},
		},
		"a pin on a claim names the claim": {
			in: alloc.Input{
				Estate: estate(ipsec("a", cidr("100.64.5.0/24"))),
				Claims: []alloc.Claim{{Prefix: prefix("100.64.4.0/22"), By: "transit subnet vpn-transit"}},
			},
			problems: []string{"a: service CIDR 100.64.5.0/24 is pinned, but overlaps 100.64.4.0/22: transit subnet vpn-transit"},
		},
		"of a gateway that leaves its ledger counts, not what its manifest still says": {
			in: alloc.Input{
				Estate:  estate(ipsec("b", cidr("100.64.5.0/24")), ipsec("c")),
				Ledgers: []alloc.Ledger{had("a", "100.64.5.0/24")}, Released: []vpn.Owner{owner("a")},
				Claims: []alloc.Claim{
					{Prefix: prefix("100.64.5.0/24"), By: "VPNGateway acme/a", Owner: owner("a")},
					{Prefix: prefix("100.64.0.0/24"), By: "VPNGateway acme/z", Owner: owner("z")},
				},
			},
			want: map[string]string{"b": "100.64.5.0/24", "c": "100.64.1.0/24"},
		},
		"a pin on what the gateway holds, but an older one too, is refused": {
			in: alloc.Input{
				Estate:  estate(ipsec("a", cidr("100.64.0.0/24")), ipsec("b")),
				Ledgers: []alloc.Ledger{had("a", "100.64.0.0/24", created(2)), had("b", "100.64.0.0/24", created(1))},
			},
			want:     map[string]string{"b": "100.64.0.0/24"},
			problems: []string{"a: service CIDR 100.64.0.0/24 is pinned, but VPNGateway/acme/b holds it"},
		},
		"a range of an owner without a manifest can be pinned once it is released": {
			in: alloc.Input{
				Estate:   estate(ipsec("a", cidr("100.64.5.0/24"))),
				Ledgers:  []alloc.Ledger{had("gone", "100.64.5.0/24")},
				Released: []vpn.Owner{owner("gone")},
			},
			want: map[string]string{"a": "100.64.5.0/24"},
		},
		"and not before": {
			in: alloc.Input{
				Estate:  estate(ipsec("a", cidr("100.64.5.0/24"))),
				Ledgers: []alloc.Ledger{had("gone", "100.64.5.0/24")},
			},
			problems: []string{"a: service CIDR 100.64.5.0/24 is pinned, but VPNGateway/acme/gone holds it, of which no manifest was read"},
		},
		"a released range is no automatic choice": {
			in: alloc.Input{
				Estate:   estate(ipsec("a")),
				Ledgers:  []alloc.Ledger{had("gone", "100.64.0.0/24")},
				Released: []vpn.Owner{owner("gone")},
			},
			want: map[string]string{"a": "100.64.1.0/24"},
		},
		"of two that hold one range the younger chooses anew while nothing was applied": {
			in: alloc.Input{
				Estate:  estate(ipsec("a"), ipsec("b")),
				Ledgers: []alloc.Ledger{had("a", "100.64.0.0/24", created(2)), had("b", "100.64.0.0/24", created(1))},
			},
			want: map[string]string{"a": "100.64.1.0/24", "b": "100.64.0.0/24"},
		},
		"of two that hold one range the one with which it was applied keeps it, also if it is younger": {
			in: alloc.Input{
				Estate:  estate(ipsec("a"), ipsec("b")),
				Ledgers: []alloc.Ledger{had("a", "100.64.0.0/24", created(2), appliedOnce), had("b", "100.64.0.0/24", created(1))},
			},
			want: map[string]string{"a": "100.64.0.0/24", "b": "100.64.1.0/24"},
		},
		"and if the other one's manifest is not known here": {
			in: alloc.Input{
				Estate:  estate(ipsec("a")),
				Ledgers: []alloc.Ledger{had("a", "100.64.0.0/24", created(2), appliedOnce), had("b", "100.64.0.0/24", created(1))},
			},
			want: map[string]string{"a": "100.64.0.0/24"},
		},
		"one that drains, or moves away, has the range still": {
			in: alloc.Input{
				Estate: estate(ipsec("a"), ipsec("c")),
				Ledgers: []alloc.Ledger{had("a", "100.64.0.0/24", created(1)), had("c", "100.64.2.0/24", created(1)),
					had("gone", "100.64.0.0/24", created(2), func(l *alloc.Ledger) { l.Draining = time.Unix(9, 0) }),
					had("moves", "100.64.7.0/24", created(2), movingFrom("100.64.2.0/24"))},
			},
			want: map[string]string{"a": "100.64.1.0/24", "c": "100.64.3.0/24"},
		},
		"of two that hold one range and were both applied the younger is refused": {
			in: alloc.Input{
				Estate:  estate(ipsec("a"), ipsec("b")),
				Ledgers: []alloc.Ledger{had("a", "100.64.0.0/24", created(2), appliedOnce), had("b", "100.64.0.0/24", created(1), appliedOnce)},
			},
			want:     map[string]string{"b": "100.64.0.0/24"},
			problems: []string{"a: service CIDR 100.64.0.0/24 is held by VPNGateway/acme/b too, which is older"},
		},
		"of two groups of one owner the older counts": {
			in: alloc.Input{
				Estate:  estate(ipsec("a")),
				Ledgers: []alloc.Ledger{had("a", "100.64.3.0/24", created(2)), had("a", "100.64.4.0/24", created(1))},
			},
			want: map[string]string{"a": "100.64.4.0/24"},
		},
		"no range is chosen while a ledger is not known, but what is held or pinned stays": {
			in: alloc.Input{
				Estate: estate(ipsec("a", exposure("web", "")), ipsec("b", cidr("100.64.9.0/24")), ipsec("c"), wireguard("d", road("100.64.8.128/26")), ipsec("e")),
				Ledgers: []alloc.Ledger{had("a", "100.64.5.0/24"),
					had("c", "100.64.5.0/24", created(2))},
				Unknown: []string{"the ledger of VPNGateway/acme/z can't be read", "the ledger of VPNGateway/acme/y can't be read"},
			},
			want: map[string]string{"a": "100.64.5.0/24 web:10", "b": "100.64.9.0/24", "d": "100.64.8.0/24"},
			problems: []string{
				"c: an address range can't be chosen while the ledger of VPNGateway/acme/y can't be read (and 1 more like it)",
				"e: an address range can't be chosen while the ledger of VPNGateway/acme/y can't be read (and 1 more like it)",
			},
		},
		"exhaustion names the pool and its figures": {
			in: alloc.Input{Estate: small(ipsec("a"), ipsec("b")), Ledgers: []alloc.Ledger{had("a", "100.64.1.0/24"), had("gone", "10.9.9.0/24")},
				Claims: []alloc.Claim{{Prefix: prefix("100.64.0.0/24"), By: "route"}}},
			want:     map[string]string{"a": "100.64.1.0/24"},
			problems: []string{"b: service CIDRs 100.64.0.0/23: 2 of 2 taken, 1 of them by this estate's gateways"},
		},
		"and counts the gateways of the same plan": {
			in:       alloc.Input{Estate: small(ipsec("a"), ipsec("b"), ipsec("c"))},
			want:     map[string]string{"a": "100.64.0.0/24", "b": "100.64.1.0/24"},
			problems: []string{"c: service CIDRs 100.64.0.0/23: 2 of 2 taken, 2 of them by this estate's gateways"},
		},
		"a changed protocol is refused": {
			in: alloc.Input{Estate: estate(ipsec("a")), Ledgers: []alloc.Ledger{
				had("a", "100.64.0.0/24", func(l *alloc.Ledger) { l.Protocol = vpn.WireGuard }),
			}},
			problems: []string{"a: protocol is ipsec, but the gateway was made for wireguard and can't change"},
		},
		"a range for road warriors chooses the service CIDR around it": {
			in:   alloc.Input{Estate: estate(wireguard("a", road("100.64.9.128/26"), warrior("ina", "")))},
			want: map[string]string{"a": "100.64.9.0/24 ina:191"},
		},
		"a range for road warriors outside the pinned service CIDR is refused": {
			in:       alloc.Input{Estate: estate(wireguard("a", cidr("100.64.8.0/24"), road("100.64.9.128/26")))},
			problems: []string{"a: roadWarriorCIDR 100.64.9.128/26 lies outside the service CIDR 100.64.8.0/24"},
		},
		"a range for road warriors wider than a service CIDR is refused": {
			in:       alloc.Input{Estate: estate(wireguard("a", road("100.64.8.0/23")))},
			problems: []string{"a: roadWarriorCIDR 100.64.8.0/23 lies outside the service CIDR 100.64.0.0/24"},
		},
	})
}

func TestAnExhaustedPoolSaysWhatHelps(t *testing.T) {
	for sentence, c := range map[string]struct {
		claims []alloc.Claim
		want   string
	}{
		"where ledgers have used it up": {
			[]alloc.Claim{{Prefix: prefix("100.64.0.0/24"), By: "route"}, {Prefix: prefix("100.64.1.0/24"), By: "route"}},
			"widen serviceCIDRPool, or pin a serviceCIDR outside it",
		},
		"where one claim takes all of it": {
			[]alloc.Claim{{Prefix: prefix("100.64.0.0/10"), By: "transit subnet"}, {Prefix: prefix("100.64.0.0/24"), By: "route"}},
			"100.64.0.0/10 takes it all: transit subnet",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			e := estate(ipsec("a"))
			e.ServiceCIDRPool = prefix("100.64.0.0/23")
			_, problems := alloc.Assign(alloc.Input{Estate: e, Claims: c.claims})
			if len(problems) != 1 || problems[0].Hint != c.want {
				t.Errorf("problems %v, want one with the hint %q", problems, c.want)
			}
		})
	}
}
