package openstack

import (
	"context"
	"net/url"
	"slices"

	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// absence are the descriptions of what gateways with a manifest should have and
// no list has shown, kind by kind. It is not there yet, or another hand took its
// tags.
type absence struct{ groups, ports, floats []string }

// missing compares what was listed with the manifests. Of a gateway that nothing
// was seen of, only the group is looked for: it is the first to be made.
func (v *view) missing() absence {
	var m absence
	ledgers, ports, floats := map[vpn.Owner]string{}, map[vpn.Owner]bool{}, map[vpn.Owner]bool{}
	links := map[vpn.Owner]bool{}
	for _, g := range v.groups {
		switch {
		case v.ours(g):
			ledgers[g.Owner] = g.Ledger.FloatingIP
		case v.ownLink(g):
			links[g.Owner] = true
		}
	}
	mark := func(of map[vpn.Owner]bool, tags []string) {
		if estate, o, whole := state.ReadOwner(tags); whole && estate == v.manifest.Name {
			of[o] = true
		}
	}
	for _, p := range v.ports {
		mark(ports, p.Tags)
	}
	for _, f := range v.floats {
		mark(floats, f.Tags)
	}
	for _, l := range v.manifest.Links {
		if _, ledger := links[l.Owner]; !ledger {
			m.groups = append(m.groups, state.Description(v.manifest.Name, l.Owner))
		}
	}
	for _, g := range v.manifest.Gateways {
		customers, ledger := ledgers[g.Owner]
		description := state.Description(v.manifest.Name, g.Owner)
		if !ledger {
			m.groups = append(m.groups, description)
		}
		if !ledger && !ports[g.Owner] && !floats[g.Owner] {
			continue
		}
		if !ports[g.Owner] {
			m.ports = append(m.ports, description)
		}
		if !floats[g.Owner] && customers == "" && !g.FloatingIP.IsValid() {
			m.floats = append(m.floats, description)
		}
	}
	return m
}

// lookFor asks for what is missing: one call for each kind of which something is,
// none for an estate that is whole.
func (d *Driver) lookFor(v *view, m absence) []func(context.Context) error {
	var calls []func(context.Context) error
	if len(m.groups) > 0 {
		calls = append(calls, func(ctx context.Context) (err error) {
			v.loose.groups, err = described(ctx, d, groupsPath, m.groups, group.describes)
			return err
		})
	}
	if len(m.ports) > 0 {
		calls = append(calls, func(ctx context.Context) (err error) {
			v.loose.ports, err = described(ctx, d, portsPath, m.ports, port.describes)
			return err
		})
	}
	if len(m.floats) > 0 {
		calls = append(calls, func(ctx context.Context) (err error) {
			v.loose.floats, err = described(ctx, d, floatsPath, m.floats, floatingIP.describes)
			return err
		})
	}
	return calls
}

func (g group) describes() string      { return g.Description }
func (p port) describes() string       { return p.Description }
func (f floatingIP) describes() string { return f.Description }

// described lists the project's objects without our tag that have one of the
// descriptions: by their descriptions where these fit one query, else out of all.
func described[T placed](ctx context.Context, d *Driver, path string, descriptions []string, of func(T) string) ([]T, error) {
	query, size := url.Values{"description": descriptions}, 0
	for _, text := range descriptions {
		size += len("&description=") + len(url.QueryEscape(text))
	}
	if size > longURL {
		query = untagged()
	}
	all, err := listOwn[T](ctx, d, path, query)
	slices.Sort(descriptions)
	return slices.DeleteFunc(all, func(x T) bool {
		_, wanted := slices.BinarySearch(descriptions, of(x))
		return !wanted
	}), err
}

// untagged is the query for what vpnctl did not make, or what lost its tags.
func untagged() url.Values { return url.Values{"not-tags": {state.ManagedTag}} }

// keepLoose notes who is in which group, then drops of what lacks the managed tag
// all that is not described as this estate's, and what is taken over. What carries that tag and lost
// others, so that nobody knows whose it is, is loose as well.
func (v *view) keepLoose() {
	v.users = map[string][]string{}
	for _, p := range slices.Concat(v.ports, v.loose.ports) {
		for _, g := range p.Groups {
			v.users[g] = append(v.users[g], p.ID)
		}
	}
	stranger := func(id, description string, tags []string) bool {
		estate, _, named := state.ReadDescription(description)
		return !named || estate != v.manifest.Name || managedBy(tags) || v.adopting[id] != ""
	}
	v.loose.groups = slices.DeleteFunc(v.loose.groups, func(g group) bool { return stranger(g.ID, g.Description, g.Tags) })
	v.loose.ports = slices.DeleteFunc(v.loose.ports, func(p port) bool { return stranger(p.ID, p.Description, p.Tags) })
	v.loose.floats = slices.DeleteFunc(v.loose.floats, func(f floatingIP) bool { return stranger(f.ID, f.Description, f.Tags) })
	for _, p := range v.ports {
		if v.torn(p.Description, p.Tags) {
			v.loose.ports = append(v.loose.ports, p)
		}
	}
	for _, f := range v.floats {
		if v.torn(f.Description, f.Tags) {
			v.loose.floats = append(v.loose.floats, f)
		}
	}
}

// torn tells whether tags say no more whose an object is, while its description
// names a gateway with a manifest.
func (v *view) torn(description string, tags []string) bool {
	if _, _, whole := state.ReadOwner(tags); whole {
		return false
	}
	estate, o, named := state.ReadDescription(description)
	return named && estate == v.manifest.Name && slices.ContainsFunc(v.manifest.Gateways, func(g vpn.Gateway) bool { return g.Owner == o })
}

func managedBy(tags []string) bool { return slices.Contains(tags, state.ManagedTag) }
