package plan

import "github.com/vpnctl/vpnctl/plan/resource"

// movers are the changes of a party that others follow: a port or floating IP
// that is made anew, or a port that goes to another node.
func (p *party) movers() map[resource.ID]string {
	all := map[resource.ID]string{}
	for _, c := range p.changes {
		anew := c.Action == Create || c.Action == Replace
		switch a, moved := c.attribute(attrNode); {
		case c.ID.Kind == resource.KindPort && anew:
			all[c.ID] = "follows the port, which is made anew"
		case c.ID.Kind == resource.KindPort && moved && a.Before != "":
			all[c.ID] = "follows the port to " + a.After
		case c.ID.Kind == resource.KindFloatingIP && c.Action == Create:
			all[c.ID] = "follows the floating IP, which is made anew"
		}
	}
	return all
}

// follows is the reason of a change in place that comes only from a mover below
// it; empty where there is none. The nearest counts.
func (d *draft) follows(c *Change, movers map[resource.ID]string) string {
	if len(movers) == 0 || c.Action != Update || c.After.Applied != nil || c.After.SecurityGroup != nil || movers[c.ID] != "" {
		return ""
	}
	seen := map[resource.ID]bool{}
	for level := c.After.Needs; len(level) > 0; {
		var below []resource.ID
		for _, id := range level {
			if movers[id] != "" {
				return movers[id]
			}
			if !seen[id] {
				seen[id] = true
				below = append(below, d.in.Desired[id].Needs...)
			}
		}
		level = below
	}
	return ""
}
