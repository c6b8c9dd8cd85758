package standing

import (
	"errors"
	"time"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/reconcile"
	ipsecv1alpha1 "github.com/vpnctl/vpnctl/crds/ipsec/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// crossing is what is known of a link into a customer's project.
type crossing struct {
	link   vpn.Link
	side   cloud.Side
	looked bool // at the customer's side, or why not is known
	others bool // another hand lets the customer's project use the transit network
}

// crossReasons are the conditions that a refusal of a link into a customer's project
// belongs to, by its reason.
var crossReasons = map[string]string{
	ipsecv1alpha1.ReasonAttestationMissing:      ipsecv1alpha1.ConditionTenantIsolationAttested,
	ipsecv1alpha1.ReasonAttestationMalformed:    ipsecv1alpha1.ConditionTenantIsolationAttested,
	ipsecv1alpha1.ReasonSecretName:              ipsecv1alpha1.ConditionCredentialsResolved,
	ipsecv1alpha1.ReasonSecretNotFound:          ipsecv1alpha1.ConditionCredentialsResolved,
	ipsecv1alpha1.ReasonSecretIncomplete:        ipsecv1alpha1.ConditionCredentialsResolved,
	ReasonPending:                               ipsecv1alpha1.ConditionCredentialsResolved,
	ipsecv1alpha1.ReasonAuthentication:          ipsecv1alpha1.ConditionCredentialsResolved,
	ipsecv1alpha1.ReasonCredentialsUnscoped:     ipsecv1alpha1.ConditionCredentialsResolved,
	ipsecv1alpha1.ReasonCredentialsProject:      ipsecv1alpha1.ConditionCredentialsResolved,
	ipsecv1alpha1.ReasonCredentialsAreOperators: ipsecv1alpha1.ConditionCredentialsResolved,
	ipsecv1alpha1.ReasonRoleMissing:             ipsecv1alpha1.ConditionCredentialsResolved,
	ipsecv1alpha1.ReasonShareRefused:            ipsecv1alpha1.ConditionTransitNetworkShared,
	ipsecv1alpha1.ReasonTransitNetworkNotOwned:  ipsecv1alpha1.ConditionTransitNetworkShared,
}

// crossingOf is nil for a link in our own project.
func crossingOf(r *reconcile.Result, l vpn.Link) *crossing {
	if !l.Cross() {
		return nil
	}
	c := &crossing{link: l}
	c.side, c.looked = r.Seen.Sides[l.Owner]
	share := r.Seen.Graph[resource.ID{Kind: resource.KindNetworkShare, Name: l.Owner.Name}].NetworkShare
	c.others = share != nil && share.Foreign
	return c
}

// customerOf is the customer's project of a link, once its credential was found to be that
// project's.
func customerOf(r *reconcile.Result, o vpn.Owner) string {
	if side := r.Seen.Sides[o]; side.Fault == nil {
		return side.Project
	}
	return ""
}

// attested tells who has said, and when, that the customer's project may be joined.
func (a *account) attested() cloud.Condition {
	kind := ipsecv1alpha1.ConditionTenantIsolationAttested
	by, err := a.crossing.link.Attested()
	switch {
	case errors.Is(err, vpn.ErrNotAttested):
		return Say(kind, False, ipsecv1alpha1.ReasonAttestationMissing, err.Error())
	case err != nil:
		return Say(kind, False, ipsecv1alpha1.ReasonAttestationMalformed, err.Error())
	}
	return Say(kind, True, ipsecv1alpha1.ReasonAttested, "project "+a.crossing.link.CustomerProject+", by "+by.Who+", "+by.At.Format(time.RFC3339))
}

// resolved tells whether the customer's credential is one for the right project. What it
// could not list is no fault of its own.
func (a *account) resolved() cloud.Condition {
	kind, side := ipsecv1alpha1.ConditionCredentialsResolved, a.crossing.side
	switch {
	case !a.crossing.looked:
		return Say(kind, Unknown, ReasonPending, "nobody has looked yet")
	case side.Fault != nil && side.Fault.Reason == ReasonPending:
		return Say(kind, Unknown, ReasonPending, side.Credential+": "+side.Fault.Message)
	case side.Fault != nil && crossReasons[side.Fault.Reason] == kind:
		return Say(kind, False, side.Fault.Reason, side.Credential+": "+side.Fault.Message)
	}
	return Say(kind, True, ipsecv1alpha1.ReasonResolved, side.Credential)
}

// shared tells whether the customer's project may make ports on the transit network.
func (a *account) shared(s stage) cloud.Condition {
	c := a.stage(s)
	switch {
	case c.Status != True:
	case a.crossing.others:
		c.Reason, c.Message = ipsecv1alpha1.ReasonSharedByOthers, "by a policy of another hand, which is never taken back"
	default:
		c.Reason = ipsecv1alpha1.ReasonShared
	}
	return c
}
