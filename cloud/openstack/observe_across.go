package openstack

import (
	"cmp"
	"context"
	"net/netip"
	"net/url"
	"slices"
	"time"

	ipsecv1alpha1 "github.com/vpnctl/vpnctl/crds/ipsec/v1alpha1"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// abroad is what concerns links into customers' projects.
type abroad struct {
	sides    []*customer // sorted by owner
	policies []policy    // who else may use the transit network
	theirs   []port      // the customers' ports: those on the transit network, and those with our tags
}

// crossed are the links into customers' projects that have a manifest or a ledger. Where
// that is decides the ledger of one that was made: its leg, and what leads to gateways,
// stand there, whatever a manifest says by now. By which credential a project is reached
// whose manifest has gone, the Estate may say.
func (v *view) crossed() []vpn.Link {
	var all []vpn.Link
	made, written := v.crossings(), map[vpn.Owner]bool{}
	for _, l := range v.manifest.Links {
		written[l.Owner] = true
		if was, known := made[l.Owner]; known {
			l.CustomerProject, l.Cloud = was.Customer, cmp.Or(l.Cloud, v.manifest.OpenStack.Clouds[l.Owner.Name])
		}
		if l.Cross() {
			all = append(all, l)
		}
	}
	for o, was := range made {
		if was.Cross() && !written[o] {
			all = append(all, vpn.Link{Owner: o, CIDR: was.CIDR, CustomerProject: was.Customer, Cloud: v.manifest.OpenStack.Clouds[o.Name]})
		}
	}
	slices.SortFunc(all, func(a, b vpn.Link) int { return a.Owner.Compare(b.Owner) })
	return all
}

// crossings are the ledgers that say into which project a link leads: all that can be
// relied on, and of the others those that name a customer's.
func (v *view) crossings() map[vpn.Owner]alloc.LinkLedger {
	all := map[vpn.Owner]alloc.LinkLedger{}
	for _, g := range v.groups {
		whole := g.unreadable == nil && g.link.CIDR.IsValid()
		if _, another := all[g.Owner]; v.ownLink(g) && !another && (whole || g.link.Cross()) {
			all[g.Owner] = g.link
		}
	}
	return all
}

// customerTime is how long the look at one customer's project may take, with the login. It
// costs a second or two; where nobody answers the run goes on without that customer. The
// estate's lock and all others wait as long for each customersAtOnce who don't answer.
const customerTime = 30 * time.Second

// customersAtOnce is how many customers' projects are looked at side by side.
const customersAtOnce = 8

// lookAcross logs in to the customers' projects and lists what concerns their links: with
// each credential the routers and our ports, with our own the policies of the transit
// network and the customers' ports on it. It costs nothing where no link leads into
// another project.
func (d *Driver) lookAcross(ctx context.Context, v *view) error {
	links := v.crossed()
	v.sides = make([]*customer, len(links))
	var calls []func(context.Context) error
	var projects []string
	turns := make(chan struct{}, customersAtOnce)
	for i, l := range links {
		projects = append(projects, l.CustomerProject)
		calls = append(calls, func(ctx context.Context) (err error) {
			turns <- struct{}{}
			defer func() { <-turns }()
			v.sides[i], err = d.visit(ctx, l)
			return err
		})
	}
	slices.Sort(projects)
	if len(links) > 0 {
		calls = append(calls,
			func(ctx context.Context) (err error) {
				v.policies, err = list[policy](ctx, d, policiesPath, url.Values{"object_id": {v.network.ID}})
				return err
			},
			func(ctx context.Context) (err error) {
				v.theirs, err = listAny[port](ctx, d, portsPath, "project_id", slices.Compact(projects), url.Values{"network_id": {v.network.ID}})
				return err
			})
	}
	if err := together(ctx, calls...); err != nil {
		return err
	}
	v.gatherTheirs()
	d.rememberCustomers(v.sides)
	return nil
}

// gatherTheirs keeps of the customers' ports those of the right project, each once.
func (v *view) gatherTheirs() {
	all := v.theirs
	for _, c := range v.sides {
		all = append(all, c.ports...)
	}
	known, foreign := map[string]bool{}, map[string]bool{}
	for _, c := range v.sides {
		foreign[c.link.CustomerProject] = true
	}
	v.theirs = slices.DeleteFunc(all, func(p port) bool {
		twice := known[p.ID]
		known[p.ID] = true
		return twice || !foreign[p.Project] || p.Project == v.router.Project
	})
	for _, c := range v.sides {
		seen := slices.ContainsFunc(v.sides, func(o *customer) bool { return o.Driver != nil && o.project == c.link.CustomerProject })
		c.joins = !seen && !v.givenUp(c.link.Owner) && len(v.using(c.link)) > 0
	}
}

// givenUp tells whether it is on record that a link's customer's side may be left behind.
func (v *view) givenUp(o vpn.Owner) bool {
	return slices.ContainsFunc(v.groups, func(g ledgered) bool { return v.ownLink(g) && g.Owner == o && g.link.Abandoned })
}

// customerOf is the customer's side of a link; nil: it has none.
func (v *view) customerOf(o vpn.Owner) *customer {
	i := slices.IndexFunc(v.sides, func(c *customer) bool { return c.link.Owner == o })
	if i < 0 {
		return nil
	}
	return v.sides[i]
}

// legProject is the project in which a link's leg stands.
func (v *view) legProject(o vpn.Owner) string {
	if c := v.customerOf(o); c != nil {
		return c.link.CustomerProject
	}
	return v.router.Project
}

// allRouters are our own project's, and those of customers' projects.
func (v *view) allRouters() []router {
	all, known := slices.Clone(v.routers), map[string]bool{}
	for _, c := range v.sides {
		for _, r := range c.all {
			if !known[r.ID] {
				known[r.ID] = true
				all = append(all, r)
			}
		}
	}
	return all
}

// judgeSides tells which customers' projects could be looked at, and refuses to share a
// network that is not ours to share.
func (j *judgement) judgeSides() {
	for _, c := range j.sides {
		j.Sides[c.link.Owner] = c.side()
		if j.links[c.link.Owner] && j.network.Project != j.router.Project {
			j.Problems = append(j.Problems, plan.Refusal{
				Owner: c.link.Owner, Reason: ipsecv1alpha1.ReasonTransitNetworkNotOwned,
				Message: "network " + j.network.label() + " is project " + j.network.Project + "'s, and only that can share it",
				Hint:    "name a network of the operator's own project in the Estate",
			})
		}
	}
}

// misplaced refuses a leg of a customer's that stands where no gateway is.
func (j *judgement) misplaced(o vpn.Owner, p port) bool {
	if p.Network == j.network.ID && slices.ContainsFunc(p.addresses(), j.prefix.Contains) {
		return false
	}
	if j.links[o] {
		j.Problems = append(j.Problems, plan.Refusal{
			Owner: o, ID: idOf(resource.KindTransitLeg, o), Reason: ipsecv1alpha1.ReasonTransitIPMismatch,
			Message: "port " + p.ID + " is the link's transit leg, but has no address of the transit subnet " + j.prefix.String(),
			Hint:    "delete that port in the customer's project, or take the link away and apply with --prune",
		})
	}
	return true
}

// stripped refuses a link whose leg, by the ledger, lost its tags by the customer's hand:
// without it nobody would know it for ours any more.
func (j *judgement) stripped(p port) {
	if p.Project == j.router.Project {
		return
	}
	for o, g := range j.owned {
		if c := j.customerOf(o); c == nil || g.link.Leg != p.ID || p.Project != c.link.CustomerProject {
			continue
		}
		j.problem(o, idOf(resource.KindTransitLeg, o), j.restoring(resource.KindTransitLeg, o),
			"port %s in project %s is the transit leg by the ledger, but lost its tags", p.ID, p.Project)
	}
}

// by says on whose behalf a route on a router is written; empty: by our own credential, as
// everything else of its owner.
func (j *judgement) by(o vpn.Owner, r router) string {
	for _, c := range j.sides {
		switch {
		case c.Driver != nil && r.Project == c.project && r.Project != j.router.Project:
			return c.by()
		case c.link.Owner == o:
			return operators
		}
	}
	return ""
}

// theirHops are the customers' ports on the transit network, by address.
func (v *view) theirHops() map[netip.Addr]port {
	var here []port
	for _, p := range v.theirs {
		if p.Network == v.network.ID {
			here = append(here, p)
		}
	}
	return holdersOf(here)
}
