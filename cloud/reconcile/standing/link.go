package standing

import (
	"cmp"
	"fmt"
	"net/netip"
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
	{ipsecv1alpha1.ConditionTransitNetworkShared, []part{{resource.KindNetworkShare, "", ipsecv1alpha1.ReasonShareRefused}}},
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
	Customer      string // the project that the leg stands in, where that is a customer's; empty: as TransitIP
	LegPortID     string
	ReverseRoutes []ipsecv1alpha1.ReverseRoute // sorted by service CIDR; nil: not known
}

func (f LinkFields) fields() map[string]any {
	all := map[string]any{}
	for name, value := range map[string]string{"transitIP": f.TransitIP, "legPortID": f.LegPortID, "customerProjectID": f.Customer} {
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
	all := []cloud.Condition{a.validated()}
	for _, s := range linkStages {
		switch {
		case s.condition == ipsecv1alpha1.ConditionRouteInstalled:
			all = append(all, a.routed(s))
		case s.condition != ipsecv1alpha1.ConditionTransitNetworkShared:
			all = append(all, a.stage(s))
		case a.crossing != nil:
			all = append(all, a.attested(), a.resolved(), a.shared(s))
		}
	}
	all = append(all, a.reverseRoutes())
	return append(all, ready(all))
}

// routed tells of the forward route, which may be gone although nothing is planned for it:
// that of a link without its leg is taken away, and made with the leg.
func (a *account) routed(s stage) cloud.Condition {
	c := a.stage(s)
	if c.Status == True && a.unrouted {
		return Say(s.condition, Unknown, ReasonPending, "waits for the transit leg")
	}
	return c
}

// reverseRoutes tells whether every gateway that needs a way back from the service
// cluster has it; one that has not never keeps the others.
func (a *account) reverseRoutes() cloud.Condition {
	kind := ipsecv1alpha1.ConditionReverseRoutesInstalled
	failed, waiting := []string(nil), slices.Clone(a.awaited)
	for _, id := range a.ids(routeBack) {
		switch o, tried := a.outcomes[id]; {
		case a.changes[id].Barred:
			failed = append(failed, fmt.Sprintf("%s: %s", gatewayOf(id), a.changes[id].Held))
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

// await takes down the gateways that have no way back, and for which this run has planned
// none: they are left as they are.
func (a *account) await(gateways []vpn.Owner) {
	planned := map[string]bool{}
	for id := range a.changes {
		planned[gatewayOf(id)] = planned[gatewayOf(id)] || id.Kind == routeBack
	}
	for _, o := range gateways {
		if !planned[o.Path()] {
			a.awaited = append(a.awaited, o.Path())
		}
	}
	slices.Sort(a.awaited)
}

// routeBack stands for the kind of the routes that lead back to gateways, so that they are
// told apart from the link's own.
const routeBack resource.Kind = "route back"

// ways are the links by their routers: of a gateway's route there the link tells, and the
// gateway, which is whole without it, doesn't.
type ways map[string]vpn.Owner

func waysOf(r *reconcile.Result) ways {
	w := make(ways, len(r.Links))
	for o, in := range r.Links {
		w[in.Router.ID] = o
	}
	return w
}

// as is a change as whoever tells of it sees it.
func (w ways) as(c plan.Change) plan.Change {
	body := cmp.Or(c.After, c.Before)
	if c.ID.Kind != resource.KindRoute || !c.Owner.Gateway() || body == nil || body.Route == nil {
		return c
	}
	if o, on := w[body.Route.Router]; on {
		c.Owner, c.ID.Kind = o, routeBack
	}
	return c
}

// Awaited are the gateways to which a link's ways back don't stand as they should, by link,
// as a plan saw it.
func Awaited(r *reconcile.Result) map[vpn.Owner][]vpn.Owner {
	w, moving, all := waysOf(r), map[resource.ID]bool{}, map[vpn.Owner][]vpn.Owner{}
	if len(w) == 0 {
		return nil
	}
	for _, c := range r.Plan.Changes {
		moving[c.ID] = true
	}
	for id, want := range r.Desired {
		o, known := vpn.ParseOwner(want.Owner)
		if want.Route == nil || !known || !o.Gateway() {
			continue
		}
		there := stood(r, id)
		if l, on := w[want.Route.Router]; on && (moving[id] || !there) {
			all[l] = append(all[l], o)
		}
	}
	return all
}

// gatewayOf is the path of the gateway that a route on a service cluster's router is for.
func gatewayOf(id resource.ID) string {
	name, _, _ := strings.Cut(id.Name, "@")
	return id.Namespace + "/" + name
}

// aftermath is what stands after a run.
type aftermath struct {
	*reconcile.Result
	report *cloud.Report
	moves  map[resource.ID]bool                       // what was to be changed, and whether it was
	back   map[vpn.Owner][]ipsecv1alpha1.ReverseRoute // the ways back that stand, by link
}

func after(r *reconcile.Result, report *cloud.Report, w ways) aftermath {
	a := aftermath{Result: r, report: report, moves: map[resource.ID]bool{}, back: map[vpn.Owner][]ipsecv1alpha1.ReverseRoute{}}
	for _, c := range r.Plan.Changes {
		a.moves[c.ID] = false
	}
	if report != nil {
		for _, out := range report.Outcomes {
			a.moves[out.Change.ID] = out.State == cloud.Done
		}
	}
	for id, want := range r.Desired {
		owner, known := vpn.ParseOwner(want.Owner)
		if want.Route == nil || !known || !owner.Gateway() || !a.stands(id) {
			continue
		}
		if o, on := w[want.Route.Router]; on {
			a.back[o] = append(a.back[o], ipsecv1alpha1.ReverseRoute{
				ServiceCIDR: want.Route.Destination.String(), NextHop: text(a.facts(owner).PortAddress), GatewayRef: gatewayOf(id),
			})
		}
	}
	return a
}

// stands tells whether something desired is in place.
func (a aftermath) stands(id resource.ID) bool {
	done, moved := a.moves[id]
	return done || stood(a.Result, id) && !moved
}

// stood tells whether something was in place when a run looked. Of a route there may be no
// more than another hand's.
func stood(r *reconcile.Result, id resource.ID) bool {
	have, there := r.Seen.Graph[id]
	return there && (have.Route == nil || have.Route.NextHop != "")
}

// facts are what is known of an owner by now.
func (a aftermath) facts(o vpn.Owner) resource.GatewayFacts {
	facts := a.Seen.Facts.Gateway(o.String())
	if a.report != nil {
		facts = facts.Complete(a.report.Learnt[o])
	}
	return facts
}

// link is what is known of a link. Its address counts once the ledger is written.
func (a aftermath) link(o vpn.Owner) LinkFields {
	facts, in := a.facts(o), a.Links[o]
	f := LinkFields{LegPortID: facts.PortID, TransitIP: text(facts.PortAddress), Customer: customerOf(a.Result, o)}
	if f.TransitIP == "" && a.stands(resource.ID{Kind: resource.KindSecurityGroup, Name: o.Name}) {
		f.TransitIP = text(in.Ledger.TransitIP)
	}
	if in.Router.ID == "" { // which routes are on it is not known
		return f
	}
	f.ReverseRoutes = append([]ipsecv1alpha1.ReverseRoute{}, a.back[o]...)
	slices.SortFunc(f.ReverseRoutes, func(x, y ipsecv1alpha1.ReverseRoute) int { return strings.Compare(x.ServiceCIDR, y.ServiceCIDR) })
	return f
}

// text is an address in words; empty where there is none.
func text(a netip.Addr) string {
	if !a.IsValid() {
		return ""
	}
	return a.String()
}
