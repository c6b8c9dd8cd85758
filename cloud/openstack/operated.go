package openstack

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// takeover is a gateway that an operator may have made, and what carries its UID.
type takeover struct {
	alloc.Operated
	gateway *vpn.Gateway // nil: its manifest is gone, or being deleted
	told    bool         // a file says that an operator made it
	begun   bool         // its ledger is ours by now, and says so

	groups []group
	ports  []port
	floats []floatingIP
}

// operated looks for what an operator made: of gateways that have no ledger yet, of those
// whose takeover was cut off, and of those whose manifests are being deleted. Where there are none such, nothing is asked.
func (d *Driver) operated(ctx context.Context, v *view, s cloud.Scope) error {
	if err := v.candidates(ctx, s); err != nil || len(v.takeovers) == 0 {
		return err
	}
	wanted := map[string]*takeover{}
	for _, t := range v.takeovers {
		wanted[t.UID] = t
	}
	var groups []group
	var ports []port
	var floats []floatingIP
	err := together(ctx,
		func(ctx context.Context) (err error) {
			groups, err = byUID[group](ctx, d, groupsPath, wanted)
			return err
		},
		func(ctx context.Context) (err error) { ports, err = byUID[port](ctx, d, portsPath, wanted); return err },
		func(ctx context.Context) (err error) {
			floats, err = byUID[floatingIP](ctx, d, floatsPath, wanted)
			return err
		},
	)
	if err != nil {
		return err
	}
	for _, g := range groups {
		v.of(wanted, g.Project, g.Tags, func(t *takeover) { t.groups = append(t.groups, g) })
	}
	for _, p := range ports {
		v.of(wanted, p.Project, p.Tags, func(t *takeover) { t.ports = append(t.ports, p) })
	}
	for _, f := range floats {
		v.of(wanted, f.Project, f.Tags, func(t *takeover) { t.floats = append(t.floats, f) })
	}
	return nil
}

// candidates are the gateways to look for.
func (v *view) candidates(ctx context.Context, s cloud.Scope) error {
	gateways := map[vpn.Owner]*vpn.Gateway{}
	for i := range v.manifest.Gateways {
		gateways[v.manifest.Gateways[i].Owner] = &v.manifest.Gateways[i]
	}
	recorded := map[vpn.Owner]bool{}
	for _, g := range v.groups {
		if !v.ours(g) {
			continue
		}
		recorded[g.Owner] = true
		if uid := g.Ledger.Adopting; uid != "" {
			v.takeovers = append(v.takeovers, &takeover{Operated: alloc.Operated{Owner: g.Owner, UID: uid}, gateway: gateways[g.Owner], begun: true})
		}
	}
	bare := func(g vpn.Gateway) bool { return !recorded[g.Owner] }
	if s.Operators == nil || !s.Leaving && !slices.ContainsFunc(v.manifest.Gateways, bare) {
		return nil
	}
	all, err := s.Operators(ctx)
	if err != nil {
		return err
	}
	v.stopped = all.Stopped
	for _, g := range all.Gateways {
		leaves := gateways[g.Owner] == nil && s.Leaving && !all.Told[g.Owner]
		if !recorded[g.Owner] && (gateways[g.Owner] != nil || leaves) {
			v.takeovers = append(v.takeovers, &takeover{Operated: g, gateway: gateways[g.Owner], told: all.Told[g.Owner]})
		}
	}
	slices.SortFunc(v.takeovers, func(a, b *takeover) int { return a.Owner.Compare(b.Owner) })
	return nil
}

// of hands an object to the gateways whose UID it carries, but for what is theirs by our
// tags already.
func (v *view) of(wanted map[string]*takeover, project string, tags []string, take func(*takeover)) {
	estate, o, whole := state.ReadOwner(tags)
	for _, uid := range state.OperatorUIDs(tags) {
		t := wanted[uid]
		ours := t != nil && whole && project == v.router.Project && estate == v.manifest.Name && o == t.Owner
		if t != nil && !ours {
			take(t)
		}
	}
}

// byUID lists what carries one of the UIDs in an operator's tag, whatever its project is.
// Neutron takes all tags in one value, so they are parted where it would become too long.
func byUID[T any](ctx context.Context, d *Driver, path string, wanted map[string]*takeover) ([]T, error) {
	var tags []string
	for uid := range wanted {
		tags = append(tags, state.OperatorTags(uid)...)
	}
	slices.Sort(tags)
	var all []T
	for len(tags) > 0 {
		n, size := 0, 0
		for n < len(tags) && size < longURL {
			size += len(url.QueryEscape(tags[n] + ","))
			n++
		}
		some, err := list[T](ctx, d, path, url.Values{"tags-any": {strings.Join(tags[:n], ",")}})
		if err != nil {
			return nil, err
		}
		all, tags = append(all, some...), tags[n:]
	}
	return all, nil
}
