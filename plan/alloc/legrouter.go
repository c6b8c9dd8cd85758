package alloc

import (
	"fmt"
	"net/netip"

	ipsecv1alpha1 "github.com/vpnctl/vpnctl/crds/ipsec/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// rival finds another link that has the link's router: Neutron refuses a router a
// second port on one subnet, and so a router has one leg.
func (a *legs) rival(l vpn.Link) *Problem {
	router := a.in.Routers[l.Owner]
	if router == "" || a.first[router] == l.Owner {
		return nil
	}
	return &Problem{
		Message: fmt.Sprintf("spec.serviceClusterRouter %s is the router of %s too, and a router has one leg on the transit network", l.Router, a.first[router]),
		Hint:    "name another router, or delete one of the two links",
		Reason:  ipsecv1alpha1.ReasonRouterHasPort,
	}
}

// crowded finds another leg on the link's router that stands in the way of one at an
// address. Where a leg of the link stands on the router, nothing does.
func (a *legs) crowded(l vpn.Link, at netip.Addr) *Problem {
	router := a.in.Routers[l.Owner]
	if router == "" || a.first[router] != l.Owner || a.attached(l.Owner, router) {
		return nil
	}
	var other *Occupant
	for _, o := range a.onRouter[router] {
		switch {
		case o.Address == at:
			return nil
		case other == nil && !a.released[a.ownerOf(o)]:
			other = &o
		}
	}
	if other == nil {
		return nil
	}
	hint := "the link can have a leg there once that one has gone"
	if a.adoptable(l, *other) {
		hint = fmt.Sprintf("pin transitIP %s to take that leg over", other.Address)
	}
	return &Problem{
		Message: fmt.Sprintf("router %s has a leg at %s already, %s, and can't have another one on the transit network", l.Router, other.Address, other.By),
		Hint:    hint,
		Reason:  ipsecv1alpha1.ReasonRouterHasPort,
	}
}
