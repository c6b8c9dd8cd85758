package plan

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Source is a range on our side that may call reverse exposures, and could not
// before; or the other way round. Gateways for which the same is so share one.
type Source struct {
	Source  netip.Prefix `json:"source"`
	Before  bool         `json:"before"`
	After   bool         `json:"after"`
	Reaches []Reach      `json:"reaches"`        // sorted by gateway
	Note    string       `json:"note,omitempty"` // what of the range is not concerned
}

// Reach are reverse exposures of one gateway, sorted.
type Reach struct {
	Gateway   vpn.Owner `json:"gateway"`
	Exposures []string  `json:"exposures"`
}

// Total is how many reverse exposures there are.
func (s Source) Total() int {
	n := 0
	for _, r := range s.Reaches {
		n += len(r.Exposures)
	}
	return n
}

// sources finds, in the rules of the groups that this plan changes, which ranges
// on our side gain or lose the reverse exposures that were there and stay.
func (d *draft) sources() {
	type fold struct {
		source netip.Prefix
		after  bool
		note   string
	}
	at := map[fold]int{}
	for _, p := range d.sorted {
		c := d.changes[resource.ID{Kind: resource.KindSecurityGroup, Namespace: p.owner.Namespace, Name: p.owner.Name}]
		if c == nil || c.Action != Update || c.Held != "" {
			continue
		}
		names := p.staying()
		if len(names) == 0 {
			continue
		}
		for _, s := range moves(callers(*c.Before.SecurityGroup, *c.After.SecurityGroup)) {
			key := fold{s.Source, s.After, s.Note}
			if _, known := at[key]; !known {
				at[key] = len(d.plan.Sources)
				d.plan.Sources = append(d.plan.Sources, s)
			}
			list := &d.plan.Sources[at[key]].Reaches
			*list = append(*list, Reach{p.owner, names})
		}
	}
	slices.SortFunc(d.plan.Sources, func(a, b Source) int {
		return cmp.Or(a.Source.Compare(b.Source), btoi(a.After)-btoi(b.After), strings.Compare(a.Note, b.Note))
	})
}

// staying are the reverse exposures of a gateway that have an address already.
func (p *party) staying() []string {
	var names []string
	if p.gateway == nil || p.ledger == nil {
		return nil
	}
	for _, x := range p.gateway.ReverseExposures {
		if p.ledger.VirtualIPs[x.Name] != 0 {
			names = append(names, x.Name)
		}
	}
	return names
}

// callers are the ranges that rules let in for reverse exposures. A rule of
// another hand counts where it stands for a wanted one.
func callers(before, after resource.SecurityGroup) (was, is []netip.Prefix) {
	wanted := map[resource.Rule]bool{}
	for _, r := range after.Rules {
		if strings.Contains(r.Why, reverseRule) {
			wanted[r.Key()] = true
			is = append(is, sender(r))
		}
	}
	for _, r := range inForce(before, after) {
		if strings.Contains(r.Why, reverseRule) || wanted[r.Key()] {
			was = append(was, sender(r))
		}
	}
	return distinctRanges(was), distinctRanges(is)
}

func sender(r resource.Rule) netip.Prefix {
	if !r.Remote.IsValid() {
		return netip.PrefixFrom(netip.IPv4Unspecified(), 0)
	}
	return r.Remote
}

func distinctRanges(all []netip.Prefix) []netip.Prefix {
	slices.SortFunc(all, netip.Prefix.Compare)
	return slices.Compact(all)
}

// moves are the ranges that come or go, as far as no wider one says the opposite.
func moves(was, is []netip.Prefix) []Source {
	var all []Source
	for _, p := range is {
		if !slices.ContainsFunc(was, func(w netip.Prefix) bool { return holds(w, p) }) {
			all = append(all, Source{Source: p, After: true, Note: portion(p, was, "%s could before")})
		}
	}
	for _, p := range was {
		if !slices.ContainsFunc(is, func(w netip.Prefix) bool { return holds(w, p) }) {
			all = append(all, Source{Source: p, Before: true, Note: portion(p, is, "%s still can")})
		}
	}
	return all
}

// holds tells whether a range is or lies in another.
func holds(wide, p netip.Prefix) bool {
	return wide.Bits() <= p.Bits() && wide.Contains(p.Addr())
}

// portion names the ranges that lie in one, in a sentence; empty where none does.
func portion(of netip.Prefix, ranges []netip.Prefix, sentence string) string {
	var names []string
	for _, p := range ranges {
		if holds(of, p) {
			names = append(names, p.String())
		}
	}
	if names == nil {
		return ""
	}
	return fmt.Sprintf(sentence, strings.Join(names, ", "))
}
