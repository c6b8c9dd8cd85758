package state

import (
	"errors"
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
// moves from, since when it drains, and whose objects it takes over.
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
	if l.Adopting != "" {
		tags = append(tags, tag(adopting, l.Adopting))
	}
	slices.Sort(tags)
	return tags
}

// errOwnership is all that can be said of a group of nobody in particular.
var errOwnership = errors.New("ownership tags are incomplete or doubled")

// ReadLedger is the inverse of LedgerTags, for a group of any estate. Ours tells
// whether the group is managed by vpnctl at all. An error on a group that is ours
// means that another hand, or a newer vpnctl, wrote its tags; with it comes what
// could be read, so that its range counts as taken nevertheless. Of a link's group it
// reads the owner and nothing else: the rest is for ReadLink.
func ReadLedger(tags []string) (l alloc.Ledger, ours bool, err error) {
	if !slices.Contains(tags, ManagedTag) {
		return alloc.Ledger{}, false, nil
	}
	estate, o, whole := ReadOwner(tags)
	if o.Kind == vpn.KindClusterLink {
		return alloc.Ledger{Estate: estate, Owner: o}, true, nil
	}
	entries, records := sift(tags, applied, movingFrom, draining, adopting)
	l, err = alloc.ParseEntries(entries)
	l.Estate, l.Owner = estate, o
	if bad := recall(&l, records); bad != nil {
		err = bad
	}
	if !whole {
		err = errOwnership
	}
	return l, true, err
}

// sift parts the tags under our prefix that are not of ownership: what was
// allocated, and the records of what was done, which have these names.
func sift(tags []string, names ...string) (entries []resource.Entry, records map[string][]string) {
	records = map[string][]string{}
	for _, t := range tags {
		switch name, value, under := split(t); {
		case !under || t == ManagedTag || name == estateIs || name == ownerIs:
		case slices.Contains(names, name):
			records[name] = append(records[name], value)
		default:
			entries = append(entries, resource.Entry{Name: name, Value: value})
		}
	}
	return entries, records
}

// once refuses a record that stands there twice.
func once(records map[string][]string, names ...string) (err error) {
	for _, name := range names {
		if len(records[name]) > 1 {
			err = fmt.Errorf("tag %s stands there twice", name)
		}
	}
	return err
}

// recall fills in the records as far as they can be read, and says what can't be.
func recall(l *alloc.Ledger, records map[string][]string) (err error) {
	err = once(records, applied, draining, adopting)
	for _, hash := range records[applied] {
		l.Applied = hash
	}
	for _, uid := range records[adopting] {
		l.Adopting = uid
	}
	for _, text := range records[movingFrom] {
		p, bad := netip.ParsePrefix(text)
		if bad != nil || p != p.Masked() {
			err = fmt.Errorf("tag %s=%q is no range", movingFrom, text)
			continue
		}
		l.MovingFrom = append(l.MovingFrom, p)
	}
	slices.SortFunc(l.MovingFrom, netip.Prefix.Compare)
	for _, text := range records[draining] {
		var bad error
		if l.Draining, bad = time.Parse(time.RFC3339Nano, text); bad != nil {
			err = fmt.Errorf("tag %s=%q is no time", draining, text)
		}
	}
	return err
}
