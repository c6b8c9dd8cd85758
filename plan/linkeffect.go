package plan

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// linkEffect says which exposures lead through a link that is taken away. As where an
// exposure's address moves, whoever calls them from the other side must follow: no tunnel
// ends, but what is sent into it arrives nowhere.
func (d *draft) linkEffect(p *party, c *Change) {
	if c.Action != Delete || c.Before.Route == nil && c.Before.TransitLeg == nil || second(c.ID) {
		return
	}
	if body(c.Before, leg).Adopted {
		c.suffer(Verdict{Consequence: "somebody else had made it before it was adopted"})
	}
	if through := d.through(p); len(through) > 0 {
		c.suffer(Verdict{Impact: ImpactCustomer, Consequence: "nothing reaches " + some(through) + " any more: who calls that must change or stop"})
	}
}

// backEffect says whose calls stop with a gateway's route on a service cluster's router. As
// where a reverse exposure moves, those are on our side, and tunnels stay up.
func (d *draft) backEffect(p *party, c *Change) {
	if p.gateway == nil || c.Action != Delete || c.Before.Route == nil || !second(c.ID) || len(p.gateway.ReverseExposures) == 0 {
		return
	}
	l := d.linkOn(c.Before.Route.Router)
	if l == nil {
		return
	}
	var all []string
	for _, x := range p.gateway.ReverseExposures {
		all = append(all, p.owner.Path()+"/"+x.Name)
	}
	c.suffer(Verdict{Impact: ImpactReload, Consequence: "nobody behind link " + l.owner.Name + " reaches " + some(union(all, nil)) + " any more"})
}

// exposuresTold is how many exposures a consequence names.
const exposuresTold = 5

// some names the first exposures, and counts the others.
func some(exposures []string) string {
	more := ""
	if n := len(exposures) - exposuresTold; n > 0 {
		exposures, more = exposures[:exposuresTold], fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(exposures, ", ") + more
}

// through are the exposures whose targets lie behind a link, sorted.
func (d *draft) through(p *party) []string {
	behind := d.behind(p)
	var all []string
	for i := range d.in.Estate.Gateways {
		g := &d.in.Estate.Gateways[i]
		if !d.party(g.Owner.String()).running() {
			continue
		}
		for _, x := range g.Exposures {
			if a := x.Target.Address; behind.IsValid() && a.IsValid() && behind.Contains(a) {
				all = append(all, g.Owner.Path()+"/"+x.Name)
			}
		}
	}
	return union(all, nil)
}

// behind is the service cluster's range that a link leads to: by its manifest, its ledger
// or, where that can't be read, its route.
func (d *draft) behind(p *party) netip.Prefix {
	if p.link != nil && p.link.CIDR.IsValid() {
		return p.link.CIDR
	}
	if cidr, err := netip.ParsePrefix(d.allotted(p, attrServiceCluster)); err == nil {
		return cidr
	}
	r := d.in.Observed[resource.ID{Kind: resource.KindRoute, Name: p.owner.Name}]
	return body(&r, route).Destination
}

// allotted is what a link's ledger says of an attribute.
func (d *draft) allotted(p *party, name string) string {
	g := d.in.Observed[resource.ID{Kind: resource.KindSecurityGroup, Name: p.owner.Name}]
	return allocations(body(&g, sg).Ledger)[name]
}

// operators is how a plan calls the credential by which everything is made that is not in
// a customer's project.
const operators = "the operator's credential"

// crosses tells whether a link leads into a customer's project.
func (d *draft) crosses(p *party) bool {
	l := d.in.Observed[resource.ID{Kind: resource.KindTransitLeg, Name: p.owner.Name}]
	return p.link != nil && p.link.Cross() || d.allotted(p, attrProject) != "" || body(&l, leg).Project != ""
}

// credential says by whose credential a change is made, where there are several: of a link
// into a customer's project, and of the routes there.
func (d *draft) credential(p *party, c *Change) string {
	for _, r := range []*resource.Resource{c.After, c.Before} {
		by := []string{body(r, route).By, body(r, leg).By, body(r, share).By}
		if i := slices.IndexFunc(by, func(s string) bool { return s != "" }); i >= 0 {
			return by[i]
		}
	}
	if c.ID.Kind.Cloud() && p.owner.Kind == vpn.KindClusterLink && d.crosses(p) {
		return operators
	}
	return ""
}
