package alloc

import (
	"fmt"
	"net/netip"

	ipsecv1alpha1 "github.com/vpnctl/vpnctl/crds/ipsec/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// transitIP decides the address of a leg in our own project.
//
//	pin   ledger   ports               → result
//	p     -, or any                    → p, unless it is somebody else's
//	-     t                            → t, for ever
//	-     t        t is somebody's     → as without a ledger while nothing was applied, else a problem
//	-     -        own leg at x        → x
//	-     -        router's leg at x   → x, to be adopted
//	-     -                            → the lowest free one
//
// As long as its router isn't known, a link keeps what it has and gets nothing else:
// the zero Addr.
func (a *legs) transitIP(l vpn.Link, was LinkLedger) (netip.Addr, *Problem) {
	if a.in.Routers[l.Owner] == "" {
		if a.holders[was.TransitIP].Owner == l.Owner {
			return was.TransitIP, nil
		}
		return netip.Addr{}, nil
	}
	if l.TransitIP.IsValid() {
		why, hint := a.refused(l, l.TransitIP)
		return l.TransitIP, legProblem(l.TransitIP, "is pinned", why, hint)
	}
	if was.TransitIP.IsValid() {
		why, _ := a.refused(l, was.TransitIP)
		if why == "" || was.Applied != "" {
			return was.TransitIP, legProblem(was.TransitIP, "is the link's", why, "pin another transitIP to move its leg")
		}
	}
	if at, stands := a.leg(l); stands {
		return at, nil
	}
	if at, free := a.scan.lowest(); free {
		return at, nil
	}
	return netip.Addr{}, a.scan.exhausted()
}

func legProblem(at netip.Addr, is, why, hint string) *Problem {
	if why == "" {
		return nil
	}
	return &Problem{Message: fmt.Sprintf("transit IP %s %s, but %s", at, is, why), Hint: hint, Reason: ipsecv1alpha1.ReasonTransitLegPort}
}

const otherLeg = "pin another one, or leave it out to have one allocated"

// refused finds why a link can't have an address; it is empty where it can.
func (a *legs) refused(l vpn.Link, at netip.Addr) (why, hint string) {
	if o, taken := a.occupants[at]; taken && a.ownerOf(o) == l.Owner {
		return "", ""
	}
	if why := a.occupied(l, at); why != "" {
		return why, otherLeg
	}
	return a.promised(l, at)
}

// occupied finds what there is at an address.
func (a *legs) occupied(l vpn.Link, at netip.Addr) string {
	if why := outside(a.in.Subnet, at); why != "" {
		return why
	}
	o, taken := a.occupants[at]
	switch {
	case a.in.Reserved[at] != "":
		return "it is " + a.in.Reserved[at]
	case taken && !a.adoptable(l, o) && !a.released[a.ownerOf(o)]:
		return o.By + " has it"
	case a.foreign[at] != "" && a.ledgers[l.Owner].TransitIP != at:
		return a.foreign[at] + " holds it"
	}
	return ""
}

// promised finds which other link is to have an address, by its ledger or by a pin.
func (a *legs) promised(l vpn.Link, at netip.Addr) (why, hint string) {
	holder, held := a.holders[at]
	if held && holder.Owner == l.Owner {
		return "", ""
	}
	for _, other := range a.pins[at] {
		if other != l.Owner && l.TransitIP == at {
			return fmt.Sprintf("%s pins it too", other), "pin another one in either of them, or leave it out to have one allocated"
		}
	}
	if !held {
		return "", ""
	}
	return a.holds(holder.Owner)
}

// holds says that an address is in another link's ledger.
func (a *legs) holds(holder vpn.Owner) (why, hint string) {
	for _, l := range a.links {
		if l.Owner == holder {
			return fmt.Sprintf("%s holds it", holder), "it becomes free once that link has moved or gone"
		}
	}
	return fmt.Sprintf("%s holds it, of which no manifest was read", holder), "it becomes free once that link has gone; where its manifest has, --prune removes it"
}

// leg is where a leg stands that the link can have without making one: its own, or
// one that can be adopted; of several the lowest.
func (a *legs) leg(l vpn.Link) (netip.Addr, bool) {
	for _, o := range a.own[l.Owner] {
		if outside(a.in.Subnet, o.Address) == "" {
			return o.Address, true
		}
	}
	for _, o := range a.onRouter[a.in.Routers[l.Owner]] {
		if why, _ := a.refused(l, o.Address); why == "" && a.adoptable(l, o) {
			return o.Address, true
		}
	}
	return netip.Addr{}, false
}

// adoptable tells whether a port is a leg that was made by hand on the link's router:
// nobody's by its marks, and in no other link's ledger.
func (a *legs) adoptable(l vpn.Link, o Occupant) bool {
	by, recorded := a.recorded[o.Port]
	return o.Router != "" && o.Router == a.in.Routers[l.Owner] && !o.Marked && o.Owner.IsZero() &&
		(!recorded || by == l.Owner) && a.in.Reserved[o.Address] == ""
}

// adopted is the port that is taken over with an address. One that was taken over
// stays on record for as long as it stands, so that its deletion can say so.
func (a *legs) adopted(l vpn.Link, was LinkLedger, at netip.Addr) string {
	if a.in.Routers[l.Owner] == "" {
		return was.Adopted
	}
	o, taken := a.occupants[at]
	if taken && a.ownerOf(o) != l.Owner && a.adoptable(l, o) {
		return o.Port
	}
	for _, o := range a.own[l.Owner] {
		if o.Port == was.Adopted && at == was.TransitIP {
			return was.Adopted
		}
	}
	return ""
}
