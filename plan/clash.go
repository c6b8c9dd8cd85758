package plan

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan/resource"
)

// clash is two owners of the same resources: one wants them, the other has them.
type clash struct{ wants, has *party }

// collide notes that what one owner wants is another's.
func (d *draft) collide(wants, has *party, id resource.ID) {
	c := clash{wants, has}
	d.clashes[c] = append(d.clashes[c], id)
}

// part refuses, of two owners that clash, the one that wants what the other has.
func (d *draft) part() {
	for c, ids := range d.clashes {
		slices.SortFunc(ids, resource.ID.Compare)
		message := "stands already and belongs to " + cmp.Or(c.has.text, "the estate itself")
		if n := len(ids) - 1; n > 0 {
			message += ", as " + verb(n) + fmt.Sprintf(" %d more that %s needs", n, c.wants.owner.Path())
		}
		d.refuse(Refusal{Owner: c.wants.owner, ID: ids[0], Message: message, Hint: d.wayOut(c)})
	}
}

// wayOut says what to do about a clash.
func (d *draft) wayOut(c clash) string {
	has, wants := c.has.owner, c.wants.owner
	switch {
	case has.IsZero():
		return ""
	case has.Path() == wants.Path():
		return "two kinds of one name share their objects: take this manifest away, prune the other, then add it again"
	case c.has.gateway == nil:
		return d.rename(c)
	}
	return "a peer has one gateway: take it away and run apply with --prune, then add it to " + wants.Name + "; or give it another name"
}

// rename says how a gateway that seems to have got another name keeps its address
// and range.
func (d *draft) rename(c clash) string {
	address, cidr := d.holdings(c.has)
	var pins []string
	if address.IsValid() && c.wants.gateway.FloatingIP != address {
		pins = append(pins, "floatingIP "+address.String())
	}
	if cidr.IsValid() && !wantsRange(c.wants.gateway, cidr) {
		pins = append(pins, "serviceCIDR "+cidr.String())
	}
	from, to := c.has.owner.Name, c.wants.owner.Name
	if len(pins) == 0 {
		return from + " → " + to + "? give the peers new names"
	}
	return fmt.Sprintf("%s → %s? pin %s of %s in %s first, and give the peers new names", from, to, strings.Join(pins, " and "), from, to)
}

// holdings are the floating IP and the service CIDR that an owner has; zero where it
// has none.
func (d *draft) holdings(p *party) (address netip.Addr, cidr netip.Prefix) {
	id := resource.ID{Kind: resource.KindFloatingIP, Namespace: p.owner.Namespace, Name: p.owner.Name}
	if have, ok := d.in.Observed[id]; ok && have.Owner == p.text {
		address, _ = netip.ParseAddr(body(&have, floatingIP).Address)
	}
	if p.ledger != nil {
		cidr = p.ledger.ServiceCIDR
	}
	return address, cidr
}

// keepWhole refuses to take away from one owner what a refused one would have taken
// over: nobody would have it then. It reports whether it had to.
func (d *draft) keepWhole() bool {
	if len(d.plan.Refusals) == 0 {
		return false
	}
	found := false
	keep := func(has, wants *party, what string) {
		if has.refused || !wants.refused {
			return
		}
		found = true
		d.refuse(Refusal{
			Owner: has.owner, Message: fmt.Sprintf("nothing of it is removed: %s, and %s is refused", what, wants.owner.Path()),
			Hint: "see what is said of " + wants.owner.Path(),
		})
		d.drop(has)
	}
	clashes := slices.SortedFunc(maps.Keys(d.clashes), func(a, b clash) int {
		return cmp.Or(a.wants.owner.Compare(b.wants.owner), a.has.owner.Compare(b.has.owner))
	})
	for _, c := range clashes {
		if c.has.owner.IsZero() || c.has.fate == stay {
			continue
		}
		keep(c.has, c.wants, c.wants.owner.Path()+" needs what belongs to it, "+d.clashes[c][0].String())
	}
	for _, has := range d.sorted {
		if has.fate == remove {
			d.heirs(has, func(wants *party, what string) { keep(has, wants, wants.owner.Path()+" takes over its "+what) })
		}
	}
	return found
}

// heirs shows each gateway that pins something that an owner has, and what: its address
// and its range may go to two.
func (d *draft) heirs(has *party, each func(wants *party, what string)) {
	address, cidr := d.holdings(has)
	for _, p := range d.sorted {
		switch {
		case p.gateway == nil || p == has:
		case address.IsValid() && p.gateway.FloatingIP == address:
			each(p, "floating IP "+address.String())
		case cidr.IsValid() && wantsRange(p.gateway, cidr):
			each(p, "service CIDR "+cidr.String())
		}
	}
}

func verb(n int) string {
	if n == 1 {
		return "does"
	}
	return "do"
}
