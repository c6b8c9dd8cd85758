package reconcile

import (
	"slices"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
)

// kin finds manifests in a cluster that carry no mark, and are this estate's all the
// same: people applied them for a controller, and the ledger has their gateway and peer.
//
//	the manifest          asked for       being deleted   → in the graph
//	of a gateway or peer  no              any             as ours: it goes with the gateway
//	or of a link
//	on the ledger         yes             yes             as ours: it is made anew
//	                      yes             no              as it was: adopted
//	any other             any             any             as it was
func kin(seen *cloud.Observation) {
	ledgers := map[string]alloc.Ledger{}
	for _, l := range seen.Ledgers {
		ledgers[l.Owner.String()] = l
	}
	links := map[string]bool{}
	for _, l := range seen.Links {
		links[l.Owner.String()] = true
	}
	known := func(r resource.Resource) bool {
		if links[r.Owner] {
			return true
		}
		l, there := ledgers[r.Owner]
		own := r.ID.Kind == resource.KubernetesKind(l.Owner.Kind) && r.ID.Name == l.Owner.Name
		return there && (own || slices.Contains(l.Peers, r.ID.Name))
	}
	for _, r := range seen.Loose {
		if known(r) {
			r.Proof = cloud.Kin
			seen.Graph.Add(r)
		}
	}
	for id, r := range seen.Graph {
		if id.Kind.Manifest() && r.Adopt != "" && r.Object.Live != nil && r.Object.Live.Deleting && known(r) {
			r.Proof, r.Adopt = cloud.Kin, ""
			seen.Graph[id] = r
		}
	}
}
