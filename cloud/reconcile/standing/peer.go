package standing

import (
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/cloud"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// peerReady sums up how a VPNPeer stands: whether its manifest is in force. It says
// nothing of the tunnel, which the gateway's pod reports in fields of its own, so nobody
// writes what another one knows better.
//
//	the peer                                       Ready
//	isn't valid, or its grants aren't              False, with that reason
//	its Secret is missing                          False, PeerSecretMissing
//	its gateway, but for Secrets, isn't ready      as the gateway's, GatewayNotReady
//	else, with a grant or without                  True
//
// Why a gateway isn't ready stands in its own status alone: a text that changes there
// changes no peer.
func peerReady(authorized, gateway cloud.Condition, owner vpn.Owner, missing []vpn.SecretRef) cloud.Condition {
	switch {
	case authorized.Status == False && authorized.Reason != vpnv1alpha1.ReasonNoGrants:
		return Say(vpnv1alpha1.ConditionReady, False, authorized.Reason, strings.TrimSuffix(authorized.Type+": "+authorized.Message, ": "))
	case len(missing) > 0:
		return Say(vpnv1alpha1.ConditionReady, False, vpnv1alpha1.ReasonPeerSecretMissing, lacking(missing))
	case gateway.Status != True:
		return Say(vpnv1alpha1.ConditionReady, gateway.Status, vpnv1alpha1.ReasonGatewayNotReady, "see the status of "+owner.Kind+" "+owner.Name)
	}
	return Say(vpnv1alpha1.ConditionReady, True, vpnv1alpha1.ConditionReady, "")
}

// peersReady are the summaries of a gateway's peers, by name.
func (a *account) peersReady(authorized map[string]cloud.Condition) map[string]cloud.Condition {
	if authorized == nil {
		return nil
	}
	whole := *a
	whole.missing = slices.DeleteFunc(slices.Clone(a.missing), func(s vpn.SecretRef) bool {
		return slices.ContainsFunc(a.gateway.Peers, func(p vpn.Peer) bool { return reads(p, s) })
	})
	conditions := whole.conditions()
	gateway := conditions[len(conditions)-1]
	all := map[string]cloud.Condition{}
	for _, p := range a.gateway.Peers {
		missing := slices.DeleteFunc(slices.Clone(a.missing), func(s vpn.SecretRef) bool { return !reads(p, s) })
		all[p.Name] = peerReady(authorized[p.Name], gateway, a.gateway.Owner, missing)
	}
	return all
}

func reads(p vpn.Peer, s vpn.SecretRef) bool { return s == p.PSK || s == p.PresharedKey }

// waits says of peers that nothing else is wrong with that their gateway isn't ready.
func (s Gateway) waits(status string) {
	for name, c := range s.PeersReady {
		if c.Status == True {
			s.PeersReady[name] = peerReady(s.Peers[name], cloud.Condition{Status: status}, s.Owner, nil)
		}
	}
}

// lacking names Secrets that are not there.
func lacking(missing []vpn.SecretRef) string {
	var names []string
	for _, s := range missing {
		names = append(names, s.Name+" (key "+s.Key+")")
	}
	return "no Secret " + strings.Join(names, ", ")
}

// Peer is what the status of a VPNPeer that names this gateway is to say: of one of which
// nothing else is known, that its gateway isn't ready. No condition: nothing.
func (s Gateway) Peer(name string) cloud.Status {
	said := cloud.Status{}
	if c, known := s.PeersReady[name]; known {
		said.Conditions = append(said.Conditions, c)
	} else if gateway := s.Ready(); gateway.Status != True {
		said.Conditions = append(said.Conditions, peerReady(cloud.Condition{}, gateway, s.Owner, nil))
	}
	if c, known := s.Peers[name]; known {
		said.Conditions = append(said.Conditions, c)
	}
	if a := s.Addresses[name]; a != "" {
		said.Fields = map[string]any{"address": a}
	}
	return said
}
