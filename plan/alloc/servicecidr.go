package alloc

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Pinned is the service CIDR that the manifest asks for: its own, or the /24
// around a pinned range for road warriors.
func Pinned(g *vpn.Gateway) (netip.Prefix, bool) {
	if g.ServiceCIDR.IsValid() {
		return g.ServiceCIDR.Masked(), true
	}
	if g.WireGuard != nil && g.WireGuard.RoadWarriorCIDR.IsValid() {
		return block(g.WireGuard.RoadWarriorCIDR)
	}
	return netip.Prefix{}, false
}

// serviceCIDR decides the gateway's /24.
//
//	pin      ledger       → result
//	p        p            → p
//	p        -, or other  → p (a planned move) unless somebody else has it
//	-        c            → c, for ever
//	-        c, and a ledger that is ahead has c too
//	                      → the lowest free one while nothing was applied, else a problem
//	-        -            → the lowest free one
//
// The lowest free one is known only where every ledger is.
func (a *assignment) serviceCIDR(g *vpn.Gateway, was Ledger) (netip.Prefix, *Problem) {
	holder := a.holders[was.ServiceCIDR]
	holds := was.ServiceCIDR.IsValid() && holder.Owner == g.Owner
	if pin, ok := Pinned(g); ok {
		if holds && pin == was.ServiceCIDR {
			return pin, nil
		}
		return pin, a.refusePin(g, pin)
	}
	if holds {
		return was.ServiceCIDR, nil
	}
	if was.ServiceCIDR.IsValid() && was.Built() {
		return netip.Prefix{}, &Problem{
			Message: fmt.Sprintf("service CIDR %s is held by %s too, which is older", was.ServiceCIDR, holder.Owner),
			Hint:    "pin another serviceCIDR to move this gateway",
		}
	}
	if len(a.in.Unknown) > 0 {
		return netip.Prefix{}, a.uncertain()
	}
	if free, ok := a.pool.lowest(); ok {
		return free, nil
	}
	return netip.Prefix{}, a.exhausted()
}

// uncertain says why no range can be known to be free.
func (a *assignment) uncertain() *Problem {
	why := slices.Sorted(slices.Values(a.in.Unknown))
	more := ""
	if n := len(why) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more like it)", n)
	}
	return &Problem{
		Message: fmt.Sprintf("an address range can't be chosen while %s%s", why[0], more),
		Hint:    "mend that first, or pin a serviceCIDR that is free for certain",
	}
}

// refusePin finds who else has the /24 that a manifest pins.
func (a *assignment) refusePin(g *vpn.Gateway, pin netip.Prefix) *Problem {
	refuse := func(by, hint string) *Problem {
		return &Problem{Message: fmt.Sprintf("service CIDR %s is pinned, but %s", pin, by), Hint: hint}
	}
	if b, ok := block(pin); !ok || b != pin {
		return refuse("a service CIDR is an IPv4 /24", "")
	}
	if claim, ok := a.claims.on(pin); ok {
		return refuse(fmt.Sprintf("overlaps %s: %s", claim.Prefix, claim.By), otherPin)
	}
	for _, other := range a.pins[pin] {
		if other != g.Owner {
			return refuse(fmt.Sprintf("%s pins it too", other), "pin another one in either of them, or leave it out to have one allocated")
		}
	}
	holder, ok := a.holders[pin]
	if !ok || holder.Owner == g.Owner || a.released[holder.Owner] {
		return nil
	}
	if a.alive(holder.Owner) {
		return refuse(fmt.Sprintf("%s %s", holder.Owner, holds(holder, pin)), "it becomes free once that gateway has moved or gone")
	}
	return refuse(fmt.Sprintf("%s %s, of which no manifest was read", holder.Owner, holds(holder, pin)), "it becomes free once that gateway has gone; where its manifest has, --prune removes it")
}

const otherPin = "pin another one, or leave it out to have one allocated"

func holds(l Ledger, p netip.Prefix) string {
	if l.ServiceCIDR == p {
		return "holds it"
	}
	return "has not moved away from it yet"
}

// alive tells whether an owner has a manifest.
func (a *assignment) alive(o vpn.Owner) bool {
	_, found := slices.BinarySearchFunc(a.gateways, o, func(g *vpn.Gateway, o vpn.Owner) int { return g.Owner.Compare(o) })
	return found
}

// exhausted says how the pool was used up.
func (a *assignment) exhausted() *Problem {
	name := a.in.Estate.ServiceCIDRPool
	if a.pool.size == 0 {
		return &Problem{Message: fmt.Sprintf("serviceCIDRPool %s holds no IPv4 /24", name)}
	}
	held := map[netip.Prefix]bool{}
	for cidr := range a.holders {
		held[cidr] = true
	}
	for _, l := range a.assigned { // in this plan
		held[l.ServiceCIDR] = true
	}
	maps.DeleteFunc(held, func(p netip.Prefix, _ bool) bool { return !p.Overlaps(a.pool.prefix) })
	p := &Problem{
		Message: fmt.Sprintf("service CIDRs %s: %d of %d taken, %d of them by this estate's gateways", name, a.pool.size, a.pool.size, len(held)),
		Hint:    "widen serviceCIDRPool, or pin a serviceCIDR outside it",
	}
	if claim, ok := a.claims.on(netip.PrefixFrom(a.pool.prefix.Addr(), blockBits)); ok && claim.Prefix.Bits() <= a.pool.prefix.Bits() {
		p.Hint = fmt.Sprintf("%s takes it all: %s", claim.Prefix, claim.By)
	}
	return p
}
