package plan

import (
	"cmp"
	"slices"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

// secrets are those that have to be in the cluster for what is new of a gateway: all
// of them for a new one, those of its new peers for one that is there. A cluster has keys that no manifest names made.
func (p *party) secrets(made bool) []vpn.SecretRef {
	if p.gateway == nil {
		return nil
	}
	var all []vpn.SecretRef
	if w := p.gateway.WireGuard; w != nil && p.fresh() && !(made && w.GeneratedKey) {
		all = append(all, w.PrivateKey)
	}
	for _, peer := range p.gateway.Peers {
		if p.fresh() || p.ledger != nil && p.ledger.Peers != nil && !slices.Contains(p.ledger.Peers, peer.Name) {
			all = append(all, peer.PSK, peer.PresharedKey)
		}
	}
	all = slices.DeleteFunc(all, func(s vpn.SecretRef) bool { return s.Name == "" })
	if len(all) == 0 {
		return nil
	}
	slices.SortFunc(all, func(a, b vpn.SecretRef) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Key, b.Key)) })
	return slices.Compact(all)
}
