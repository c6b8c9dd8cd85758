package standing

import (
	"fmt"
	"strings"

	"github.com/vpnctl/vpnctl/cloud"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/manifest"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Invalid tells how a gateway stands whose manifest, or that of a peer, is not valid:
// nothing of it was looked at, so only what is wrong is said.
func Invalid(o vpn.Owner, wrong manifest.Diagnostics) Gateway {
	s := Gateway{Owner: o, Peers: map[string]cloud.Condition{}, PeersReady: map[string]cloud.Condition{}}
	own := []string{}
	var others []string
	for _, d := range wrong {
		if d.Severity != manifest.Error {
			continue
		}
		text := d.Message
		if d.Field != "" {
			text = d.Field + ": " + d.Message
		}
		peer, isPeer := strings.CutPrefix(d.File, "VPNPeer "+o.Namespace+"/")
		if !isPeer {
			own = append(own, text)
			continue
		}
		others = append(others, fmt.Sprintf("peer %s: %s", peer, text))
		s.Peers[peer] = refused(s.Peers[peer], d, text)
		s.PeersReady[peer] = peerReady(s.Peers[peer], cloud.Condition{}, o, nil)
	}
	switch {
	case len(own) > 0:
		s.Conditions = []cloud.Condition{Say(vpnv1alpha1.ConditionValidated, False, vpnv1alpha1.ReasonInvalidSpec, strings.Join(own, "; "))}
	default:
		s.Conditions = stays(strings.Join(others, "; "))
	}
	s.Conditions = append(s.Conditions, ready(s.Conditions))
	if len(s.Peers) == 0 {
		s.Peers, s.PeersReady = nil, nil
	}
	return s
}

// Kept tells how a gateway stands of whom nothing is looked at or changed: why.
func Kept(o vpn.Owner, why string) Gateway {
	s := Gateway{Owner: o, Conditions: stays(why)}
	s.Conditions = append(s.Conditions, ready(s.Conditions))
	return s
}

// stays are the conditions of a gateway that is left as it is because of its peers.
func stays(why string) []cloud.Condition {
	return []cloud.Condition{
		Say(vpnv1alpha1.ConditionValidated, True, "Valid", ""),
		Say(vpnv1alpha1.ConditionConfigRendered, False, vpnv1alpha1.ReasonRenderInput, "the last good state stays: "+why),
	}
}

// refused is the condition of a peer that is not valid.
func refused(c cloud.Condition, d manifest.Diagnostic, text string) cloud.Condition {
	reason := vpnv1alpha1.ReasonInvalidSpec
	if strings.HasPrefix(d.Field, "spec.authorization") {
		reason = vpnv1alpha1.ReasonUnknownGrant
	}
	if c.Message != "" {
		reason, text = vpnv1alpha1.ReasonInvalidSpec, c.Message+"; "+text
	}
	return Say(vpnv1alpha1.ConditionAuthorized, False, reason, text)
}
