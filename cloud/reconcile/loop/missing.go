package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/reconcile"
	"github.com/vpnctl/vpnctl/cloud/reconcile/standing"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/pod"
)

// missing tells which Secrets are not there. That a Secret is there at all was seen of
// every gateway; into one is looked only for gateways that change, and for those of whom
// something was missing the last time.
func (r *round) missing(ctx context.Context, done turn) map[vpn.Owner][]vpn.SecretRef {
	changing := map[vpn.Owner]bool{}
	for _, c := range done.Plan.Pending() {
		changing[c.Owner] = true
	}
	missing, stand := map[vpn.Owner][]vpn.SecretRef{}, keysThatStand(done.Result)
	refs, asking := map[string][]vpn.SecretRef{}, map[vpn.Owner][]vpn.SecretRef{}
	for o, in := range done.Inputs {
		if done.left[o] {
			continue
		}
		ask := changing[o] || len(r.asked[o]) > 0 || lacked(r.owners[o])
		own, asItStands := stand[o]
		if !asItStands {
			own = secretsOf(in.Gateway)
		}
		for _, ref := range own {
			switch _, there := done.Seen.Secrets[o.Namespace+"/"+ref.Name]; {
			case done.Seen.Secrets != nil && !there:
				missing[o] = append(missing[o], ref)
			case ask && r.Missing != nil:
				asking[o] = append(asking[o], ref)
				refs[o.Namespace] = append(refs[o.Namespace], ref)
			}
		}
	}
	if len(asking) > 0 {
		r.look(ctx, refs, asking, missing)
	}
	return missing
}

// look adds what is missing in Secrets that are there.
func (r *round) look(ctx context.Context, refs map[string][]vpn.SecretRef, asking, missing map[vpn.Owner][]vpn.SecretRef) {
	absent, notices, err := r.Missing(ctx, refs)
	if err != nil {
		r.failures++
		r.Log.Warn("looking into Secrets", "error", err)
	}
	for _, n := range notices {
		r.Log.Warn(n.Message)
	}
	for o, own := range asking {
		for _, ref := range own {
			gone := slices.Contains(absent[o.Namespace], ref)
			if gone || err != nil && slices.Contains(r.asked[o], ref) {
				missing[o] = append(missing[o], ref)
			}
		}
	}
}

// publicKey adds that of a WireGuard gateway: its peers need it, whether its pod runs or
// not. It is derived where the status has another than was derived, once at the beginning,
// and where the Secret became another. It reports whether the key is at fault.
//
//	the Secret                    its key      ConfigRendered        in the status
//	holds a key                   is derived                         the public key
//	holds none, and is named      -            (DeploymentReady)     none
//	holds none, or what is none   -            WGKeyFailed           none
//	isn't there, others make it   -            (DeploymentReady)     as it was
//	isn't there, and can't be     -            WGKeyFailed           none
//	  seen, so it isn't made
//	may not be read either        -            Unknown               as it was
//	gave no answer                -                                  as it was
func (r *round) publicKey(ctx context.Context, done turn, s *standing.Gateway) (faulty bool) {
	o := s.Owner
	in, there := done.Inputs[o]
	if r.PublicKey == nil || !there || in.Gateway.WireGuard == nil || r.DryRun {
		return false
	}
	ref := in.Gateway.WireGuard.PrivateKey
	version := done.Seen.Secrets[o.Namespace+"/"+ref.Name]
	r.mu.Lock()
	last, derived := r.derived[o]
	r.mu.Unlock()
	if derived && last.version == version && last.key != "" && published(r.owners[o]) == last.key {
		return false
	}
	key, err := r.PublicKey(ctx, o.Namespace, ref)
	where := fmt.Sprintf("Secret %s, key %s", ref.Name, ref.Key)
	unseen := done.Seen.Secrets == nil && in.Gateway.WireGuard.GeneratedKey
	switch {
	case errors.Is(err, cloud.ErrNoKey):
		s.Keyless(standing.False, where+": what is in it is no private key of WireGuard")
		return true
	case errors.Is(err, cloud.ErrForbidden) && unseen:
		s.Keyless(standing.Unknown, where+": whether the key is there can't be seen: allow list of secrets")
		return false
	case err != nil:
		r.Log.Warn("deriving the public key", "gateway", o.Path(), "error", err)
		return false
	case key == "" && unseen:
		s.Keyless(standing.False, where+": it is not there, and is not made as long as secrets can't be listed")
		return true
	case key == "" && version != "" && !in.Gateway.WireGuard.GeneratedKey:
		s.NoKey = true // what is missing in it is said of the Deployment
		return false
	case key == "" && version != "":
		s.Keyless(standing.False, where+": there is nothing in it")
		return true
	}
	s.PublicKey = key
	r.mu.Lock()
	defer r.mu.Unlock()
	r.derived[o] = publicKey{version, key}
	return false
}

// publicKey is one that was derived, of that version of its Secret.
type publicKey struct{ version, key string }

// published is the public key in a gateway's status; empty: none.
func published(m cloud.Manifest) string {
	var status struct{ WireGuardPublicKey string }
	if m.Status == nil || json.Unmarshal(m.Status, &status) != nil {
		return ""
	}
	return status.WireGuardPublicKey
}

// noteSecrets takes down which Secrets an estate's gateways use, see Names.
func (c *Controller) noteSecrets(e vpn.Estate) {
	named := map[string]bool{}
	for _, g := range e.Gateways {
		for _, ref := range secretsOf(g) {
			named[g.Owner.Namespace+"/"+ref.Name] = true
		}
	}
	c.named.Store(&named)
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

// keysThatStand are the keys that gateways read which are left as they are: those of what
// was rendered for them before, not of what their manifests ask for now.
func keysThatStand(r *reconcile.Result) map[vpn.Owner][]vpn.SecretRef {
	blocked := map[string]vpn.Owner{}
	for _, line := range r.Plan.Owners {
		if line.Blocked != "" {
			blocked[line.Owner.String()] = line.Owner
		}
	}
	all := map[vpn.Owner][]vpn.SecretRef{}
	for _, have := range r.Seen.Graph {
		o, is := blocked[have.Owner]
		if !is || have.Object == nil || have.Object.Live == nil || have.Object.Kind != "ConfigMap" {
			continue
		}
		text, _, _ := unstructured.NestedString(have.Object.Live.Value(), "data", pod.KeyAgent)
		if e, err := vpn.ParseExpectation(text); err == nil && e.Gateway == o {
			all[o] = keysIn(e, r.Inputs[o].Gateway.WireGuard)
		}
	}
	return all
}

// keysIn are those that a pod expects and somebody has to make.
func keysIn(e vpn.Expectation, w *vpn.Interface) []vpn.SecretRef {
	var all []vpn.SecretRef
	add := func(ref vpn.SecretRef) {
		if ref.Name != "" && !slices.Contains(all, ref) {
			all = append(all, ref)
		}
	}
	if w != nil && !w.GeneratedKey {
		add(e.PrivateKey)
	}
	for _, p := range e.Peers {
		add(p.PresharedKey)
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
func condition(m cloud.Manifest, kind string) (cloud.Condition, bool) {
	var status struct {
		Conditions []struct{ Type, Status, Reason, Message string }
	}
	if m.Status == nil || json.Unmarshal(m.Status, &status) != nil {
		return cloud.Condition{}, false
	}
	for _, c := range status.Conditions {
		if c.Type == kind {
			return cloud.Condition(c), true
		}
	}
	return cloud.Condition{}, false
}
