package standing

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/reconcile"
	ipsecv1alpha1 "github.com/vpnctl/vpnctl/crds/ipsec/v1alpha1"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// linkStages are the conditions of a link in the order in which it is built, but for that
// of its reverse routes, which are the gateways'.
var linkStages = []stage{
	{ipsecv1alpha1.ConditionLegAttached, []part{
		{resource.KindSecurityGroup, "", ipsecv1alpha1.ReasonTransitLegPort},
		{resource.KindTransitLeg, "", ipsecv1alpha1.ReasonTransitLegPort},
		{resource.KindTransitLeg, cloud.StepJoin, ipsecv1alpha1.ReasonRouterHasPort},
	}},
	{ipsecv1alpha1.ConditionRouteInstalled, []part{{resource.KindRoute, "", vpnv1alpha1.ReasonRouterRoute}}},
}

// LinkFields are what the status of a link has beside its conditions.
type LinkFields struct {
	TransitIP     string // empty: not known, stays as it is
	LegPortID     string
	ReverseRoutes []ipsecv1alpha1.ReverseRoute // sorted by service CIDR; nil: not known
}

func (f LinkFields) fields() map[string]any {
	all := map[string]any{}
	for name, value := range map[string]string{"transitIP": f.TransitIP, "legPortID": f.LegPortID} {
		if value != "" {
			all[name] = value
		}
	}
	if f.ReverseRoutes != nil {
		all["reverseRoutes"] = f.ReverseRoutes
	}
	return all
}

// linkConditions are those of a link.
func (a *account) linkConditions() []cloud.Condition {
	all := []cloud.Condition{Say(vpnv1alpha1.ConditionValidated, True, "Valid", "")}
	for _, s := range linkStages {
		all = append(all, a.stage(s))
	}
	all = append(all, a.reverseRoutes())
	return append(all, ready(all))
}

// reverseRoutes tells whether every gateway that needs a way back from the service
// cluster has it; one that has not never keeps the others.
func (a *account) reverseRoutes() cloud.Condition {
	kind := ipsecv1alpha1.ConditionReverseRoutesInstalled
	var failed, waiting []string
	for _, id := range a.ids(routeBack) {
		switch o, tried := a.outcomes[id]; {
		case tried && o.State == cloud.Done:
		case tried && o.State == cloud.Failed:
			failed = append(failed, fmt.Sprintf("%s: %s", gatewayOf(id), o.Err))
		default:
			waiting = append(waiting, gatewayOf(id))
		}
	}
	switch {
	case len(failed) > 0:
		return Say(kind, False, ipsecv1alpha1.ReasonReverseRoutes, strings.Join(failed, "; "))
	case len(waiting) > 0:
		return Say(kind, Unknown, ReasonPending, "waits for "+strings.Join(waiting, ", "))
	}
	return Say(kind, True, kind, "")
}

// routeBack stands for the kind of the routes that lead back to gateways, so that they are
// told apart from the link's own.
const routeBack resource.Kind = "route back"

// gatewayOf is the path of the gateway that a route on a service cluster's router is for.
func gatewayOf(id resource.ID) string {
	name, _, _ := strings.Cut(id.Name, "@")
	return id.Namespace + "/" + name
}

// back is a change of a gateway's route on a service cluster's router, as its link sees it.
func back(c plan.Change) plan.Change {
	c.ID.Kind = routeBack
	return c
}

// linkOf is the link on whose router a change of a gateway's route is; false for any other
// change.
func linkOf(r *reconcile.Result, c plan.Change) (vpn.Owner, bool) {
	if c.ID.Kind != resource.KindRoute || !c.Owner.Gateway() {
		return vpn.Owner{}, false
	}
	body := cmp.Or(c.After, c.Before).Route
	for o, in := range r.Links {
		if body != nil && in.Router.ID == body.Router {
			return o, true
		}
	}
	return vpn.Owner{}, false
}

// linkFields are what is known of a link after a run.
func linkFields(r *reconcile.Result, o vpn.Owner, report *cloud.Report) LinkFields {
	facts := r.Seen.Facts.Gateway(o.String())
	if report != nil {
		facts = facts.Complete(report.Learnt[o])
	}
	f := LinkFields{LegPortID: facts.PortID, ReverseRoutes: []ipsecv1alpha1.ReverseRoute{}}
	if facts.PortAddress.IsValid() {
		f.TransitIP = facts.PortAddress.String()
	} else if l := r.Links[o].Ledger; l.TransitIP.IsValid() && written(r, o, report) {
		f.TransitIP = l.TransitIP.String()
	}
	router := r.Links[o].Router.ID
	for id, have := range r.Desired {
		if have.Route == nil || have.Route.Router != router || router == "" || have.Owner == o.String() || !stands(r, report, id) {
			continue
		}
		learnt := r.Seen.Facts.Gateway(have.Owner)
		if gateway, known := vpn.ParseOwner(have.Owner); known && report != nil {
			learnt = learnt.Complete(report.Learnt[gateway])
		}
		f.ReverseRoutes = append(f.ReverseRoutes, ipsecv1alpha1.ReverseRoute{
			ServiceCIDR: have.Route.Destination.String(), NextHop: learnt.PortAddress.String(), GatewayRef: gatewayOf(id),
		})
	}
	slices.SortFunc(f.ReverseRoutes, func(a, b ipsecv1alpha1.ReverseRoute) int { return strings.Compare(a.ServiceCIDR, b.ServiceCIDR) })
	return f
}

// written tells whether a link's ledger is in the cloud by now.
func written(r *reconcile.Result, o vpn.Owner, report *cloud.Report) bool {
	return stands(r, report, resource.ID{Kind: resource.KindSecurityGroup, Name: o.Name})
}

// stands tells whether something desired is in place after a run.
func stands(r *reconcile.Result, report *cloud.Report, id resource.ID) bool {
	if report != nil {
		for _, out := range report.Outcomes {
			if out.Change.ID == id {
				return out.State == cloud.Done
			}
		}
	}
	_, there := r.Seen.Graph[id]
	return there && !slices.ContainsFunc(r.Plan.Changes, func(c plan.Change) bool { return c.ID == id })
}
