package alloc_test

import (
	"testing"

	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

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
		"also at an address that another link pins": {
			in:       links(aLink("a"), aLink("b", pinnedAt("10.0.0.9"))),
			ports:    []alloc.Occupant{port("10.0.0.9", "r-a")},
			want:     map[string]string{"a": "10.0.0.9 takes over p-10.0.0.9"},
			problems: []string{`b: transit IP 10.0.0.9 is pinned, but port "10.0.0.9" has it`},
		},
		"not one at an address that another link holds": {
			in:      links(aLink("a"), aLink("b")),
			ledgers: []alloc.LinkLedger{linked("b", "10.0.0.9", reached)},
			ports:   []alloc.Occupant{port("10.0.0.9", "r-a")},
			problems: []string{
				`a: router r-a has a leg at 10.0.0.9 already, port "10.0.0.9", and can't have another one on the transit network`,
				`b: transit IP 10.0.0.9 is the link's, but port "10.0.0.9" has it`,
			},
		},
		"not one that we made and that lost its marks": {
			in:      links(aLink("a")),
			ledgers: []alloc.LinkLedger{linked("a", "10.0.0.9", legIs("p-10.0.0.9"))},
			ports:   []alloc.Occupant{port("10.0.0.9", "r-a")},
			want:    map[string]string{"a": "10.0.0.9"},
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
		"none that is another link's without marks, and the lowest is named": {
			in: links(aLink("a")),
			ports: []alloc.Occupant{
				{Address: addr("10.0.0.7"), Port: "p-7", Router: "r-a", By: "ClusterLink/b", Owner: linkOwner("b")}, marked("10.0.0.9", "r-a"),
			},
			problems: []string{"a: router r-a has a leg at 10.0.0.7 already, ClusterLink/b, and can't have another one on the transit network"},
		},
		"none that another link has on record": {
			in:       links(aLink("a")),
			ledgers:  []alloc.LinkLedger{linked("gone", "10.0.0.9", reached, tookOver("p-10.0.0.9"))},
			ports:    []alloc.Occupant{port("10.0.0.9", "r-a")},
			problems: []string{`a: router r-a has a leg at 10.0.0.9 already, port "10.0.0.9", and can't have another one on the transit network`},
		},
		"nor one that another link, which has moved away from it, has on record": {
			in:       links(aLink("a")),
			ledgers:  []alloc.LinkLedger{linked("gone", "10.0.0.7", reached, legIs("p-10.0.0.9"))},
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

// What to do about a router that has a leg already depends on whose that is.
func TestHintsOnARouterWithALeg(t *testing.T) {
	for sentence, c := range map[string]struct {
		port alloc.Occupant
		want string
	}{
		"a leg made by hand":          {port("10.0.0.9", "r-a"), "pin transitIP 10.0.0.9 to take that leg over"},
		"a leg of somebody's":         {marked("10.0.0.9", "r-a"), "the link can have a leg there once that one has gone"},
		"a leg on a reserved address": {port("10.0.0.1", "r-a"), "the link can have a leg there once that one has gone"},
	} {
		t.Run(sentence, func(t *testing.T) {
			in := links(aLink("a", pinnedAt("10.0.0.7")))
			in.Occupants = []alloc.Occupant{c.port}
			_, problems := alloc.AssignLegs(in)
			if len(problems) != 1 || problems[0].Hint != c.want {
				t.Errorf("problems %+v, want one with hint %q", problems, c.want)
			}
		})
	}
}
