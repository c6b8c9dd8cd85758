package plan

import (
	"cmp"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan/resource"
)

const (
	noManifest = "no manifest any more"
	recorded   = "records the state that is reached"
)

// explain says of every change of a party why it is planned and what it does.
func (d *draft) explain(p *party) {
	cause, movers := p.cause(), p.movers()
	for _, c := range p.changes {
		if c.Reason == "" {
			c.Reason = cmp.Or(d.follows(c, movers), reason(p, c, cause))
		}
		d.effect(p, c)
	}
}

// cause is the reason that a gateway's objects share with its security group,
// where the words for it are: "peer plant2 moved".
func (p *party) cause() string {
	for _, c := range p.changes {
		if c.After != nil && c.After.SecurityGroup != nil && !c.Drift && c.Action == Update {
			return groupReason(c)
		}
	}
	return ""
}

func reason(p *party, c *Change, cause string) string {
	switch c.Action {
	case Create:
		return createReason(p, c)
	case Adopt:
		return c.Before.Adopt
	case Delete, Release:
		return deleteReason(p, c)
	}
	if c.Drift {
		if a, ok := c.attribute(attrNode); ok && a.Before != "" {
			return a.Before + " can no longer hold it"
		}
		return "changed by someone else: " + driftReason(c)
	}
	switch {
	case c.After.SecurityGroup != nil:
		return groupReason(c)
	case c.After.Port != nil:
		return portReason(c)
	case c.After.FloatingIP != nil:
		return floatingIPReason(c)
	case c.After.Route != nil:
		return routeReason(c)
	case c.After.Applied != nil:
		return recorded
	}
	return objectReason(p, c, cause)
}

func createReason(p *party, c *Change) string {
	switch {
	case p.owner.IsZero():
		return "lists what stands in the tree"
	case p.fresh():
		return "new gateway"
	case c.After.Applied != nil:
		return recorded
	case c.Drift:
		return "removed by someone else"
	case p.applied == "" && !p.deployed:
		return "not there yet"
	case c.After.Route != nil:
		return "reverse exposures need it"
	}
	return "the manifests ask for it now"
}

func deleteReason(p *party, c *Change) string {
	switch {
	case p.owner.IsZero():
		return "nothing is left to list"
	case p.gateway == nil:
		return noManifest
	case second(c.ID) || c.Before.CutOff:
		return "left over from a change that was cut off"
	case c.Drift:
		return "not part of what was applied"
	case c.ID.Kind == resource.KindRoute:
		return "no reverse exposure any more"
	}
	return "the manifests ask for it no longer"
}

// driftReason lists what moved.
func driftReason(c *Change) string {
	var moved []string
	for _, a := range c.Attributes {
		switch {
		case a.Name == attrNode && a.Before == "":
			moved = append(moved, "detached")
		case a.Name == attrPort && a.Before == "":
			moved = append(moved, "disassociated")
		default:
			moved = append(moved, a.Name)
		}
	}
	return strings.Join(moved, ", ")
}

// groupReason tells the ledger's news and whose rules follow.
func groupReason(c *Change) string {
	var why []string
	for _, a := range c.Attributes {
		switch {
		case a.Name == attrRules:
		case a.Name == attrDraining && a.After == "":
			why = append(why, "its manifest is back")
		case a.Name == attrDraining:
			why = append(why, noManifest)
		case a.Name == attrServiceCIDR && a.Before != "":
			return "pinned to " + a.After
		case a.Before == "":
			why = append(why, a.Name+" added")
		case a.After == "":
			why = append(why, a.Name+" removed")
		default:
			why = append(why, a.Name+" changed")
		}
	}
	for _, who := range movers(c) {
		if !slices.ContainsFunc(why, func(s string) bool { return strings.HasPrefix(s, who+" ") }) {
			why = append(why, who+" moved")
		}
	}
	if len(why) == 0 {
		return "the rules follow the manifests"
	}
	return strings.Join(why, ", ")
}

// movers are those for whom rules come and rules go.
func movers(c *Change) []string {
	was, is := body(c.Before, sg).Rules, body(c.After, sg).Rules
	gone, come := reasons(was, is), reasons(is, was)
	return slices.DeleteFunc(come, func(why string) bool { return why == "" || !slices.Contains(gone, why) })
}

// reasons are the reasons of rules that stand in a and not in b, sorted.
func reasons(a, b []resource.Rule) []string {
	other := make(map[resource.Rule]bool, len(b))
	for _, r := range b {
		other[r.Key()] = true
	}
	var why []string
	for _, r := range a {
		if !other[r.Key()] {
			why = append(why, r.Why)
		}
	}
	slices.Sort(why)
	return slices.Compact(why)
}

func portReason(c *Change) string {
	if a, ok := c.attribute(attrNetwork); ok {
		return "the transit network is now " + a.After
	}
	if a, ok := c.attribute(attrNode); ok {
		if a.Before == "" {
			return "attached to no node"
		}
		return a.Before + " can no longer hold it"
	}
	if _, ok := c.attribute(attrPairs); ok {
		return "the address pairs follow the service CIDR and the reverse exposures"
	}
	return "the manifests changed"
}

func floatingIPReason(c *Change) string {
	if a, ok := c.attribute(attrAddress); ok {
		return "pinned to " + a.After
	}
	if a, ok := c.attribute(attrOwnership); ok && c.After.FloatingIP.Pinned {
		return "pinned: the address is now " + a.After
	}
	return "not associated with its port"
}

func routeReason(c *Change) string {
	if a, ok := c.attribute(attrDestination); ok {
		return "the service CIDR is now " + a.After
	}
	if a, ok := c.attribute(attrRouter); ok {
		return "the estate's router is now " + a.After
	}
	if _, ok := c.attribute(attrNextHop); ok {
		return "another next hop than the port's"
	}
	return "next hops that no port holds any more"
}

func objectReason(p *party, c *Change, cause string) string {
	switch {
	case p.owner.IsZero():
		return "lists what stands in the tree"
	case len(c.After.Object.Unknown) > 0:
		return "follows " + strings.Join(c.After.Object.Unknown, ", ")
	case cause != "":
		return cause
	case p.applied == "":
		return "not there yet as it should be"
	}
	return "the manifests or the estate's settings changed"
}
