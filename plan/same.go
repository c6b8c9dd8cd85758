package plan

import (
	"slices"

	"github.com/vpnctl/vpnctl/plan/resource"
)

// same is the quick answer for the usual case, that nothing differs. A false
// means that attributes has to look: it knows which differences count.
func same(want, have *resource.Resource) bool {
	switch {
	case want.Object != nil:
		return have.Object != nil && want.Object.Content == have.Object.Content && want.Object.Path == have.Object.Path
	case want.SecurityGroup != nil:
		return have.SecurityGroup != nil && sameGroup(want.SecurityGroup, have.SecurityGroup)
	case want.Port != nil:
		a, b := want.Port, have.Port
		return b != nil && a.Network == b.Network && a.Address == b.Address && a.Server == b.Server &&
			b.Misfit == "" && !b.Unguarded && !b.Down && slices.Equal(a.Pairs, b.Pairs)
	case want.FloatingIP != nil:
		a, b := want.FloatingIP, have.FloatingIP
		return b != nil && a.Address == b.Address && a.Pinned == b.Pinned && a.Port == b.Port
	case want.Route != nil:
		a, b := want.Route, have.Route
		return b != nil && a.Router == b.Router && a.Destination == b.Destination && a.NextHop == b.NextHop && len(b.Stale) == 0
	case want.TransitLeg != nil:
		a, b := want.TransitLeg, have.TransitLeg
		return b != nil && a.Network == b.Network && a.Address == b.Address && a.Router == b.Router
	case want.NetworkShare != nil:
		a, b := want.NetworkShare, have.NetworkShare
		return b != nil && a.Network == b.Network && a.Project == b.Project
	case want.Applied != nil:
		return have.Applied != nil && *want.Applied == *have.Applied
	}
	return true
}

func sameGroup(a, b *resource.SecurityGroup) bool {
	return a.Draining.Equal(b.Draining) && slices.Equal(a.Ledger, b.Ledger) &&
		slices.EqualFunc(a.Rules, b.Rules, func(x, y resource.Rule) bool { return x.Key() == y.Key() })
}

// absent tells whether an observed route holds nothing of ours: it is in the
// graph for the sake of others' next hops.
func absent(have *resource.Resource) bool {
	return have.Route != nil && have.Route.NextHop == "" && len(have.Route.Stale) == 0
}
