package alloc

import (
	"cmp"
	"slices"
	"strconv"
)

// Past is an address that was given to a name before and is nobody's now.
type Past struct {
	Name  string `json:"name"`
	Octet byte   `json:"octet"` // the last one
}

// pastEntries is how many entries of each kind tell of the past: some sixty names of
// usual length. A group has a limited number of tags, and what is in use comes first.
const pastEntries = 4

// keepPast notes which addresses earlier ledgers of the same service CIDR gave to names
// that don't have them now: somebody outside may have written them down. Who comes back
// gets his again, and others come last. What is oldest is forgotten first.
func (l *Ledger) keepPast(earlier ...Ledger) {
	var virtual, tunnel []Past
	for _, e := range earlier {
		if e.ServiceCIDR == l.ServiceCIDR {
			virtual = slices.Concat(virtual, e.PastVirtualIPs, given(e.VirtualIPs))
			tunnel = slices.Concat(tunnel, e.PastAddresses, given(e.Addresses))
		}
	}
	var taken [256]bool
	for _, p := range slices.Concat(given(l.VirtualIPs), given(l.Addresses)) {
		taken[p.Octet] = true
	}
	isTaken := func(p Past) bool { return taken[p.Octet] }
	l.PastVirtualIPs = fitting(entryPastVirtualIPs, slices.DeleteFunc(virtual, isTaken))
	l.PastAddresses = fitting(entryPastAddresses, slices.DeleteFunc(tunnel, isTaken))
}

// given are allocations in the order of octets.
func given(octets map[string]byte) []Past {
	all := make([]Past, 0, len(octets))
	for name, octet := range octets {
		all = append(all, Past{name, octet})
	}
	slices.SortFunc(all, func(a, b Past) int { return cmp.Compare(a.Octet, b.Octet) })
	return all
}

// fitting are the latest that pastEntries hold.
func fitting(entry string, past []Past) []Past {
	for len(pack(entry, pastPairs(past))) > pastEntries {
		past = past[1:]
	}
	if len(past) == 0 {
		return nil
	}
	return past
}

func pastPairs(past []Past) []string {
	pairs := make([]string, 0, len(past))
	for _, p := range past {
		pairs = append(pairs, p.Name+":"+strconv.Itoa(int(p.Octet)))
	}
	return pairs
}

// lastHad is the octet within a range that a name had last; 0: none.
func lastHad(past []Past, name string, within span) int {
	for _, p := range slices.Backward(past) {
		if p.Name == name && within.contains(int(p.Octet)) {
			return int(p.Octet)
		}
	}
	return 0
}
