package state

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// LedgerTags are all tags of ours on the security group of an owner, sorted:
// ownership, what was allocated, which desired state was reached, which ranges it
// moves from, and since when it drains.
func LedgerTags(l alloc.Ledger) []string {
	tags := Tags(l.Estate, l.Owner)
	for _, e := range l.Entries() {
		tags = append(tags, tag(e.Name, e.Value))
	}
	if l.Applied != "" {
		tags = append(tags, tag(applied, l.Applied))
	}
	for _, p := range l.MovingFrom {
		tags = append(tags, tag(movingFrom, p.String()))
	}
	if !l.Draining.IsZero() {
		tags = append(tags, tag(draining, l.Draining.UTC().Format(time.RFC3339Nano)))
	}
	slices.Sort(tags)
	return tags
}

// ReadLedger is the inverse of LedgerTags, for a group of any estate. Ours tells
// whether the group is managed by vpnctl at all. An error on a group that is ours
// means that another hand, or a newer vpnctl, wrote its tags; with it comes what
// could be read, so that its range counts as taken nevertheless.
func ReadLedger(tags []string) (l alloc.Ledger, ours bool, err error) {
	if !slices.Contains(tags, ManagedTag) {
		return alloc.Ledger{}, false, nil
	}
	var entries []resource.Entry
	records := map[string]string{}
	var left []string
	for _, t := range tags {
		name, value, under := split(t)
		switch {
		case !under || t == ManagedTag || name == estateIs || name == ownerIs:
		case name == applied || name == draining:
			if _, twice := records[name]; twice && err == nil {
				err = fmt.Errorf("tag %s stands there twice", name)
			}
			records[name] = value
		case name == movingFrom:
			left = append(left, value)
		default:
			entries = append(entries, resource.Entry{Name: name, Value: value})
		}
	}
	estate, o, whole := ReadOwner(tags)
	var parsing error
	if o.Kind != vpn.KindClusterLink || len(entries) > 0 { // nothing is allocated to a link
		l, parsing = alloc.ParseEntries(entries)
	}
	l.Estate, l.Owner, l.Applied = estate, o, records[applied]
	for _, text := range slices.Compact(slices.Sorted(slices.Values(left))) {
		p, bad := netip.ParsePrefix(text)
		if bad != nil || p != p.Masked() {
			parsing = fmt.Errorf("tag %s=%q is no range", movingFrom, text)
			continue
		}
		l.MovingFrom = append(l.MovingFrom, p)
	}
	slices.SortFunc(l.MovingFrom, netip.Prefix.Compare)
	if text, set := records[draining]; set {
		var bad error
		if l.Draining, bad = time.Parse(time.RFC3339Nano, text); bad != nil {
			parsing = fmt.Errorf("tag draining=%q is no time", text)
		}
	}
	switch {
	case !whole:
		err = fmt.Errorf("ownership tags are incomplete or doubled")
	case parsing != nil:
		err = parsing
	}
	return l, true, err
}
