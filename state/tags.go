package state

import (
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Prefix begins every tag of ours. A tag holds slashes, so tags are only ever
// written by the call that replaces the whole list.
const Prefix = "vpn.bnerd.net/"

// ManagedTag is on every OpenStack object of every estate, and what lists filter
// by. Anyone who sees an object can tag it: ours means the tags and our project.
const ManagedTag = Prefix + managed + "=vpnctl"

// maxLength is what Neutron accepts of a tag, a name and a description, in
// characters.
const maxLength = 255

// Names of tags beside those of the ledger's entries.
const (
	managed    = "managed"
	estateIs   = "estate"
	ownerIs    = "owner"
	applied    = "applied"
	movingFrom = "moving-from"
	draining   = "draining"
	adopting   = "adopting"
)

func tag(name, value string) string { return Prefix + name + "=" + value }

// Tags are the three ownership tags, sorted.
func Tags(estate string, o vpn.Owner) []string {
	return []string{tag(estateIs, estate), ManagedTag, tag(ownerIs, o.String())}
}

// ReadOwner reads the ownership tags. Ours is false unless all three are there,
// once each, and name an estate and an owner.
func ReadOwner(tags []string) (estate string, o vpn.Owner, ours bool) {
	var estates, owners []string
	for _, t := range tags {
		switch name, value, _ := split(t); {
		case t == ManagedTag:
			ours = true
		case name == estateIs:
			estates = append(estates, value)
		case name == ownerIs:
			owners = append(owners, value)
		}
	}
	if !ours || len(estates) != 1 || len(owners) != 1 || estates[0] == "" {
		return "", vpn.Owner{}, false
	}
	o, known := vpn.ParseOwner(owners[0])
	if !known {
		return "", vpn.Owner{}, false
	}
	return estates[0], o, true
}

// split takes one of our tags apart. It reports false for tags of other hands.
func split(t string) (name, value string, ours bool) {
	rest, ours := strings.CutPrefix(t, Prefix)
	if !ours {
		return "", "", false
	}
	name, value, _ = strings.Cut(rest, "=")
	return name, value, true
}

// Merge is the whole list to write so that an object carries exactly these tags
// of ours: every other tag under our prefix goes, tags of other hands stay.
// Sorted and without duplicates, which Neutron refuses.
func Merge(existing, ours []string) []string {
	merged := slices.Clone(ours)
	for _, t := range existing {
		if !strings.HasPrefix(t, Prefix) {
			merged = append(merged, t)
		}
	}
	slices.Sort(merged)
	return slices.Compact(merged)
}
