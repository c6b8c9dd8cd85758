package alloc_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

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
				"d: transit IP fd00::5 is pinned, but it is not an IPv4 address",
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

func TestASubnetWithoutIPv4AddressesTakesNoPin(t *testing.T) {
	in := links(aLink("a", pinnedAt("fd00::5")))
	in.Subnet = prefix("fd00::/64")
	_, problems := alloc.AssignLegs(in)
	if diff := cmp.Diff([]string{"a: transit IP fd00::5 is pinned, but it is not an IPv4 address"}, messages(problems)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}
