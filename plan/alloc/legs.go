package alloc

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Occupant is a port on the transit network, once for each address that it has.
type Occupant struct {
	Address netip.Addr `json:"address"`
	Port    string     `json:"port"` // ID
	// Router is the ID of the router whose interface the port is; empty: of none. A
	// port that a router keeps for other ends, such as for source NAT, is no interface.
	Router string `json:"router,omitempty"`
	By     string `json:"by"` // in words, such as port "lb" or VPNGateway/acme/dc1
	// Owner in this estate that the port belongs to: by its tags, or by its name and
	// description where it is a create that was cut off before its tags were written.
	Owner  vpn.Owner `json:"owner,omitzero"`
	Marked bool      `json:"marked,omitempty"` // it bears tags of ours, of whatever estate
}

// LegInput is all that the allocation of links depends on. The order of its lists
// means nothing.
type LegInput struct {
	Links []vpn.Link
	// Ledgers as they were observed. Those of links without a manifest keep their
	// addresses taken.
	Ledgers []LinkLedger
	// Released are owners without a manifest whose release is part of the same plan.
	// Their addresses are never chosen, but a pin may name them.
	Released []vpn.Owner
	Subnet   netip.Prefix // of the transit network
	// Reserved says what an address of the subnet is for that no leg may have, such as
	// "the subnet's gateway".
	Reserved  map[netip.Addr]string
	Occupants []Occupant
	// Routers are the IDs that the links' serviceClusterRouter stands for. One that is
	// missing was not found, which is said elsewhere: its link keeps what it has, and
	// gets nothing new.
	Routers map[vpn.Owner]string
	Estate  string
}

// AssignLegs gives every link the ledger that should be written. What a ledger holds
// stays, pins are honoured or refused, a leg that stands on the right router is taken
// over, and the rest is the lowest address that is free. Links with a problem have no
// ledger in the result. Both results depend on the contents of the input alone, not on
// its order.
func AssignLegs(in LegInput) (map[vpn.Owner]LinkLedger, []Problem) {
	a := newLegs(in)
	for _, l := range a.links {
		a.assign(l)
	}
	slices.SortFunc(a.problems, Problem.compare)
	return a.assigned, a.problems
}

func (a *legs) assign(l vpn.Link) {
	was := a.ledgers[l.Owner]
	now := was
	now.Estate, now.Owner, now.CIDR, now.Customer = a.in.Estate, l.Owner, l.CIDR, l.CustomerProject
	found := changed(l, was)
	if p := a.rival(l); p != nil {
		found = append(found, *p)
	}
	settled := true
	if now.Cross() {
		now.TransitIP = netip.Addr{}
	} else {
		at, p := a.transitIP(l, was)
		if p == nil {
			p = a.crowded(l, at)
		}
		if p != nil {
			found = append(found, *p)
		}
		now.TransitIP, now.Adopted = at, a.adopted(l, was, at)
		settled = at.IsValid()
	}
	for _, p := range found {
		p.Owner = l.Owner
		a.problems = append(a.problems, p)
	}
	if len(found) == 0 && settled {
		a.assigned[l.Owner] = now
	}
}

// changed finds what a link can't become after it was made.
func changed(l vpn.Link, was LinkLedger) (found []Problem) {
	refuse := func(format string, args ...any) {
		found = append(found, Problem{Message: fmt.Sprintf(format, args...), Reason: vpnv1alpha1.ReasonInvalidSpec})
	}
	if l.CustomerProject != "" && !project(l.CustomerProject) {
		refuse("spec.customerProjectID %.80q can't be recorded: at most %d letters, digits, dots, dashes and underscores", l.CustomerProject, MaxProject)
		return found
	}
	if !was.CIDR.IsValid() { // nothing was written
		return nil
	}
	if l.CIDR != was.CIDR {
		refuse("spec.serviceClusterCIDR is %s, but the link was made for %s, and can't change", l.CIDR, was.CIDR)
	}
	if l.CustomerProject != was.Customer {
		refuse("spec.customerProjectID is %s, but the link was made for %s, and can't change", cmp.Or(l.CustomerProject, "empty"), cmp.Or(was.Customer, "our own project"))
	}
	for i := range found {
		found[i].Hint = "delete the link, and write it again once it has gone"
	}
	return found
}
