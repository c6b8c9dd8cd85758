package alloc

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Problem is why nothing can be allocated to an owner.
type Problem struct {
	Owner   vpn.Owner `json:"owner"`
	Message string    `json:"message"`
	Hint    string    `json:"hint,omitempty"`
	Reason  string    `json:"reason,omitempty"` // of the condition that says so; empty: the usual one of the owner's kind
}

// Input is all that an allocation depends on. The order of its lists means
// nothing.
type Input struct {
	Estate vpn.Estate
	// Ledgers are the estate's as they were observed. Those of owners without a
	// manifest keep their ranges taken.
	Ledgers []Ledger
	// Claims are ranges that nobody may take: other estates' ledgers, routes of
	// other hands, the transit subnet.
	Claims []Claim
	// Released are owners without a manifest whose release is part of the same
	// plan. Their ranges are never chosen, but a pin may name them. Who pins one gets
	// its addresses too, by the names of exposures and road warriors.
	Released []vpn.Owner
	// Unknown are why it is not known which ranges are taken, such as a ledger that
	// can't be read: each a clause with its owner's name. Then no range is chosen.
	// What was allocated stays, and pins are honoured or refused as ever.
	Unknown []string
	// Pins are the floating IPs that were found, address → ID. Nil means that
	// nobody looked: then a pinned one that is missing is no problem.
	Pins map[netip.Addr]string
}

// Assign gives every gateway of the estate the ledger that should be written.
// What a ledger holds already stays, pins are honoured or refused, and the rest
// is the lowest that is free, but an address that another name had comes last. Gateways with a problem have no ledger in the
// result. Both results depend on the contents of the input alone, not on its
// order.
func Assign(in Input) (map[vpn.Owner]Ledger, []Problem) {
	a := newAssignment(in)
	for _, g := range a.gateways {
		a.assign(g)
	}
	slices.SortFunc(a.problems, Problem.compare)
	return a.assigned, a.problems
}

func (p Problem) compare(q Problem) int {
	return cmp.Or(p.Owner.Compare(q.Owner), strings.Compare(p.Message, q.Message))
}

type assignment struct {
	in       Input
	gateways []*vpn.Gateway // sorted by owner

	ledgers  map[vpn.Owner]Ledger
	holders  map[netip.Prefix]Ledger // by service CIDR, had or moved from; of two the one that is ahead
	claims   claims
	pins     map[netip.Prefix][]vpn.Owner // by pinned service CIDR, sorted
	released map[vpn.Owner]bool
	pool     *pool

	assigned map[vpn.Owner]Ledger
	problems []Problem
}

func newAssignment(in Input) *assignment {
	a := &assignment{
		in:       in,
		ledgers:  make(map[vpn.Owner]Ledger, len(in.Ledgers)),
		holders:  make(map[netip.Prefix]Ledger, len(in.Ledgers)),
		claims:   claims{},
		pins:     map[netip.Prefix][]vpn.Owner{},
		released: map[vpn.Owner]bool{},
		pool:     newPool(in.Estate.ServiceCIDRPool),
		assigned: make(map[vpn.Owner]Ledger, len(in.Estate.Gateways)),
	}
	for i := range in.Estate.Gateways {
		a.gateways = append(a.gateways, &in.Estate.Gateways[i])
	}
	slices.SortFunc(a.gateways, func(g, h *vpn.Gateway) int { return g.Owner.Compare(h.Owner) })
	for _, o := range in.Released {
		a.released[o] = true
	}
	a.reserve()
	return a
}

// reserve takes everything that was there before and every pin, so that no
// automatic choice meets them.
func (a *assignment) reserve() {
	for _, l := range a.in.Ledgers {
		for _, p := range l.Ranges() {
			a.pool.mark(p)
			if l.Estate != a.in.Estate.Name {
				a.claims.add(Claim{Prefix: p, By: fmt.Sprintf("%s of estate %s", l.Owner, l.Estate)})
			}
		}
		if l.Estate != a.in.Estate.Name {
			continue
		}
		if known, ok := a.ledgers[l.Owner]; !ok || l.older(known) {
			a.ledgers[l.Owner] = l
		}
	}
	for _, c := range a.in.Claims {
		if _, known := a.ledgers[c.Owner]; !known {
			a.claims.add(c)
			a.pool.mark(c.Prefix)
		}
	}
	for _, l := range a.ledgers {
		for _, p := range l.Ranges() {
			if known, ok := a.holders[p]; !ok || l.Ahead(known, p) {
				a.holders[p] = l
			}
		}
	}
	for _, g := range a.gateways {
		if pin, ok := Pinned(g); ok {
			a.pins[pin] = append(a.pins[pin], g.Owner)
			a.pool.mark(pin)
		}
	}
}

// Ahead decides between two claims to one range, the same way for every observer:
// who has it programmed, then who was earlier. A claim with nothing behind it may
// be older and come to light later, when it lost its run before it was written.
func (l Ledger) Ahead(o Ledger, p netip.Prefix) bool {
	if a, b := l.stands(p), o.stands(p); a != b {
		return a
	}
	return l.older(o)
}

// stands tells whether a range is programmed for the owner: a desired state was
// reached with it, from which the owner may drain by now or move, or by an operator.
func (l Ledger) stands(p netip.Prefix) bool {
	overlaps := func(r netip.Prefix) bool { return r.Overlaps(p) }
	return l.ServiceCIDR.Overlaps(p) && (l.Applied != "" || !l.Draining.IsZero() || l.Adopting != "") || slices.ContainsFunc(l.MovingFrom, overlaps)
}

// older decides between two claims to one thing: the earlier group, then the lower
// ID, then the lower owner.
func (l Ledger) older(o Ledger) bool {
	return cmp.Or(l.Created.Compare(o.Created), strings.Compare(l.Ref, o.Ref), l.Owner.Compare(o.Owner)) < 0
}

func (a *assignment) assign(g *vpn.Gateway) {
	was := a.ledgers[g.Owner]
	now := Ledger{
		Estate: a.in.Estate.Name, Owner: g.Owner,
		Protocol: g.Protocol, Peers: peerNames(g), Grants: grants(g, was),
		Applied: was.Applied, Ref: was.Ref, Created: was.Created,
	}
	found := a.judge(g, was)
	cidr, problem := a.serviceCIDR(g, was)
	now.ServiceCIDR = cidr
	if problem != nil {
		found = append(found, *problem)
	} else {
		found = append(found, now.seat(g, was, a.predecessor(g, was, cidr))...)
	}
	floating, problem := a.floatingIP(g, was)
	now.FloatingIP = floating
	if problem != nil {
		found = append(found, *problem)
	}
	for _, p := range found {
		p.Owner = g.Owner
		a.problems = append(a.problems, p)
	}
	if len(found) == 0 {
		a.assigned[g.Owner] = now
	}
}

// judge finds what makes a ledger impossible whatever addresses are free.
func (a *assignment) judge(g *vpn.Gateway, was Ledger) []Problem {
	var found []Problem
	if was.Protocol != "" && was.Protocol != g.Protocol {
		found = append(found, Problem{
			Message: fmt.Sprintf("protocol is %s, but the gateway was made for %s and can't change", g.Protocol, was.Protocol),
			Hint:    "make a gateway of another name, or delete this one first",
		})
	}
	for _, p := range g.Peers {
		if !Writable(p.Name) {
			found = append(found, Problem{Message: fmt.Sprintf("peer name %.40q can't be recorded: at most %d letters, digits, dots and dashes", p.Name, MaxName)})
		}
	}
	return found
}

func peerNames(g *vpn.Gateway) []string {
	if len(g.Peers) == 0 {
		return nil
	}
	names := make([]string, 0, len(g.Peers))
	for _, p := range g.Peers {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// grants tells whether authorization is by grants. A gateway without peers
// denies and allows nobody: it keeps what it had, so that its first peer may
// come without a block, but not the first after others who were denied.
func grants(g *vpn.Gateway, was Ledger) bool {
	if len(g.Peers) == 0 && !g.Open {
		return was.Grants
	}
	return !g.Open && !g.DefaultAllow()
}

// floatingIP is the ID of the customer's floating IP. A pin that is removed
// leaves the address the customer's.
func (a *assignment) floatingIP(g *vpn.Gateway, was Ledger) (string, *Problem) {
	if !g.FloatingIP.IsValid() || a.in.Pins == nil {
		return was.FloatingIP, nil
	}
	if id := a.in.Pins[g.FloatingIP]; id != "" {
		return id, nil
	}
	return "", &Problem{
		Message: fmt.Sprintf("floating IP %s is pinned, but the project has none with that address", g.FloatingIP),
		Hint:    "create it first, or remove spec.endpoint.floatingIP to have one allocated",
	}
}
