package loop

import (
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/reconcile"
	"github.com/vpnctl/vpnctl/cloud/reconcile/standing"
	ipsecv1alpha1 "github.com/vpnctl/vpnctl/crds/ipsec/v1alpha1"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// parting is how an owner stands that is being deleted, with what keeps it; empty: nothing
// that is known. A link that can't reach its customer's side says so in a reason of its
// own, as it does when that side is left behind: there is an event for each.
func parting(r *reconcile.Result, o vpn.Owner, obstacle string) cloud.Condition {
	ready := vpnv1alpha1.ConditionReady
	if slices.ContainsFunc(r.Plan.Refusals, func(p plan.Refusal) bool {
		return p.Owner == o && p.Reason == ipsecv1alpha1.ReasonCustomerSideUnreachable
	}) {
		return standing.Say(ready, standing.False, ipsecv1alpha1.ReasonCustomerSideUnreachable, obstacle)
	}
	if left := r.LeftBehind(o); left != "" {
		return standing.Say(ready, standing.False, ipsecv1alpha1.ReasonAbandoned, strings.TrimSuffix(stable(left)+"; "+obstacle, "; "))
	}
	return standing.Say(ready, standing.Unknown, ReasonDeleting, obstacle)
}

// goes tells whether a reason of Ready is one of those that parting gives.
func goes(reason string) bool {
	return reason == ReasonDeleting || reason == ipsecv1alpha1.ReasonCustomerSideUnreachable || reason == ipsecv1alpha1.ReasonAbandoned
}
