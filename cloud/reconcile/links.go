package reconcile

import (
	"net/netip"
	"slices"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render"
	"github.com/vpnctl/vpnctl/state"
)

// checkLinks refuses links that can't carry our marks, and those into customers' projects
// that nobody has attested, or that can't be reached.
func (d *decision) checkLinks() {
	for _, l := range d.Estate.Links {
		if err := state.Check(d.Estate.Name, l.Owner); err != nil {
			d.note(plan.Refusal{Owner: l.Owner, Message: err.Error(), Hint: "give it another name"})
		}
		if l.Cross() {
			d.checkCross(l)
		}
	}
}

// allocateLegs gives every link its ledger.
func (d *decision) allocateLegs() {
	d.freed = d.releasedLinks()
	routers := map[vpn.Owner]string{}
	for _, l := range d.Estate.Links {
		if r, resolved := d.seen.Facts.Links[l.Owner.String()]; resolved {
			routers[l.Owner] = r.Router
		}
	}
	ledgers, problems := alloc.AssignLegs(alloc.LegInput{
		Links: d.Estate.Links, Ledgers: d.seen.Links, Released: d.freed, Estate: d.Estate.Name,
		Subnet: d.seen.Facts.Subnet, Reserved: d.reservedHosts(), Occupants: d.seen.Occupants, Routers: routers,
	})
	d.problems(slices.DeleteFunc(problems, d.ledgerless), "")
	for _, l := range d.Estate.Links {
		ledger, given := ledgers[l.Owner]
		r, resolved := d.seen.Facts.Links[l.Owner.String()]
		if given && resolved && d.lost[l.Owner] == nil {
			in := render.LinkInput{Estate: d.Estate, Link: l, Ledger: ledger, Facts: d.seen.Facts, Router: render.Router{ID: r.Router, Name: r.RouterName}}
			d.links[l.Owner] = d.crossing(in)
		}
	}
}

// releasedLinks are those whose addresses this run gives up.
func (d *decision) releasedLinks() []vpn.Owner {
	if !d.Options.Prune {
		return nil
	}
	var gone []vpn.Owner
	written := d.written()
	for _, l := range d.seen.Links {
		if !written[l.Owner] && !d.Spares(l.Owner) && d.lost[l.Owner] == nil {
			gone = append(gone, l.Owner)
		}
	}
	return gone
}

const lockHost = "the address of the estate's lock"

// reservedHosts are the addresses of the transit subnet that no leg may have.
func (d *decision) reservedHosts() map[netip.Addr]string {
	all := map[netip.Addr]string{}
	if a := d.seen.Facts.SubnetGateway; a.IsValid() {
		all[a] = "the subnet's gateway"
	}
	if a := d.Estate.OpenStack.LockAddress; a.IsValid() {
		all[a] = lockHost
	} else if d.seen.Facts.Subnet.IsValid() {
		all[state.LockAddress(d.seen.Facts.Subnet)] = lockHost
	}
	return all
}

// joined are the service clusters' routers that lead back to a gateway: those of all
// links in our own project, and of the links into customers' projects that it names. One
// that has lost its manifest, or is refused, and is left as it is leads to whom it did.
func (d *decision) joined(g vpn.Gateway) []render.Joined {
	var all []render.Joined
	if len(g.ReverseExposures) == 0 {
		return nil
	}
	for _, l := range d.Estate.Links {
		in, ok := d.links[l.Owner]
		if ok && !d.doubted[l.Owner] && (!l.Cross() || slices.Contains(g.Links, l.Owner.Name)) {
			all = append(all, render.Joined{Link: l.Owner, Router: in.Router, By: in.Customers})
		}
	}
	for _, l := range d.seen.Links {
		if _, planned := d.links[l.Owner]; planned && !d.doubted[l.Owner] || slices.Contains(d.freed, l.Owner) {
			continue
		}
		if back, leads := d.leadsBack(g, l.Owner); leads {
			all = append(all, back)
		}
	}
	slices.SortFunc(all, func(a, b render.Joined) int { return a.Link.Compare(b.Link) })
	return all
}

// leadsBack tells whether a link that is left as it is leads back to a gateway. Where its
// customer's router can't be seen that counts as the gateway has it, and nothing is made
// or taken away there.
func (d *decision) leadsBack(g vpn.Gateway, o vpn.Owner) (render.Joined, bool) {
	leg := d.seen.Graph[render.LegID(o)].TransitLeg
	if leg == nil || leg.Router == "" {
		return render.Joined{}, false
	}
	back := render.Joined{Link: o, Router: render.Router{ID: leg.Router, Name: leg.RouterName}, By: leg.By}
	if d.seen.Sides[o].Fault != nil {
		back.Apart = true
		return back, slices.Contains(g.Links, o.Name)
	}
	r, stands := d.seen.Graph[render.ReverseRouteID(g.Owner, leg.Router)]
	return back, stands && r.Proof != "" && (leg.Project == "" || slices.Contains(g.Links, o.Name))
}
