package plan

import (
	"cmp"
	"path"
	"slices"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// link finds, for each change of a party, the changes that come first.
//
// What is made needs what it is made of, through everything on the way that
// stays; and the ledger, which is written before anything uses what it promises. In a
// cluster manifests come before that: they show that there is a place to write to.
// What is removed goes in the opposite direction. Closing comes no later than
// opening: rules, grants and addresses of one gateway change in one write each.
func (d *draft) link(p *party) {
	if p.fate == remove {
		d.unwind(p.changes)
		d.afterReverseRoutes(p)
		d.afterLegs(p)
		return
	}
	var leftovers []*Change
	var ledger *Change
	var first []*Change
	for _, c := range p.changes {
		if c.After != nil && c.After.SecurityGroup != nil {
			ledger = c
		}
		if c.After != nil && d.announces(c) && d.in.Options.Only != OnlyCloud {
			first = append(first, c)
		}
	}
	for _, c := range p.changes {
		switch {
		case c.ID.Kind == resource.KindApplied:
			c.need(p.changes, func(o *Change) bool { return o != c && !o.Barred })
		case c.ID.Kind.Cloud() && (c.Action == Delete || c.Action == Release):
			leftovers = append(leftovers, c)
		case c.Action == Delete:
			c.need(p.changes, func(o *Change) bool { return o.Action != Delete && !o.ID.Kind.Cloud() })
		default:
			d.walk(c, c.ID, map[resource.ID]bool{c.ID: true})
			switch {
			case d.announces(c): // who may not write a gateway's need not try its peers'
				c.need(first, func(o *Change) bool {
					return o.Action == Create && o.ID.Kind != kindVPNPeer && c.ID.Kind == kindVPNPeer
				})
			case ledger != nil && ledger != c:
				c.Needs = append(c.Needs, ledger.ID)
			default: // nothing is made for whoever can't be told of it
				c.need(first, func(*Change) bool { return true })
			}
		}
	}
	d.unwind(leftovers)
}

// walk adds the nearest changes below a desired resource.
func (d *draft) walk(c *Change, from resource.ID, seen map[resource.ID]bool) {
	needs := d.in.Desired[from].Needs
	if from == c.ID {
		needs = c.After.Needs
	}
	for _, id := range needs {
		if seen[id] {
			continue
		}
		seen[id] = true
		if o, ok := d.changes[id]; ok && o.Action != Delete && o.Action != Release {
			c.Needs = append(c.Needs, id)
			continue
		}
		if _, there := d.in.Observed[id]; !there {
			c.Held = cmp.Or(c.Held, "waits for "+id.String()+", which is not there") // the nearest is what people look for
		}
		d.walk(c, id, seen)
	}
}

func (c *Change) need(others []*Change, which func(*Change) bool) {
	for _, o := range others {
		if which(o) {
			c.Needs = append(c.Needs, o.ID)
		}
	}
}

// unwind puts removals in order: every step needs all of the step before. In a cluster
// the pod's Deployment goes before what the pod uses: it may be that it can't be removed.
func (d *draft) unwind(changes []*Change) {
	const last = 7
	steps := make([][]*Change, last+1)
	for _, c := range changes {
		s := step(c)
		if d.announces(c) {
			s = last
		}
		steps[s] = append(steps[s], c)
	}
	if d.in.Estate.Kubernetes.Target == vpn.TargetCluster {
		for _, c := range steps[0] {
			if c.ID.Kind != kindDeployment {
				c.need(steps[0], func(o *Change) bool { return o.ID.Kind == kindDeployment })
			}
		}
	}
	var before []*Change
	for i, now := range steps {
		if len(now) == 0 {
			continue
		}
		if i == last && len(before) > 0 { // whichever side is left out
			before = slices.Concat(before, steps[0])
		}
		for _, c := range now {
			c.need(before, func(*Change) bool { return true })
		}
		before = now
	}
}

// announces tells whether a change is that of a manifest in a cluster, whose status tells
// of all the others: it is written first, and goes last.
func (d *draft) announces(c *Change) bool {
	return c.ID.Kind.Manifest() && d.in.Estate.Kubernetes.Target == vpn.TargetCluster
}

// step is where in a removal a change stands: the pods go first, then what leads
// to the port, then the port, then what let it be made, then the group with the ledger. Of
// a link into a customer's project the leg goes before the route to it: where its side
// refuses, the rest stands.
func step(c *Change) int {
	crossing := c.Owner.Kind == vpn.KindClusterLink && c.Credential != ""
	switch {
	case !c.ID.Kind.Cloud():
		return 0
	case crossing && c.ID.Kind == resource.KindTransitLeg:
		return 2
	case crossing && c.ID.Kind == resource.KindRoute:
		return 4
	case c.Action == Update: // draining begins
		return 1
	case c.ID.Kind == resource.KindRoute:
		return 2
	case c.ID.Kind == resource.KindFloatingIP:
		return 3
	case c.ID.Kind == resource.KindPort, c.ID.Kind == resource.KindTransitLeg:
		return 4
	case c.ID.Kind == resource.KindNetworkShare:
		return 5
	}
	return 6
}

// index plans the objects of the estate itself, which list the gateways of the
// tree. They come last: no list names what is not written yet.
func (d *draft) index() {
	p := d.estate
	if d.in.Options.Only == OnlyCloud || d.unknown {
		return
	}
	if d.in.Index != nil {
		p.differs, p.extra = nil, nil
		wanted := resource.Graph{}
		if standing := d.inTree(); len(standing) > 0 || d.indexed() || len(d.plan.Refusals) == 0 {
			wanted.Add(d.in.Index(standing)...)
		}
		for id, want := range wanted {
			have, ok := d.in.Observed[id]
			switch {
			case !ok:
				p.differs = append(p.differs, pair{want: want})
			case !same(&want, &have):
				p.differs = append(p.differs, pair{want: want, have: &have})
			}
		}
		for id, have := range d.in.Observed {
			if _, ok := wanted[id]; !ok && have.Owner == "" {
				p.extra = append(p.extra, have)
			}
		}
	}
	d.diff(p)
	below := d.created()
	for _, c := range p.changes {
		if c.Action == Delete {
			continue
		}
		d.walk(c, c.ID, map[resource.ID]bool{c.ID: true})
		c.Needs = slices.DeleteFunc(c.Needs, func(id resource.ID) bool { // its folder stands already
			o := d.changes[id]
			return o.Action == Update && o.Held != ""
		})
		c.Needs = append(c.Needs, below[path.Dir(c.After.Object.Path)]...)
	}
	for _, c := range p.changes {
		if c.Action == Delete {
			c.need(p.changes, func(o *Change) bool { return o.Action != Delete })
		}
	}
}

// indexed tells whether there is a list already: where everything is refused, none is
// begun.
func (d *draft) indexed() bool {
	for _, have := range d.in.Observed {
		if have.Owner == "" && have.Object != nil {
			return true
		}
	}
	return false
}

// created are the kustomizations that this plan makes, by every folder above
// their own.
func (d *draft) created() map[string][]resource.ID {
	below := map[string][]resource.ID{}
	for _, p := range append(slices.Clone(d.sorted), d.estate) {
		for _, c := range p.changes {
			if c.Action != Create || c.Held != "" || c.After.Object == nil || c.After.Object.Kind != "Kustomization" {
				continue
			}
			dir := path.Dir(c.After.Object.Path)
			for dir != "." && dir != "/" {
				dir = path.Dir(dir)
				below[dir] = append(below[dir], c.ID)
			}
		}
	}
	return below
}
