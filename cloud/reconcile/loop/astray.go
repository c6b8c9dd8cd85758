package loop

import (
	"context"
	"maps"
	"slices"

	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/manifest"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// astray finds the peers that went with their CRD: unlike gateways they have nothing that
// holds them. Whoever deletes a CRD asks for no tunnel's end, so their gateways are left
// as they are until each is written again.
//
//	a peer that was there is not any more
//	  its CRD stands                    it was deleted: that is carried out
//	  its CRD is being deleted, or gone its gateway is left as it is
//	  that can't be seen                the same, in this round
func (r *round) astray(ctx context.Context) {
	now := map[string]vpn.Owner{}
	for path, m := range r.peers {
		now[path] = vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: m.Namespace, Name: manifest.GatewayRef(m.JSON)}
	}
	var gone []string
	for _, path := range slices.Sorted(maps.Keys(r.attached)) {
		if _, there := now[path]; !there && r.lost[path] == (vpn.Owner{}) {
			gone = append(gone, path)
		}
	}
	if len(gone) > 0 && r.withdrawn(ctx, vpnv1alpha1.KindVPNPeer) != "" {
		for _, path := range gone {
			r.lost[path] = r.attached[path]
		}
	}
	r.attached = now
	maps.DeleteFunc(r.lost, func(path string, o vpn.Owner) bool {
		_, back := now[path]
		_, stands := r.gateways[o]
		return back || !stands || r.deleted[o]
	})
	for _, path := range slices.Sorted(maps.Keys(r.lost)) {
		o := r.lost[path]
		r.spared[o] = "its peer " + path + " went with the CRD of VPNPeers"
		r.notice(plan.Notice{
			Message: "peer " + path + " went with the CRD of VPNPeers: " + o.Path() + " is left as it is",
			Hint:    "write its manifest again; to remove it, delete it after that",
		})
	}
}

// unlisted notes, when manifests can't be read, whether that is because the CRD of peers
// is gone: once it is back there are none, and nobody has deleted any.
func (r *round) unlisted(ctx context.Context) {
	if len(r.attached) == 0 || r.Withdrawn == nil {
		return
	}
	if is, err := r.Withdrawn(ctx, vpnv1alpha1.KindVPNPeer); err == nil && is {
		maps.Copy(r.lost, r.attached)
	}
}
