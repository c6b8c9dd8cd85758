package alloc

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

// legs is an allocation of links in the making.
type legs struct {
	in       LegInput
	links    []vpn.Link                 // sorted by owner
	pins     map[netip.Addr][]vpn.Owner // by pinned transit IP, sorted
	released map[vpn.Owner]bool
	first    map[string]vpn.Owner // by router: the link whose it is

	ledgers  map[vpn.Owner]LinkLedger  // of two of one owner the older
	holders  map[netip.Addr]LinkLedger // by transit IP; of two the one that is ahead
	foreign  map[netip.Addr]string     // by transit IP: the link of another estate that holds it
	recorded map[string]vpn.Owner      // by port: the link whose ledger names it

	occupants map[netip.Addr]Occupant
	own       map[vpn.Owner][]Occupant // by whose they are, sorted by address
	onRouter  map[string][]Occupant    // by router, sorted by address
	scan      scan

	assigned map[vpn.Owner]LinkLedger
	problems []Problem
}

func newLegs(in LegInput) *legs {
	a := &legs{
		in: in, links: slices.SortedFunc(slices.Values(in.Links), func(l, m vpn.Link) int { return l.Owner.Compare(m.Owner) }),
		pins: map[netip.Addr][]vpn.Owner{}, released: map[vpn.Owner]bool{}, first: map[string]vpn.Owner{},
		ledgers: map[vpn.Owner]LinkLedger{}, holders: map[netip.Addr]LinkLedger{}, foreign: map[netip.Addr]string{}, recorded: map[string]vpn.Owner{},
		occupants: map[netip.Addr]Occupant{}, own: map[vpn.Owner][]Occupant{}, onRouter: map[string][]Occupant{},
		scan: newScan(in.Subnet), assigned: make(map[vpn.Owner]LinkLedger, len(in.Links)),
	}
	for _, o := range in.Released {
		a.released[o] = true
	}
	for _, l := range a.links {
		if l.TransitIP.IsValid() {
			a.pins[l.TransitIP] = append(a.pins[l.TransitIP], l.Owner)
			a.scan.pass(l.TransitIP)
		}
	}
	for at := range in.Reserved {
		a.scan.reserve(at)
	}
	a.readLedgers()
	a.readOccupants()
	a.hold()
	a.share()
	return a
}

// readLedgers finds the ledger of each owner.
func (a *legs) readLedgers() {
	for _, l := range a.in.Ledgers {
		if l.TransitIP.IsValid() {
			a.scan.pass(l.TransitIP)
		}
		if l.Estate != a.in.Estate {
			by := fmt.Sprintf("%s of estate %s", l.Owner, l.Estate)
			if known, ok := a.foreign[l.TransitIP]; l.TransitIP.IsValid() && (!ok || by < known) {
				a.foreign[l.TransitIP] = by
			}
			continue
		}
		if known, ok := a.ledgers[l.Owner]; !ok || l.Older(known) {
			a.ledgers[l.Owner] = l
		}
	}
	for _, l := range a.ledgers {
		for _, port := range []string{l.Leg, l.Adopted} {
			if known, ok := a.recorded[port]; port != "" && (!ok || l.Older(a.ledgers[known])) {
				a.recorded[port] = l.Owner
			}
		}
	}
}

// readOccupants sorts the ports by address, owner and router.
func (a *legs) readOccupants() {
	all := slices.SortedFunc(slices.Values(a.in.Occupants), func(o, p Occupant) int {
		return cmp.Or(o.Address.Compare(p.Address), strings.Compare(o.Port, p.Port))
	})
	for _, o := range all {
		a.scan.pass(o.Address)
		a.occupants[o.Address] = o
		if owner := a.ownerOf(o); !owner.IsZero() {
			a.own[owner] = append(a.own[owner], o)
		}
		if o.Router != "" {
			a.onRouter[o.Router] = append(a.onRouter[o.Router], o)
		}
	}
}

// ownerOf is whose a port is: by its marks, or, where another hand took them all away,
// the link that has it on record as its leg.
func (a *legs) ownerOf(o Occupant) vpn.Owner {
	if by := a.recorded[o.Port]; !o.Marked && o.Port != "" && a.ledgers[by].Leg == o.Port {
		return by
	}
	return o.Owner
}

// hold finds whose each transit IP is, once those that are released are free.
func (a *legs) hold() {
	for _, l := range a.ledgers {
		if !l.TransitIP.IsValid() || a.released[l.Owner] {
			continue
		}
		if known, ok := a.holders[l.TransitIP]; !ok || a.ahead(l, known) {
			a.holders[l.TransitIP] = l
		}
	}
}

// ahead decides between two ledgers with one transit IP: whose port stands there, then
// who reached a desired state with it, then who was earlier.
func (a *legs) ahead(l, o LinkLedger) bool {
	if s, t := a.stands(l), a.stands(o); s != t {
		return s
	}
	if s, t := l.Applied != "", o.Applied != ""; s != t {
		return s
	}
	return l.Older(o)
}

func (a *legs) stands(l LinkLedger) bool {
	o, taken := a.occupants[l.TransitIP]
	return taken && a.ownerOf(o) == l.Owner
}

// share finds the link of each router: whose leg stands on it, then whose ledger is
// older, then who has one, then the first by name.
func (a *legs) share() {
	for _, l := range a.links {
		router := a.in.Routers[l.Owner]
		if router == "" {
			continue
		}
		if other, shared := a.first[router]; !shared || a.precedes(l.Owner, other, router) {
			a.first[router] = l.Owner
		}
	}
}

func (a *legs) precedes(l, o vpn.Owner, router string) bool {
	if s, t := a.attached(l, router), a.attached(o, router); s != t {
		return s
	}
	ledger, has := a.ledgers[l]
	other, had := a.ledgers[o]
	if has != had {
		return has
	}
	if has {
		return ledger.Older(other)
	}
	return l.Compare(o) < 0
}

// attached tells whether a leg of the link stands on the router.
func (a *legs) attached(l vpn.Owner, router string) bool {
	return slices.ContainsFunc(a.own[l], func(o Occupant) bool { return o.Router == router })
}
