package plan

import (
	"slices"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Selects tells whether a run is about an owner: about everyone, unless somebody is named;
// then about those alone.
func (o Options) Selects(owner vpn.Owner) bool {
	switch {
	case len(o.Gateways)+len(o.Links) == 0:
		return true
	case owner.Gateway():
		return slices.Contains(o.Gateways, owner.Path())
	}
	return slices.Contains(o.Links, owner.Name)
}
