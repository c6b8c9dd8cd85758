package state

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Names of the records on a link's group, beside applied.
const (
	leg          = "leg"
	policy       = "policy"
	customerSide = "customer-side"
)

// givenUp is the value of the record customer-side.
const givenUp = "abandoned"

// LinkTags are all tags of ours on the security group of a link, sorted: ownership,
// what was allocated, which desired state was reached, which leg and which policy are
// ours, and whether the customer's side was given up.
func LinkTags(l alloc.LinkLedger) []string {
	tags := Tags(l.Estate, l.Owner)
	for _, e := range l.Entries() {
		tags = append(tags, tag(e.Name, e.Value))
	}
	if l.Applied != "" {
		tags = append(tags, tag(applied, l.Applied))
	}
	if l.Leg != "" {
		tags = append(tags, tag(leg, standing(l)))
	}
	if l.Policy != "" {
		tags = append(tags, tag(policy, l.Policy))
	}
	if l.Abandoned {
		tags = append(tags, tag(customerSide, givenUp))
	}
	slices.Sort(tags)
	return tags
}

// standing is the leg port and where it stands, id@address, or the ID alone where
// that isn't known.
func standing(l alloc.LinkLedger) string {
	if !l.LegAddress.IsValid() {
		return l.Leg
	}
	return l.Leg + "@" + l.LegAddress.String()
}

// ReadLink is the inverse of LinkTags, for a link's group of any estate. Ours tells
// whether the group is managed by vpnctl at all. An error on a group that is ours
// means that it is no link's, or that another hand, or a newer vpnctl, wrote its tags;
// with it comes what could be read, so that its address counts as taken nevertheless.
func ReadLink(tags []string) (l alloc.LinkLedger, ours bool, err error) {
	if !slices.Contains(tags, ManagedTag) {
		return alloc.LinkLedger{}, false, nil
	}
	estate, o, whole := ReadOwner(tags)
	entries, records := sift(tags, applied, leg, policy, customerSide)
	l, err = alloc.ParseLinkEntries(entries)
	l.Estate, l.Owner = estate, o
	if bad := remember(&l, records); bad != nil {
		err = bad
	}
	switch {
	case !whole:
		err = errOwnership
	case o.Kind != vpn.KindClusterLink:
		err = fmt.Errorf("the group is %s's, which is no link", o)
	case err == nil && !slices.Equal(LinkTags(l), under(tags)):
		err = errors.New("the tags are not written as vpnctl writes them")
	}
	return l, true, err
}

// remember fills in the records as far as they can be read, and says what can't be.
func remember(l *alloc.LinkLedger, records map[string][]string) error {
	l.Applied = first(records[applied])
	l.Policy = first(records[policy])
	l.Abandoned = slices.Contains(records[customerSide], givenUp)
	err := once(records, applied, leg, policy, customerSide)
	if l.Policy != "" && !alloc.Writable(l.Policy) {
		err = fmt.Errorf("tag %s=%q is no ID", policy, l.Policy)
	}
	if text := first(records[leg]); text != "" {
		id, at, stands := strings.Cut(text, "@")
		a, bad := netip.ParseAddr(at)
		if !alloc.Writable(id) || stands && (bad != nil || !a.Is4()) {
			return fmt.Errorf("tag %s=%q is not id@address", leg, text)
		}
		l.Leg, l.LegAddress = id, a
	}
	return err
}

// first is the value of a record, empty where there is none.
func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}

// under are the tags under our prefix, sorted.
func under(tags []string) []string {
	return slices.Sorted(func(yield func(string) bool) {
		for _, t := range tags {
			if strings.HasPrefix(t, Prefix) && !yield(t) {
				return
			}
		}
	})
}
