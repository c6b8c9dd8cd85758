package alloc_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

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
		"not so one that bears another estate's marks since": {
			in:       links(aLink("a")),
			ledgers:  []alloc.LinkLedger{linked("a", "10.0.0.9", reached, legIs("p-10.0.0.9"))},
			ports:    []alloc.Occupant{marked("10.0.0.9", "r-a")},
			problems: []string{"a: transit IP 10.0.0.9 is the link's, but ClusterLink/x of estate other has it"},
		},
		"a leg on another subnet of the transit network has no address of it": {
			in:    links(aLink("a")),
			ports: []alloc.Occupant{legOf("a", "10.9.0.3", "r-a")},
			want:  map[string]string{"a": "10.0.0.3"},
		},
		"what a ledger holds stays, whatever a link of another estate has written down": {
			in:      links(aLink("a")),
			ledgers: []alloc.LinkLedger{linked("a", "10.0.0.3"), linked("x", "10.0.0.3", func(l *alloc.LinkLedger) { l.Estate = "other" })},
			want:    map[string]string{"a": "10.0.0.3"},
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
		"of two of those with one address, the one whose leg stands there": {
			in:      links(aLink("a"), aLink("b")),
			ledgers: []alloc.LinkLedger{linked("a", "10.0.0.9", reached, since(2)), linked("b", "10.0.0.9", reached, since(1))},
			ports:   []alloc.Occupant{legOf("a", "10.0.0.9", "r-a")},
			more:    func(in *alloc.LegInput) { clear(in.Routers) },
			want:    map[string]string{"a": "10.0.0.9"},
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
