package plan

import (
	"cmp"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// effect sets what a change of a standing gateway does to the people behind it.
// Where no tunnel can be up, nothing does anything.
func (d *draft) effect(p *party, c *Change) {
	if !p.owner.Gateway() {
		d.linkEffect(p, c)
		return
	}
	d.backEffect(p, c)
	if !p.running() || c.Action == Release {
		return
	}
	switch {
	case c.Action == Delete:
		if c.Before.Object != nil && p.fate == build {
			d.objectEffect(p, c)
		}
	case c.After.Object != nil:
		d.objectEffect(p, c)
	case c.After.SecurityGroup != nil:
		d.groupEffect(p, c)
	case c.After.Port != nil:
		d.portEffect(p, c)
	case c.After.FloatingIP != nil:
		a, ok := c.attribute(attrAddress)
		if c.Action == Create || c.Action == Replace || ok && a.Before != "" {
			c.suffer(everyone(p, ImpactCustomer, "the gateway's public address becomes "+cmp.Or(a.After, resource.Unknown)))
		}
	}
}

// objectEffect asks the judge. Whoever rolls the pod interrupts everyone, whom
// the object need not name.
func (d *draft) objectEffect(p *party, c *Change) {
	switch {
	case c.ID.Kind == kindDeployment && p.unseen():
		c.suffer(everyone(p, ImpactRestart, "what its pod runs with is not known, because its files are not there: it may start again"))
		return
	case c.Before == nil || d.in.Judge == nil:
		return
	}
	var after resource.Resource // an object that goes leaves nothing
	if c.After != nil {
		after = *c.After
	}
	v := d.in.Judge(*c.Before, after)
	if v.Impact >= ImpactRestart && len(v.Interrupts) == 0 {
		v.Interrupts = p.peers()
	}
	c.suffer(v)
}

// everyone is the verdict that concerns all peers of a gateway.
func everyone(p *party, i Impact, consequence string) Verdict {
	v := Verdict{Impact: i, Interrupts: p.peers(), Consequence: consequence}
	if i == ImpactCustomer {
		v.Customers = v.Interrupts
	}
	return v
}

func (d *draft) portEffect(p *party, c *Change) {
	if c.Action == Create || c.Action == Replace {
		c.suffer(everyone(p, ImpactRestart, "the pod starts again with the new port"))
		return
	}
	if c.Action == Adopt && !p.deployed {
		c.suffer(everyone(p, ImpactRestart, "the operator's pod gives way to another one"))
	}
	if a, ok := c.attribute(attrNode); ok {
		where := "on " + a.After
		if a.Before == "" {
			where += ", where its port is attached again"
		}
		c.suffer(everyone(p, ImpactRestart, "the pod starts again "+where))
	}
}

// groupEffect: what the ledger moves, the other side has to follow; and a rule
// that goes cuts off the peer that it is for, unless another one lets it in.
func (d *draft) groupEffect(p *party, c *Change) {
	if c.Before != nil {
		for _, r := range c.Before.SecurityGroup.Rules {
			peer, ok := strings.CutPrefix(r.Why, peerRule)
			if ok && slices.Contains(p.peers(), peer) && !covered(r, c.After.SecurityGroup.Rules) {
				c.suffer(Verdict{Impact: ImpactReconnect, Interrupts: []string{peer}})
			}
		}
	}
	if c.Before != nil {
		for _, peer := range p.lost {
			if p.renamed[peer] == "" { // what becomes of the others, their files say
				c.suffer(d.departure(p, peer, c.Before.SecurityGroup.Rules))
			}
		}
	}
	if a, ok := c.attribute(attrServiceCIDR); ok && a.Before != "" {
		c.suffer(everyone(p, ImpactCustomer, "the service CIDR moves from "+a.Before+" to "+a.After))
		return
	}
	d.reused(p, c)
	for _, a := range c.Attributes {
		if a.Before == "" || a.After == "" {
			continue
		}
		if name, ok := strings.CutPrefix(a.Name, attrVirtualIP); ok {
			c.suffer(d.moved(p, name, a))
		}
		if name, ok := strings.CutPrefix(a.Name, attrTunnelIP); ok {
			c.suffer(Verdict{ImpactCustomer, []string{name}, []string{name}, name + " gets the tunnel address " + a.After})
		}
	}
}

// covered tells whether rules let in all that a rule lets in.
func covered(r resource.Rule, by []resource.Rule) bool {
	return slices.ContainsFunc(by, func(o resource.Rule) bool {
		wider := !o.Remote.IsValid() || r.Remote.IsValid() && o.Remote.Bits() <= r.Remote.Bits() && o.Remote.Contains(r.Remote.Addr())
		return o.Direction == r.Direction && o.Ether == r.Ether && o.Protocol == r.Protocol && o.From <= r.From && r.To <= o.To && o.Group == r.Group && wider
	})
}

// moved is what another virtual IP does: the peers that use an exposure must
// follow, and for a reverse exposure whoever calls it on our side.
func (d *draft) moved(p *party, exposure string, a Attribute) Verdict {
	where := exposure + " moves from " + a.Before + " to " + a.After
	if !slices.ContainsFunc(p.gateway.Exposures, func(x vpn.Exposure) bool { return x.Name == exposure }) {
		return Verdict{Impact: ImpactReload, Consequence: where + ": whoever calls it on our side must follow"}
	}
	return Verdict{Impact: ImpactCustomer, Customers: d.users(p, exposure), Consequence: where}
}

// users are the peers that reach an exposure now, or may: where it is not known.
func (d *draft) users(p *party, exposure string) []string {
	return slices.DeleteFunc(p.peers(), func(peer string) bool {
		access, known := d.in.Before[p.text][peer]
		return known && !slices.Contains(access.Exposures, exposure)
	})
}

// suffer adds a verdict to a change: the worst counts, the people add up.
func (c *Change) suffer(v Verdict) {
	sum := Verdict{c.Impact, c.Interrupts, c.Customers, c.Consequence}
	sum.add(v)
	c.Impact, c.Interrupts, c.Customers, c.Consequence = sum.Impact, sum.Interrupts, sum.Customers, sum.Consequence
}

func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

func (c *Change) attribute(name string) (Attribute, bool) {
	for _, a := range c.Attributes {
		if a.Name == name {
			return a, true
		}
	}
	return Attribute{}, false
}
