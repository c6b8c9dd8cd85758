package alloc_test

import (
	"testing"

	ipsecv1alpha1 "github.com/vpnctl/vpnctl/crds/ipsec/v1alpha1"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/alloc"
)

func TestTwoOfAKind(t *testing.T) {
	one, other := func(l *alloc.LinkLedger) { l.Ref = "sg-1" }, func(l *alloc.LinkLedger) { l.Ref = "sg-2" }
	runLegs(t, map[string]legCase{
		"of two ledgers of one link the older counts, and both addresses are taken": {
			in:      links(aLink("a"), aLink("b")),
			ledgers: []alloc.LinkLedger{linked("a", "10.0.0.3", other, since(2)), linked("a", "10.0.0.4", one, since(1))},
			want:    map[string]string{"a": "10.0.0.4", "b": "10.0.0.5"},
		},
		"of two links with one address the older keeps it": {
			in:      links(aLink("a"), aLink("b")),
			ledgers: []alloc.LinkLedger{linked("a", "10.0.0.3", since(2)), linked("b", "10.0.0.3", since(1))},
			want:    map[string]string{"a": "10.0.0.4", "b": "10.0.0.3"},
		},
		"or the one whose port stands there": {
			in:      links(aLink("a"), aLink("b")),
			ledgers: []alloc.LinkLedger{linked("a", "10.0.0.3", since(2)), linked("b", "10.0.0.3", since(1))},
			ports:   []alloc.Occupant{legOf("a", "10.0.0.3", "r-a")},
			want:    map[string]string{"a": "10.0.0.3", "b": "10.0.0.4"},
		},
		"or the one that was applied with it": {
			in:      links(aLink("a"), aLink("b")),
			ledgers: []alloc.LinkLedger{linked("a", "10.0.0.3", since(2), reached), linked("b", "10.0.0.3", since(1))},
			want:    map[string]string{"a": "10.0.0.3", "b": "10.0.0.4"},
		},
		"of two links with one port on record it is the older's": {
			in: links(aLink("a"), aLink("b")),
			ledgers: []alloc.LinkLedger{
				linked("a", "10.0.0.9", since(2), reached, legIs("p-10.0.0.9")), linked("b", "10.0.0.8", since(1), reached, legIs("p-10.0.0.9")),
			},
			ports:    []alloc.Occupant{port("10.0.0.9", "")},
			want:     map[string]string{"b": "10.0.0.8"},
			problems: []string{`a: transit IP 10.0.0.9 is the link's, but port "10.0.0.9" has it`},
		},
		"of two links of other estates with one address the first is named": {
			in: links(aLink("a", pinnedAt("10.0.0.9"))),
			ledgers: []alloc.LinkLedger{
				linked("y", "10.0.0.9", func(l *alloc.LinkLedger) { l.Estate = "other" }), linked("x", "10.0.0.9", func(l *alloc.LinkLedger) { l.Estate = "other" }),
			},
			problems: []string{"a: transit IP 10.0.0.9 is pinned, but ClusterLink/x of estate other holds it"},
		},
		"both applied, one must be moved": {
			in:       links(aLink("a"), aLink("b")),
			ledgers:  []alloc.LinkLedger{linked("a", "10.0.0.3", since(2), reached), linked("b", "10.0.0.3", since(1), reached)},
			want:     map[string]string{"b": "10.0.0.3"},
			problems: []string{"a: transit IP 10.0.0.3 is the link's, but ClusterLink/b holds it"},
		},
		"two links of one router: the first by name, when both are new": {
			in:       links(aLink("a", router("r")), aLink("b", router("r"))),
			want:     map[string]string{"a": "10.0.0.3"},
			problems: []string{"b: spec.serviceClusterRouter r is the router of ClusterLink/a too, and a router has one leg on the transit network"},
		},
		"two links of one router: the one that was there": {
			in:       links(aLink("a", router("r")), aLink("b", router("r"), into("c0ffee"))),
			ledgers:  []alloc.LinkLedger{linked("b", "", customer("c0ffee"))},
			want:     map[string]string{"b": "into c0ffee"},
			problems: []string{"a: spec.serviceClusterRouter r is the router of ClusterLink/b too, and a router has one leg on the transit network"},
		},
		"two links of one router: the older": {
			in:       links(aLink("a", router("r")), aLink("b", router("r"))),
			ledgers:  []alloc.LinkLedger{linked("a", "10.0.0.3", since(2)), linked("b", "10.0.0.4", since(1))},
			want:     map[string]string{"b": "10.0.0.4"},
			problems: []string{"a: spec.serviceClusterRouter r is the router of ClusterLink/b too, and a router has one leg on the transit network"},
		},
		"two links of one router: the one whose leg is on it, whatever the other was before": {
			in:       links(aLink("a", router("r")), aLink("b", router("r"))),
			ledgers:  []alloc.LinkLedger{linked("a", "10.0.0.3", since(1), reached), linked("b", "10.0.0.4", since(2), reached)},
			ports:    []alloc.Occupant{legOf("a", "10.0.0.3", "r-before"), legOf("b", "10.0.0.4", "r")},
			want:     map[string]string{"b": "10.0.0.4"},
			problems: []string{"a: spec.serviceClusterRouter r is the router of ClusterLink/b too, and a router has one leg on the transit network"},
		},
	})
}

func TestWhatALinkCantBecome(t *testing.T) {
	runLegs(t, map[string]legCase{
		"one to another network": {
			in:       links(aLink("a", network("10.41.0.0/16"))),
			ledgers:  []alloc.LinkLedger{linked("a", "10.0.0.3")},
			problems: []string{"a: spec.serviceClusterCIDR is 10.41.0.0/16, but the link was made for 10.40.0.0/16, and can't change"},
		},
		"one into a customer's project, or out of it, or into another": {
			in:      links(aLink("a", into("c0ffee")), aLink("b"), aLink("c", into("cafe"))),
			ledgers: []alloc.LinkLedger{linked("a", "10.0.0.3"), linked("b", "", customer("c0ffee")), linked("c", "", customer("c0ffee"))},
			problems: []string{
				"a: spec.customerProjectID is c0ffee, but the link was made for our own project, and can't change",
				"b: spec.customerProjectID is empty, but the link was made for c0ffee, and can't change",
				"c: spec.customerProjectID is cafe, but the link was made for c0ffee, and can't change",
			},
		},
		"both at once are said at once": {
			in:      links(aLink("a", network("10.41.0.0/16"), pinnedAt("10.0.0.255"))),
			ledgers: []alloc.LinkLedger{linked("a", "10.0.0.3")},
			problems: []string{
				"a: spec.serviceClusterCIDR is 10.41.0.0/16, but the link was made for 10.40.0.0/16, and can't change",
				"a: transit IP 10.0.0.255 is pinned, but it is the broadcast address of 10.0.0.0/24, the transit subnet",
			},
		},
		"one whose customer fits no tag": {
			in:       links(aLink("a", into("a,b"))),
			problems: []string{`a: spec.customerProjectID "a,b" can't be recorded: at most 64 letters, digits, dots, dashes and underscores`},
		},
		"a group on which nothing was written decides nothing": {
			in:      links(aLink("a", into("c0ffee"))),
			ledgers: []alloc.LinkLedger{{Estate: "prod", Owner: linkOwner("a"), Ref: "sg-a"}},
			want:    map[string]string{"a": "into c0ffee"},
		},
		"and one of which only the address can be read gives that away": {
			in:      links(aLink("a", into("c0ffee")), aLink("b")),
			ledgers: []alloc.LinkLedger{{Estate: "prod", Owner: linkOwner("a"), TransitIP: addr("10.0.0.9")}, {Estate: "prod", Owner: linkOwner("b"), TransitIP: addr("10.0.0.8")}},
			want:    map[string]string{"a": "into c0ffee", "b": "10.0.0.8"},
		},
	})
}

func TestReasonsOfLegs(t *testing.T) {
	full := links(aLink("a"))
	full.Subnet = prefix("10.0.0.0/30")
	for sentence, c := range map[string]struct {
		in   alloc.LegInput
		was  []alloc.LinkLedger
		port []alloc.Occupant
		want string
	}{
		"a subnet that is full":   {full, nil, nil, ipsecv1alpha1.ReasonAllocation},
		"a pin that can't be":     {links(aLink("a", pinnedAt("10.0.0.1"))), nil, nil, ipsecv1alpha1.ReasonTransitLegPort},
		"a router with a leg":     {links(aLink("a")), nil, []alloc.Occupant{marked("10.0.0.9", "r-a")}, ipsecv1alpha1.ReasonRouterHasPort},
		"a router of another":     {links(aLink("0"), aLink("a", router("r-0"))), nil, nil, ipsecv1alpha1.ReasonRouterHasPort},
		"a link of another shape": {links(aLink("a", into("c0ffee"))), []alloc.LinkLedger{linked("a", "10.0.0.3")}, nil, vpnv1alpha1.ReasonInvalidSpec},
	} {
		t.Run(sentence, func(t *testing.T) {
			c.in.Ledgers, c.in.Occupants = c.was, c.port
			_, problems := alloc.AssignLegs(c.in)
			if len(problems) != 1 || problems[0].Reason != c.want || problems[0].Owner != linkOwner("a") || problems[0].Hint == "" {
				t.Errorf("problems %+v, want one with reason %s and a hint", problems, c.want)
			}
		})
	}
}
