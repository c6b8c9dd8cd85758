package plan

import (
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// settle orders the changes of all owners among each other, and refuses who can't
// be ordered. A refusal can take away what another owner waits for, so it goes
// on until nobody is refused any more.
func (d *draft) settle() {
	for _, p := range d.sorted {
		d.link(p)
	}
	for d.succeed() || d.untangle() || d.keepWhole() {
	}
	for c, first := range d.waits {
		c.Needs = append(c.Needs, first...)
	}
	d.waits = nil
}

// demand is a range or address that a change takes up.
type demand struct {
	change *Change
	what   string // "service CIDR 100.64.3.0/24"
}

// succeed lets everyone who takes up what another gives up wait for that. It
// reports whether it had to refuse somebody.
func (d *draft) succeed() bool {
	d.waits = map[*Change][]resource.ID{}
	refused := d.makeRoom()
	for _, x := range d.demands() {
		var left *Change // the ledger of a gateway that goes
		for _, have := range d.held()[x.what] {
			if have.Owner == x.change.Owner.String() || d.parties[x.change.Owner.String()].refused {
				continue
			}
			giver, gives := d.changes[have.ID]
			switch {
			case gives && frees(giver, x.what) && giver.Before.SecurityGroup != nil && giver.Action == Delete:
				left = giver
				continue
			case gives && frees(giver, x.what):
				d.waits[x.change] = append(d.waits[x.change], have.ID)
				continue
			case gives && d.parties[have.Owner].fate == remove: // it goes in a later run
				x.change.Held = x.what + " is free once " + giver.Owner.Path() + " has drained"
				continue
			}
			refused = true
			d.decline(x, have)
		}
		d.handOver(left, x.change)
	}
	return refused
}

// handOver puts the end of one ledger behind the beginning of the one that takes its
// range over, whose addresses follow from it: so whatever call is the last of a run,
// the next one finds them. The new one needs another step of the old gateway, if only
// its port's: a ledger that begins a run counts against those that it meets. Where
// there is none left, it is the other way round.
func (d *draft) handOver(left, takes *Change) {
	if left == nil {
		return
	}
	if port, goes := d.changes[d.parties[left.Owner.String()].id(resource.KindPort)]; goes && len(d.waits[takes]) == 0 {
		d.waits[takes] = append(d.waits[takes], port.ID)
	}
	if takes.Action != Create || len(d.waits[takes]) == 0 {
		d.waits[takes] = append(d.waits[takes], left.ID)
		return
	}
	d.waits[left] = append(d.waits[left], takes.ID)
}

// decline refuses a demand for what another owner keeps.
func (d *draft) decline(x demand, have resource.Resource) {
	holder := d.parties[have.Owner]
	hint := ""
	switch {
	case holder.line != nil && holder.line.Excluded:
		hint = "let go of it in the same run: --gateway " + holder.owner.Path()
	case holder.gone() && !d.in.Options.Prune:
		hint = "--prune deletes " + holder.owner.Path()
	}
	d.refuse(Refusal{Owner: x.change.Owner, ID: x.change.ID, Message: x.what + " is held by " + have.Owner, Hint: hint})
	d.drop(d.parties[x.change.Owner.String()])
}

func (d *draft) demands() []demand {
	var all []demand
	for _, p := range d.sorted {
		for _, c := range p.changes {
			if c.After == nil || c.After.SecurityGroup == nil && c.After.FloatingIP == nil {
				continue
			}
			had := claims(c.Before)
			for _, what := range claims(c.After) {
				if !slices.Contains(had, what) {
					all = append(all, demand{c, what})
				}
			}
		}
	}
	return all
}

// held finds who holds what on the observed side.
func (d *draft) held() map[string][]resource.Resource {
	if d.holders == nil {
		d.holders = map[string][]resource.Resource{}
		for _, have := range d.in.Observed {
			if !have.ID.Kind.Cloud() || have.CutOff {
				continue
			}
			for _, what := range claims(&have) {
				d.holders[what] = append(d.holders[what], have)
			}
		}
		for _, list := range d.holders {
			slices.SortFunc(list, func(a, b resource.Resource) int { return a.ID.Compare(b.ID) })
		}
	}
	return d.holders
}

// claims are the ranges and addresses that a resource holds.
func claims(r *resource.Resource) []string {
	const cidr = "service CIDR "
	switch {
	case r == nil:
	case r.SecurityGroup != nil:
		var all []string
		if s := serviceCIDR(r.SecurityGroup.Ledger); s != "" {
			all = append(all, cidr+s)
		}
		for _, p := range r.SecurityGroup.MovingFrom {
			all = append(all, cidr+p.String())
		}
		return all
	case r.Route != nil && r.Route.Destination.IsValid() && !absent(r):
		return []string{cidr + r.Route.Destination.String()}
	case r.Port != nil:
		var all []string
		for _, p := range r.Port.Pairs {
			all = append(all, cidr+p.String())
		}
		return all
	case r.FloatingIP != nil && r.FloatingIP.Address != "" && r.FloatingIP.Address != resource.Unknown:
		return []string{"floating IP " + r.FloatingIP.Address}
	}
	return nil
}

// frees tells whether a change lets go of something in a way that another can
// take it up: a floating IP that goes back to its pool can't be.
func frees(c *Change, what string) bool {
	if f := body(c.Before, floatingIP); f.Address != "" && !f.Pinned && c.Action != Release {
		return false
	}
	return c.Action == Delete || c.Action == Release || !slices.Contains(claims(c.After), what)
}

// untangle refuses the owners of a circle of changes that wait for each other.
// It reports whether there was one.
func (d *draft) untangle() bool {
	circle := d.circle()
	if circle == nil {
		return false
	}
	var names []string
	owners := map[vpn.Owner]bool{}
	for _, c := range circle {
		names = append(names, c.ID.String())
		owners[c.Owner] = true
	}
	for _, p := range d.sorted {
		if owners[p.owner] {
			d.refuse(Refusal{
				Owner: p.owner, ID: circle[0].ID,
				Message: "these changes wait for each other: " + strings.Join(names, ", "),
				Hint:    "make them in two steps",
			})
			d.drop(p)
		}
	}
	return true
}
