package openstack

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// besides asks what leads to the ports that nothing known leads to: an address
// that another hand put there, or ours without its tags and its description. Where
// every gateway has its address, nothing is asked.
func (d *Driver) besides(ctx context.Context, v *view) error {
	served := map[string]bool{}
	for _, f := range slices.Concat(v.floats, v.pinned, v.loose.floats) {
		served[text(f.Port)] = true
	}
	alive := map[vpn.Owner]bool{}
	for _, g := range v.manifest.Gateways {
		alive[g.Owner] = true
	}
	var bare []string
	for _, p := range v.ports {
		if estate, o, whole := state.ReadOwner(p.Tags); whole && estate == v.manifest.Name && alive[o] && !served[p.ID] {
			bare = append(bare, p.ID)
		}
	}
	slices.Sort(bare)
	found, err := listAny[floatingIP](ctx, d, floatsPath, "port_id", bare, url.Values{"project_id": {d.project}})
	v.beside = own(d, found)
	return err
}

// judgeBeside refuses gateways whose port an address leads to that is not theirs,
// while their own does not: Neutron leads one address of a network to a port, so
// theirs can't be led there, and a new one would be taken for nothing.
func (j *judgement) judgeBeside() {
	known := map[string]bool{}
	for _, f := range slices.Concat(j.floats, j.pinned, j.loose.floats, j.beside) {
		o, ours := j.portOf[text(f.Port)]
		if _, alive := j.gateways[o]; !ours || !alive || known[f.ID] || j.port[o].ID != text(f.Port) {
			continue
		}
		known[f.ID] = true
		id := idOf(resource.KindFloatingIP, o)
		if have := j.Graph[id]; have.FloatingIP != nil && !have.FloatingIP.Port.IsZero() || j.refused(id) {
			continue
		}
		j.problem(o, id, j.besideHint(o), "floating IP %s (%s), which is not known as the gateway's, leads to its port: no other can be led there", f.Address, f.ID)
	}
}

func (j *judgement) besideHint(o vpn.Owner) string {
	return "take it off the port; or pin it (spec.endpoint.floatingIP); or, if it was allocated to the gateway and lost its marks, put its tags back (" +
		strings.Join(state.Tags(j.manifest.Name, o), ", ") + ")"
}

// refused tells whether a resource is refused already.
func (j *judgement) refused(id resource.ID) bool {
	return slices.ContainsFunc(j.Problems, func(r plan.Refusal) bool { return r.ID == id })
}

// onOwnPort finds the address that leads to the gateway's port. One that does not
// carry the gateway's tags is refused by name: it is another hand's, or has lost
// them.
func (v verb) onOwnPort(ctx context.Context) (floatingIP, bool, error) {
	own, has, err := v.ownPort(ctx)
	if err != nil || !has {
		return floatingIP{}, false, err
	}
	all, err := listOwn[floatingIP](ctx, v.Driver, floatsPath, url.Values{"port_id": {own}})
	if err != nil || len(all) == 0 {
		return floatingIP{}, false, err
	}
	for _, f := range all {
		if !v.mine(f.Project, f.Tags) {
			return floatingIP{}, false, conflict("floating IP %s (%s), which is not known as the gateway's, leads to the port of %s", f.Address, f.ID, v.Owner)
		}
	}
	return all[0], true, nil
}
