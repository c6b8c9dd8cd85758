package loop

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/vpnctl/vpnctl/cloud"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/manifest"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// surveyor is a Cluster that can tell which gateways' objects are another estate's.
type surveyor interface {
	// Others are the estates whose labels gateways' Deployments carry, but for the one
	// that is named.
	Others(ctx context.Context, estate string) (map[vpn.Owner]string, error)
}

// own leaves out what belongs to another estate: it gets no finalizer, no status, and is
// never released. A manifest is another estate's by its own label; without one, where
// the objects of its gateway carry that estate's; a peer also where its gateway is. A
// peer of a gateway that is ours keeps that gateway as it is, see freeze.
func (r *round) own(ctx context.Context, all []cloud.Manifest) ([]cloud.Manifest, error) {
	name, err := r.estate.called(r.EstateFile)
	if err != nil {
		return nil, err
	}
	objects := map[vpn.Owner]string{}
	if s, tells := r.Cluster.(surveyor); tells {
		if objects, err = s.Others(ctx, name); err != nil {
			return nil, err
		}
	}
	gateways := map[vpn.Owner]string{} // that are another estate's, by their manifests
	ours := map[vpn.Owner]bool{}
	r.others, r.mislabelled = nil, nil
	mine, peers := all[:0:0], all[:0:0]
	for _, m := range all {
		o := ownerOf(m)
		switch estate := m.Estate; {
		case m.Kind == vpnv1alpha1.KindVPNPeer:
			peers = append(peers, m) // once all gateways are known
		case estate != "" && estate != name:
			gateways[o] = estate
			r.another(m, fmt.Sprintf("its label names estate %s", estate))
		case estate == "" && objects[o] != "":
			gateways[o] = objects[o]
			r.another(m, fmt.Sprintf("its Deployment is one of estate %s", objects[o]))
		default:
			mine = append(mine, m)
			ours[o] = true
		}
	}
	for _, m := range peers {
		o := vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: m.Namespace, Name: manifest.GatewayRef(m.JSON)}
		switch {
		case m.Estate != "" && m.Estate != name && ours[o] && !m.Deleting:
			r.mislabelled = append(r.mislabelled, m)
		case m.Estate != "" && m.Estate != name:
			r.another(m, fmt.Sprintf("its label names estate %s", m.Estate))
		case gateways[o] != "":
			r.another(m, fmt.Sprintf("its gateway is one of estate %s", gateways[o]))
		default:
			mine = append(mine, m)
		}
	}
	r.tellOthers()
	return mine, nil
}

// freeze leaves gateways of this estate as they are whose peers are another estate's by
// their labels: whoever changes a label asks for no tunnel's end, and without that peer
// others could be let in. It is said as of a peer that is not valid.
func (r *round) freeze() {
	for _, m := range r.mislabelled {
		o := vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: m.Namespace, Name: manifest.GatewayRef(m.JSON)}
		if r.deleted[o] {
			continue
		}
		ours := r.estate.name
		help := fmt.Sprintf("take the label off, or let it name %s; to end the peer's tunnel, delete the peer", ours)
		r.read.Refuse(o, manifest.Diagnostic{
			Severity: manifest.Error, File: name(m), Field: "metadata.labels." + state.LabelEstate,
			Message: fmt.Sprintf("names estate %s, and the gateway is one of estate %s: %s", m.Estate, ours, help), Hint: help,
		})
		r.notice(plan.Notice{
			Message: fmt.Sprintf("peer %s/%s names estate %s in its label %s, and its gateway is one of estate %s: %s is left as it is; %s", m.Namespace, m.Name, m.Estate, state.LabelEstate, ours, o.Path(), help),
		})
	}
}

// another takes down that a manifest is another estate's.
func (r *round) another(m cloud.Manifest, why string) {
	r.others = append(r.others, plan.Notice{Message: name(m) + " is left alone: " + why})
}

// tellOthers logs what is another estate's, once each, and shows all of it.
func (r *round) tellOthers() {
	now := map[string]bool{}
	for _, n := range r.others {
		now[n.Message] = true
	}
	for _, text := range slices.Sorted(maps.Keys(now)) {
		if !r.strangers[text] {
			r.Log.Warn(text)
		}
	}
	r.strangers = now
	r.board.Sees(r.others)
}
