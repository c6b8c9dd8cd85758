package plan

import (
	"cmp"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan/resource"
)

// NoManifest begins the reason of everything that happens to an owner because its
// manifest is gone, and the notice of one that is left alone.
const NoManifest = "no manifest any more"

// cutOffChange is why a further object of an owner that has one of its kind goes.
const cutOffChange = "left over from a change that was cut off"

const recorded = "records the state that is reached"

// explain says of every change of a party why it is planned and what it does.
func (d *draft) explain(p *party) {
	why, movers := p.why(), p.movers()
	for _, c := range p.changes {
		if c.Reason == "" {
			mover := d.follows(c, movers)
			meant := func(o *Change) bool { return mover != "" && movers[o.ID] == mover && !o.Drift }
			c.Drift = c.Drift && !slices.ContainsFunc(p.changes, meant)
			c.Reason = cmp.Or(mover, d.reason(p, c, why))
		}
		c.Credential = d.credential(p, c)
		d.effect(p, c)
	}
}

// why is what moved in a gateway's manifests, and what moved on its ledger and in
// its rules, which tells less.
type why struct{ manifests, group []cause }

func (p *party) why() why {
	w := why{manifests: p.causes()}
	for _, c := range p.changes {
		if c.After != nil && c.After.SecurityGroup != nil && !c.Drift && c.Action == Update {
			w.group = groupCauses(c)
		}
	}
	return w
}

func (d *draft) reason(p *party, c *Change, w why) string {
	switch c.Action {
	case Replace:
		if dying(c.Before) {
			return "it is being deleted, and made anew once it is gone"
		}
	case Create:
		return d.createReason(p, c)
	case Adopt:
		return c.Before.Adopt
	case Delete, Release:
		return d.deleteReason(p, c)
	}
	if c.Drift {
		if a, ok := c.attribute(attrNode); ok && a.Before != "" {
			return a.Before + " can no longer hold it"
		}
		return "changed by " + whom(c) + ": " + driftReason(c)
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
	case c.After.TransitLeg != nil:
		return "its port joins no router"
	case c.After.NetworkShare != nil:
		return "the manifests ask for another project"
	case conceded(c):
		return "records what the manifest says of the customer's side"
	case c.After.Applied != nil:
		return recorded
	}
	return objectReason(p, c, w)
}

func (d *draft) createReason(p *party, c *Change) string {
	switch {
	case p.owner.IsZero():
		return "lists what stands in the tree"
	case p.fresh() && p.link != nil:
		return "new link"
	case p.fresh():
		return "new gateway"
	case c.After.Applied != nil:
		return recorded
	case c.Drift:
		return "removed by someone else"
	case p.applied == "" && !p.deployed:
		return "not there yet"
	case c.After.Route != nil && p.gateway != nil && second(c.ID):
		return d.joined(c)
	case c.After.Route != nil && p.gateway != nil:
		return "reverse exposures need it"
	case c.ID.Kind == kindVPNPeer:
		return "new peer"
	}
	return "the manifests ask for it now"
}

func (d *draft) deleteReason(p *party, c *Change) string {
	switch {
	case p.owner.IsZero():
		return "nothing is left to list"
	case body(c.Before, route).Adrift && p.fate != remove && p.link != nil:
		return "its leg is gone, and whoever gets the leg's address would get what is sent there"
	case p.gone():
		return NoManifest
	case p.gateway != nil && c.Before.Route != nil && second(c.ID) && d.linkOn(c.Before.Route.Router) != nil:
		return d.parted(p, c)
	case second(c.ID) || c.Before.CutOff:
		return cutOffChange
	case c.Drift:
		return "not part of what was applied"
	case c.ID.Kind == resource.KindRoute:
		return "no reverse exposure any more"
	case c.ID.Kind == kindVPNPeer:
		return NoManifest
	}
	return "the manifests ask for it no longer"
}

// whom is who changed something, as far as a cluster tells.
func whom(c *Change) string {
	if c.Before.Object == nil || len(c.Before.Object.ChangedBy) == 0 {
		return "someone else"
	}
	return strings.Join(c.Before.Object.ChangedBy, ", ")
}

// driftReason lists what moved.
func driftReason(c *Change) string {
	var moved []string
	if c.Before.Object != nil && c.Before.Object.Live != nil {
		if fields := rewritten(c); fields != "" {
			return fields
		}
	}
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
	return cmp.Or(words(groupCauses(c)), "the rules follow the manifests")
}

func words(causes []cause) string {
	var all []string
	for _, c := range causes {
		all = append(all, c.words)
	}
	return strings.Join(all, ", ")
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

func objectReason(p *party, c *Change, w why) string {
	switch {
	case p.owner.IsZero():
		return "lists what stands in the tree"
	case len(c.After.Object.Unknown) > 0:
		return "follows " + strings.Join(c.After.Object.Unknown, ", ")
	case c.ID.Kind.Manifest():
		return cmp.Or(told(edited(c.ID, c.Before.Object.Content, c.After.Object.Content), ""), "its labels or annotations")
	}
	moved := cmp.Or(told(w.manifests, partOf(c)), told(w.group, partOf(c)))
	if c.ID.Kind == kindDeployment {
		moved = cmp.Or(rewritten(c), moved)
	}
	if moved == "" && c.ID.Kind != kindConfigMap {
		moved = rewritten(c)
	}
	if moved == "" && p.applied == "" {
		return "not there yet as it should be"
	}
	return cmp.Or(moved, "follows the manifests")
}
