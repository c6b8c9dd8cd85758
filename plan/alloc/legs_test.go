package alloc_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	ipsecv1alpha1 "github.com/vpnctl/vpnctl/crds/ipsec/v1alpha1"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

func TestWhereALegGoes(t *testing.T) {
	runLegs(t, map[string]legCase{
		"the lowest that is free, from .3 up": {
			in:   links(aLink("b"), aLink("a")),
			want: map[string]string{"a": "10.0.0.3", "b": "10.0.0.4"},
		},
		"ports, reserved addresses, ledgers and pins are passed over": {
			in:      links(aLink("new"), aLink("pinned", pinnedAt("10.0.0.6")), aLink("old")),
			ledgers: []alloc.LinkLedger{linked("old", "10.0.0.5"), linked("gone", "10.0.0.7")},
			ports:   []alloc.Occupant{port("10.0.0.3", "")},
			more:    func(in *alloc.LegInput) { in.Reserved[addr("10.0.0.4")] = "the address of the estate's lock" },
			want:    map[string]string{"new": "10.0.0.8", "pinned": "10.0.0.6", "old": "10.0.0.5"},
		},
		"so is the address that a released link still has": {
			in:      links(aLink("new")),
			ledgers: []alloc.LinkLedger{linked("gone", "10.0.0.3")},
			gone:    []vpn.Owner{linkOwner("gone")},
			want:    map[string]string{"new": "10.0.0.4"},
		},
		"and one that a link of another estate has written down": {
			in:      links(aLink("new")),
			ledgers: []alloc.LinkLedger{linked("x", "10.0.0.3", func(l *alloc.LinkLedger) { l.Estate = "other" })},
			want:    map[string]string{"new": "10.0.0.4"},
		},
		"what a ledger holds stays, also when lower ones are free": {
			in:      links(aLink("a"), aLink("b")),
			ledgers: []alloc.LinkLedger{linked("b", "10.0.0.9", reached)},
			want:    map[string]string{"a": "10.0.0.3", "b": "10.0.0.9"},
		},
		"a leg whose ledger was lost keeps its place": {
			in:    links(aLink("a")),
			ports: []alloc.Occupant{legOf("a", "10.0.0.9", "r-a"), port("10.0.0.8", "r-a")},
			want:  map[string]string{"a": "10.0.0.9"},
		},
		"a create that was cut off keeps its place too": {
			in:      links(aLink("a")),
			ledgers: []alloc.LinkLedger{linked("a", "10.0.0.3")},
			ports:   []alloc.Occupant{{Address: addr("10.0.0.3"), Port: "p-1", By: `port "vpnctl-a"`, Owner: linkOwner("a")}},
			want:    map[string]string{"a": "10.0.0.3"},
		},
		"a leg that lost its marks is known by its ID": {
			in:      links(aLink("a")),
			ledgers: []alloc.LinkLedger{linked("a", "10.0.0.9", reached, legIs("p-10.0.0.9"))},
			ports:   []alloc.Occupant{port("10.0.0.9", "")},
			want:    map[string]string{"a": "10.0.0.9"},
		},
		"a link into a customer's project has no address of ours": {
			in:      links(aLink("a", into("c0ffee")), aLink("b")),
			ledgers: []alloc.LinkLedger{linked("a", "", customer("c0ffee"))},
			want:    map[string]string{"a": "into c0ffee", "b": "10.0.0.3"},
		},
		"a link whose router wasn't found keeps what it has and gets nothing new": {
			in:      links(aLink("new"), aLink("old", pinnedAt("10.0.0.7"))),
			ledgers: []alloc.LinkLedger{linked("old", "10.0.0.9", tookOver("p-1"))},
			more:    func(in *alloc.LegInput) { clear(in.Routers) },
			want:    map[string]string{"old": "10.0.0.9 takes over p-1"},
		},
		"an address that was lost before anything was made of it is chosen anew": {
			in:      links(aLink("a")),
			ledgers: []alloc.LinkLedger{linked("a", "10.0.0.3")},
			ports:   []alloc.Occupant{port("10.0.0.3", "")},
			want:    map[string]string{"a": "10.0.0.4"},
		},
		"so is one that the lock has since": {
			in:      links(aLink("a")),
			ledgers: []alloc.LinkLedger{linked("a", "10.0.0.254")},
			want:    map[string]string{"a": "10.0.0.3"},
		},
		"so is one of another transit network": {
			in:      links(aLink("a")),
			ledgers: []alloc.LinkLedger{linked("a", "10.9.0.3")},
			want:    map[string]string{"a": "10.0.0.3"},
		},
		"an address that was in use is not": {
			in:      links(aLink("a"), aLink("b"), aLink("c")),
			ledgers: []alloc.LinkLedger{linked("a", "10.0.0.3", reached), linked("b", "10.0.0.254", reached), linked("c", "10.9.0.3", reached)},
			ports:   []alloc.Occupant{marked("10.0.0.3", "")},
			problems: []string{
				"a: transit IP 10.0.0.3 is the link's, but ClusterLink/x of estate other has it",
				"b: transit IP 10.0.0.254 is the link's, but it is the address of the estate's lock",
				"c: transit IP 10.9.0.3 is the link's, but it lies outside of 10.0.0.0/24, the transit subnet",
			},
		},
		"a leg that stands where the lock wants to be stays": {
			in:      links(aLink("a")),
			ledgers: []alloc.LinkLedger{linked("a", "10.0.0.254", reached)},
			ports:   []alloc.Occupant{legOf("a", "10.0.0.254", "r-a")},
			want:    map[string]string{"a": "10.0.0.254"},
		},
	})
}

func TestPinsOfLegs(t *testing.T) {
	runLegs(t, map[string]legCase{
		"a pin is honoured, also below .3": {
			in:   links(aLink("a", pinnedAt("10.0.0.2"))),
			want: map[string]string{"a": "10.0.0.2"},
		},
		"a pin that differs from the ledger is a move, and leaves the adopted leg": {
			in:      links(aLink("a", pinnedAt("10.0.0.7"))),
			ledgers: []alloc.LinkLedger{linked("a", "10.0.0.9", reached, tookOver("p-10.0.0.9"))},
			ports:   []alloc.Occupant{legOf("a", "10.0.0.9", "r-a")},
			want:    map[string]string{"a": "10.0.0.7"},
		},
		"a pin on the address that is held changes nothing": {
			in:      links(aLink("a", pinnedAt("10.0.0.9"))),
			ledgers: []alloc.LinkLedger{linked("a", "10.0.0.9", reached, tookOver("p-10.0.0.9"))},
			ports:   []alloc.Occupant{legOf("a", "10.0.0.9", "r-a")},
			want:    map[string]string{"a": "10.0.0.9 takes over p-10.0.0.9"},
		},
		"a pin must be a host of the subnet": {
			in: links(aLink("a", pinnedAt("10.0.1.5")), aLink("b", pinnedAt("10.0.0.0")), aLink("c", pinnedAt("10.0.0.255")), aLink("d", pinnedAt("fd00::5"))),
			problems: []string{
				"a: transit IP 10.0.1.5 is pinned, but it lies outside of 10.0.0.0/24, the transit subnet",
				"b: transit IP 10.0.0.0 is pinned, but it is the network address of 10.0.0.0/24, the transit subnet",
				"c: transit IP 10.0.0.255 is pinned, but it is the broadcast address of 10.0.0.0/24, the transit subnet",
				"d: transit IP fd00::5 is pinned, but it lies outside of 10.0.0.0/24, the transit subnet",
			},
		},
		"a pin on a reserved address says what that is for": {
			in:       links(aLink("a", pinnedAt("10.0.0.1"))),
			ports:    []alloc.Occupant{port("10.0.0.1", "r-a")},
			problems: []string{"a: transit IP 10.0.0.1 is pinned, but it is the subnet's gateway"},
		},
		"a pin on somebody's port says whose": {
			in: links(aLink("a", pinnedAt("10.0.0.5")), aLink("b", pinnedAt("10.0.0.6")), aLink("c", pinnedAt("10.0.0.7"))),
			ports: []alloc.Occupant{
				port("10.0.0.5", ""), port("10.0.0.6", "r-other"), marked("10.0.0.7", "r-c"),
			},
			problems: []string{
				`a: transit IP 10.0.0.5 is pinned, but port "10.0.0.5" has it`,
				`b: transit IP 10.0.0.6 is pinned, but port "10.0.0.6" has it`,
				"c: transit IP 10.0.0.7 is pinned, but ClusterLink/x of estate other has it",
			},
		},
		"one address pinned by two": {
			in: links(aLink("a", pinnedAt("10.0.0.5")), aLink("b", pinnedAt("10.0.0.5"))),
			problems: []string{
				"a: transit IP 10.0.0.5 is pinned, but ClusterLink/b pins it too",
				"b: transit IP 10.0.0.5 is pinned, but ClusterLink/a pins it too",
			},
		},
		"one address pinned by two of which one has it": {
			in:       links(aLink("a", pinnedAt("10.0.0.5")), aLink("b", pinnedAt("10.0.0.5"))),
			ledgers:  []alloc.LinkLedger{linked("b", "10.0.0.5")},
			want:     map[string]string{"b": "10.0.0.5"},
			problems: []string{"a: transit IP 10.0.0.5 is pinned, but ClusterLink/b pins it too"},
		},
		"an address that another link holds": {
			in:      links(aLink("a", pinnedAt("10.0.0.5")), aLink("b"), aLink("c", pinnedAt("10.0.0.6")), aLink("d", pinnedAt("10.0.0.7"))),
			ledgers: []alloc.LinkLedger{linked("b", "10.0.0.5"), linked("gone", "10.0.0.6"), linked("x", "10.0.0.7", func(l *alloc.LinkLedger) { l.Estate = "other" })},
			want:    map[string]string{"b": "10.0.0.5"},
			problems: []string{
				"a: transit IP 10.0.0.5 is pinned, but ClusterLink/b holds it",
				"c: transit IP 10.0.0.6 is pinned, but ClusterLink/gone holds it, of which no manifest was read",
				"d: transit IP 10.0.0.7 is pinned, but ClusterLink/x of estate other holds it",
			},
		},
		"an address whose link is released": {
			in:      links(aLink("a", pinnedAt("10.0.0.6"))),
			ledgers: []alloc.LinkLedger{linked("gone", "10.0.0.6", reached)},
			ports:   []alloc.Occupant{legOf("gone", "10.0.0.6", "r-gone")},
			gone:    []vpn.Owner{linkOwner("gone")},
			want:    map[string]string{"a": "10.0.0.6"},
		},
		"an address that a released link and a living one hold is the living one's": {
			in:       links(aLink("a", pinnedAt("10.0.0.6")), aLink("b")),
			ledgers:  []alloc.LinkLedger{linked("gone", "10.0.0.6", reached), linked("b", "10.0.0.6")},
			ports:    []alloc.Occupant{legOf("gone", "10.0.0.6", "r-gone")},
			gone:     []vpn.Owner{linkOwner("gone")},
			want:     map[string]string{"b": "10.0.0.6"},
			problems: []string{"a: transit IP 10.0.0.6 is pinned, but ClusterLink/b holds it"},
		},
	})
}

func TestLegsThatAreTakenOver(t *testing.T) {
	runLegs(t, map[string]legCase{
		"a leg on the link's router": {
			in:    links(aLink("a")),
			ports: []alloc.Occupant{port("10.0.0.9", "r-a"), port("10.0.0.8", "r-b")},
			want:  map[string]string{"a": "10.0.0.9 takes over p-10.0.0.9"},
		},
		"of several the lowest": {
			in:    links(aLink("a")),
			ports: []alloc.Occupant{port("10.0.0.9", "r-a"), port("10.0.0.10", "r-a")},
			want:  map[string]string{"a": "10.0.0.9 takes over p-10.0.0.9"},
		},
		"or the one that is pinned": {
			in:    links(aLink("a", pinnedAt("10.0.0.10"))),
			ports: []alloc.Occupant{port("10.0.0.9", "r-a"), port("10.0.0.10", "r-a")},
			want:  map[string]string{"a": "10.0.0.10 takes over p-10.0.0.10"},
		},
		"one at the address that was chosen before": {
			in:      links(aLink("a")),
			ledgers: []alloc.LinkLedger{linked("a", "10.0.0.9")},
			ports:   []alloc.Occupant{port("10.0.0.9", "r-a")},
			want:    map[string]string{"a": "10.0.0.9 takes over p-10.0.0.9"},
		},
		"one that a link moves to by a pin": {
			in:      links(aLink("a", pinnedAt("10.0.0.9"))),
			ledgers: []alloc.LinkLedger{linked("a", "10.0.0.4", reached, tookOver("p-10.0.0.4"))},
			ports:   []alloc.Occupant{legOf("a", "10.0.0.4", "r-a"), port("10.0.0.9", "r-a")},
			want:    map[string]string{"a": "10.0.0.9 takes over p-10.0.0.9"},
		},
		"it stays on record once it bears our marks": {
			in:      links(aLink("a")),
			ledgers: []alloc.LinkLedger{linked("a", "10.0.0.9", tookOver("p-10.0.0.9"))},
			ports:   []alloc.Occupant{legOf("a", "10.0.0.9", "r-a")},
			want:    map[string]string{"a": "10.0.0.9 takes over p-10.0.0.9"},
		},
		"and no longer once another stands in its place, or nothing": {
			in:      links(aLink("a"), aLink("b")),
			ledgers: []alloc.LinkLedger{linked("a", "10.0.0.9", reached, tookOver("p-before")), linked("b", "10.0.0.8", reached, tookOver("p-before"))},
			ports:   []alloc.Occupant{legOf("a", "10.0.0.9", "r-a")},
			want:    map[string]string{"a": "10.0.0.9", "b": "10.0.0.8"},
		},
		"none that bears marks, whosever": {
			in:    links(aLink("a"), aLink("b")),
			ports: []alloc.Occupant{marked("10.0.0.9", "r-a"), legOf("gone", "10.0.0.8", "r-b")},
			problems: []string{
				"a: router r-a has a leg at 10.0.0.9 already, ClusterLink/x of estate other, and can't have another one on the transit network",
				"b: router r-b has a leg at 10.0.0.8 already, ClusterLink/gone, and can't have another one on the transit network",
			},
		},
		"none that another link has on record": {
			in:       links(aLink("a")),
			ledgers:  []alloc.LinkLedger{linked("gone", "10.0.0.9", reached, tookOver("p-10.0.0.9"))},
			ports:    []alloc.Occupant{port("10.0.0.9", "r-a")},
			problems: []string{`a: router r-a has a leg at 10.0.0.9 already, port "10.0.0.9", and can't have another one on the transit network`},
		},
		"none on an address that is reserved": {
			in:       links(aLink("a")),
			ports:    []alloc.Occupant{port("10.0.0.1", "r-a")},
			problems: []string{`a: router r-a has a leg at 10.0.0.1 already, port "10.0.0.1", and can't have another one on the transit network`},
		},
		"a pin elsewhere leads nowhere while the router has a leg": {
			in:       links(aLink("a", pinnedAt("10.0.0.7"))),
			ports:    []alloc.Occupant{port("10.0.0.9", "r-a")},
			problems: []string{`a: router r-a has a leg at 10.0.0.9 already, port "10.0.0.9", and can't have another one on the transit network`},
		},
		"unless that is a released link's": {
			in:    links(aLink("a")),
			ports: []alloc.Occupant{legOf("gone", "10.0.0.9", "r-a")},
			gone:  []vpn.Owner{linkOwner("gone")},
			want:  map[string]string{"a": "10.0.0.3"},
		},
	})
}

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
	})
}

// Whatever the size of a subnet: the first link gets its host 3, as many links fit as
// it has hosts from there on, and the next one is refused with the figures.
func TestSubnetsOfAllSizes(t *testing.T) {
	for subnet, c := range map[string]struct {
		hosts       int
		first, last string
		why         string
	}{
		"10.0.0.0/24":   {251, "10.0.0.3", "10.0.0.253", "no address is free in 10.0.0.0/24 for a transit leg: 251 hosts, all taken"},
		"10.0.0.128/26": {59, "10.0.0.131", "10.0.0.189", "no address is free in 10.0.0.128/26 for a transit leg: 59 hosts, all taken"},
		"10.0.0.0/23":   {507, "10.0.0.3", "10.0.1.253", "no address is free in 10.0.0.0/23 for a transit leg: 507 hosts, all taken"},
		"10.0.0.0/29":   {3, "10.0.0.3", "10.0.0.5", "no address is free in 10.0.0.0/29 for a transit leg: 3 hosts, all taken"},
		"10.0.0.0/30":   {0, "", "", "no address is free in 10.0.0.0/30 for a transit leg: it has none from its third host on"},
		"0.0.0.0/32":    {0, "", "", "no address is free in 0.0.0.0/32 for a transit leg: it has none from its third host on"},
		"fd00::/64":     {0, "", "", "no address is free in fd00::/64 for a transit leg: it has none from its third host on"},
	} {
		t.Run(subnet, func(t *testing.T) {
			var all []vpn.Link
			for i := range c.hosts + 1 {
				all = append(all, aLink(fmt.Sprintf("l%04d", i)))
			}
			in := links(all...)
			in.Subnet = prefix(subnet)
			clear(in.Reserved)
			in.Reserved[addr(subnet[:len(subnet)-3])] = "the network's"
			if c.hosts > 0 {
				in.Reserved[addr(c.last).Next()] = "the lock's"
			}
			got, problems := alloc.AssignLegs(in)
			want := []string{fmt.Sprintf("l%04d: %s", c.hosts, c.why)}
			if diff := cmp.Diff(want, messages(problems)); diff != "" || len(got) != c.hosts {
				t.Fatalf("%d ledgers, problems (-want +got):\n%s", len(got), diff)
			}
			if c.hosts > 0 {
				if first, last := got[all[0].Owner].TransitIP, got[all[c.hosts-1].Owner].TransitIP; first != addr(c.first) || last != addr(c.last) {
					t.Errorf("from %s to %s", first, last)
				}
			}
		})
	}
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

func TestWhatWasDoneForALinkStaysOnRecord(t *testing.T) {
	was := linked("a", "10.0.0.9", reached, legIs("p-10.0.0.9"), since(1))
	was.LegAddress, was.Policy, was.Abandoned = addr("10.0.0.9"), "rbac-1", true
	in := links(aLink("a", pinnedAt("10.0.0.7")))
	in.Ledgers, in.Occupants = []alloc.LinkLedger{was}, []alloc.Occupant{legOf("a", "10.0.0.9", "r-a")}
	got, problems := alloc.AssignLegs(in)
	want := was
	want.TransitIP = addr("10.0.0.7")
	if diff := cmp.Diff(map[vpn.Owner]alloc.LinkLedger{linkOwner("a"): want}, got, compare); diff != "" || problems != nil {
		t.Errorf("problems %v, ledgers (-want +got):\n%s", problems, diff)
	}
}
