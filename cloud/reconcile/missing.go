package reconcile

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/vpnctl/vpnctl/cloud"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// missing asks which Secrets are not there, for gateways that change and for those of
// whom some were missing the last time.
func (r *round) missing(ctx context.Context, done turn) map[vpn.Owner][]vpn.SecretRef {
	if r.Missing == nil {
		return nil
	}
	changing := map[vpn.Owner]bool{}
	for _, c := range done.Plan.Pending() {
		changing[c.Owner] = true
	}
	refs, askers := map[string][]vpn.SecretRef{}, map[vpn.Owner]vpn.Gateway{}
	for o, in := range done.Inputs {
		if !done.left[o] && (changing[o] || len(r.asked[o]) > 0 || lacked(r.gateways[o])) {
			askers[o] = in.Gateway
			refs[o.Namespace] = append(refs[o.Namespace], secretsOf(in.Gateway)...)
		}
	}
	if len(askers) == 0 {
		return nil
	}
	absent, err := r.Missing(ctx, refs)
	if err != nil {
		r.failures++
		r.Log.Warn("looking for Secrets", "error", err)
		return maps.Clone(r.asked)
	}
	missing := map[vpn.Owner][]vpn.SecretRef{}
	for o, g := range askers {
		for _, ref := range secretsOf(g) {
			if slices.Contains(absent[o.Namespace], ref) {
				missing[o] = append(missing[o], ref)
			}
		}
	}
	return missing
}

// secretsOf are the Secrets that a gateway's pod reads and somebody has to make.
func secretsOf(g vpn.Gateway) []vpn.SecretRef {
	var all []vpn.SecretRef
	if w := g.WireGuard; w != nil && !w.GeneratedKey {
		all = append(all, w.PrivateKey)
	}
	for _, p := range g.Peers {
		for _, ref := range []vpn.SecretRef{p.PSK, p.PresharedKey} {
			if ref.Name != "" && !slices.Contains(all, ref) {
				all = append(all, ref)
			}
		}
	}
	return all
}

// lacked tells whether a gateway's status says that a Secret is missing: another run may
// have found that.
func lacked(m cloud.Manifest) bool {
	c, _ := condition(m, vpnv1alpha1.ConditionDeploymentReady)
	return c.Reason == vpnv1alpha1.ReasonPeerSecretMissing
}

// condition is one of a manifest's status as it was read.
func condition(m cloud.Manifest, kind string) (Condition, bool) {
	var status struct {
		Conditions []struct{ Type, Status, Reason, Message string }
	}
	if m.Status == nil || json.Unmarshal(m.Status, &status) != nil {
		return Condition{}, false
	}
	for _, c := range status.Conditions {
		if c.Type == kind {
			return Condition(c), true
		}
	}
	return Condition{}, false
}
