package standing

import (
	"errors"
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/reconcile"
	ipsecv1alpha1 "github.com/vpnctl/vpnctl/crds/ipsec/v1alpha1"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/manifest"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render"
)

var north = vpn.Owner{Kind: vpn.KindClusterLink, Name: "north"}

const service = "router-service"

func linkChange(k resource.Kind) plan.Change {
	return plan.Change{ID: resource.ID{Kind: k, Name: north.Name}, Owner: north, Action: plan.Create}
}

// wayBack is the route that leads back to a gateway.
func wayBack(o vpn.Owner, a plan.Action) plan.Change {
	return plan.Change{
		ID: resource.ID{Kind: resource.KindRoute, Namespace: o.Namespace, Name: o.Name + "@" + service}, Owner: o, Action: a,
		After: &resource.Resource{Route: &resource.Route{Router: service, Destination: netip.MustParsePrefix("100.64.0.0/24")}},
	}
}

// forward is the link's own route.
var forward = resource.ID{Kind: resource.KindRoute, Name: north.Name}

// linked is what a run knows of one link, and of gateways behind it.
func linked(changes ...plan.Change) *reconcile.Result {
	return &reconcile.Result{
		Plan:     plan.Plan{Changes: changes, Owners: []plan.Owner{{Owner: north}}},
		Seen:     &cloud.Observation{Graph: resource.Graph{forward: {ID: forward, Route: &resource.Route{NextHop: "10.254.0.3"}}}, Facts: resource.Facts{Gateways: map[string]resource.GatewayFacts{}}},
		Linked:   []vpn.Link{{Owner: north}},
		Links:    map[vpn.Owner]render.LinkInput{north: {Router: render.Router{ID: service}, Ledger: alloc.LinkLedger{TransitIP: netip.MustParseAddr("10.254.0.3")}}},
		Gateways: []vpn.Gateway{{Owner: dc1}, {Owner: dc2}},
		Desired:  resource.Graph{},
	}
}

var dc2 = vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: "acme", Name: "dc2"}

func of(t *testing.T, r *reconcile.Result, report *cloud.Report, o vpn.Owner) Gateway {
	t.Helper()
	all := Of(r, report, map[vpn.Owner]cloud.Rollout{dc1: {Available: true}, dc2: {Available: true}}, nil)
	i := slices.IndexFunc(all, func(s Gateway) bool { return s.Owner == o })
	if i < 0 {
		t.Fatalf("nothing is said of %s", o)
	}
	return all[i]
}

// notTrue are the conditions that are not True.
func notTrue(s Gateway) map[string]string {
	all := map[string]string{}
	for _, c := range s.Conditions {
		if c.Status != True {
			all[c.Type] = c.Status + " " + c.Reason
		}
	}
	return all
}

// TestConditionsOfALink: what each way to end says; what isn't named is True.
func TestConditionsOfALink(t *testing.T) {
	broken := errors.New("409")
	group, leg, route := linkChange(resource.KindSecurityGroup), linkChange(resource.KindTransitLeg), linkChange(resource.KindRoute)
	back, other := wayBack(dc1, plan.Create), wayBack(dc2, plan.Create)
	waits := func(c plan.Change) cloud.Outcome { return cloud.Outcome{Change: c, State: cloud.Skipped, Err: broken} }
	held := func(c plan.Change) plan.Change { c.Held = "waits for the leg"; return c }
	barred := func(c plan.Change) plan.Change {
		c.Held, c.Barred = "it leads to 10.0.0.9, which is not ours", true
		return c
	}
	refused := func(r plan.Refusal) *reconcile.Result {
		x := linked()
		r.Owner, x.Links = north, nil
		x.Plan.Refusals = []plan.Refusal{r}
		return x
	}
	for name, tt := range map[string]struct {
		result   *reconcile.Result
		outcomes []cloud.Outcome
		want     map[string]string // condition → status reason
	}{
		"nothing to do": {result: linked()},
		"all was done":  {result: linked(group, leg, route, back), outcomes: []cloud.Outcome{outcome(group, nil), outcome(leg, nil), outcome(route, nil), outcome(back, nil)}},
		"nothing was tried": {
			result: linked(group, leg, route, back),
			want:   map[string]string{"LegAttached": "Unknown Pending", "RouteInstalled": "Unknown Pending", "ReverseRoutesInstalled": "Unknown Pending", "Ready": "Unknown Pending"},
		},
		"its ledger": {
			result: linked(group, leg, route), outcomes: []cloud.Outcome{outcome(group, broken), waits(leg), waits(route)},
			want: map[string]string{"LegAttached": "False EnsureTransitLegPortFailed", "RouteInstalled": "Unknown Pending", "Ready": "False EnsureTransitLegPortFailed"},
		},
		"its leg": {
			result: linked(leg, route, back), outcomes: []cloud.Outcome{outcome(leg, broken), waits(route), waits(back)},
			want: map[string]string{"LegAttached": "False EnsureTransitLegPortFailed", "RouteInstalled": "Unknown Pending", "ReverseRoutesInstalled": "Unknown Pending", "Ready": "False EnsureTransitLegPortFailed"},
		},
		"its leg joins no router": {
			result: linked(leg, route), outcomes: []cloud.Outcome{outcome(leg, cloud.During(cloud.StepJoin, broken)), waits(route)},
			want: map[string]string{"LegAttached": "False EnsureRouterHasPortFailed", "RouteInstalled": "Unknown Pending", "Ready": "False EnsureRouterHasPortFailed"},
		},
		"its route alone": {
			result: linked(route, back), outcomes: []cloud.Outcome{outcome(route, broken), outcome(back, nil)},
			want: map[string]string{"RouteInstalled": "False EnsureRouterRouteFailed", "Ready": "False EnsureRouterRouteFailed"},
		},
		"a way back alone": {
			result: linked(route, back, other), outcomes: []cloud.Outcome{outcome(route, nil), outcome(back, broken), outcome(other, nil)},
			want: map[string]string{"ReverseRoutesInstalled": "False EnsureReverseRoutesFailed", "Ready": "False EnsureReverseRoutesFailed"},
		},
		"a way back that goes": {
			result: linked(wayBack(dc1, plan.Delete)), outcomes: []cloud.Outcome{outcome(wayBack(dc1, plan.Delete), broken)},
			want: map[string]string{"ReverseRoutesInstalled": "False EnsureReverseRoutesFailed", "Ready": "False EnsureReverseRoutesFailed"},
		},
		"a way back that waits": {
			result: linked(held(back)),
			want:   map[string]string{"ReverseRoutesInstalled": "Unknown Pending", "Ready": "Unknown Pending"},
		},
		"a way back in whose place another hand's stands": {
			result: linked(barred(back), other), outcomes: []cloud.Outcome{outcome(other, nil)},
			want: map[string]string{"ReverseRoutesInstalled": "False EnsureReverseRoutesFailed", "Ready": "False EnsureReverseRoutesFailed"},
		},
		"its router isn't found": {
			result: refused(plan.Refusal{Message: "no router", Reason: ipsecv1alpha1.ReasonRouterResolve}),
			want:   map[string]string{"LegAttached": "False RouterResolveFailed", "Ready": "False RouterResolveFailed"},
		},
		"its router isn't found, nor a forward route": {
			result: func() *reconcile.Result {
				x := refused(plan.Refusal{Message: "no router", Reason: ipsecv1alpha1.ReasonRouterResolve})
				delete(x.Seen.Graph, forward)
				return x
			}(),
			want: map[string]string{"LegAttached": "False RouterResolveFailed", "RouteInstalled": "Unknown Pending", "Ready": "False RouterResolveFailed"},
		},
		"no address is free": {
			result: refused(plan.Refusal{Message: "full", Reason: vpnv1alpha1.ReasonAllocationFailed}),
			want:   map[string]string{"LegAttached": "False AllocationFailed", "Ready": "False AllocationFailed"},
		},
		"it asks for what can't change": {
			result: refused(plan.Refusal{Message: "the range", Reason: vpnv1alpha1.ReasonInvalidSpec}),
			want:   map[string]string{"Validated": "False InvalidSpec", "Ready": "False InvalidSpec"},
		},
		"its route is somebody else's": {
			result: refused(plan.Refusal{ID: route.ID, Message: "conflict"}),
			want:   map[string]string{"RouteInstalled": "False EnsureRouterRouteFailed", "Ready": "False EnsureRouterRouteFailed"},
		},
		"the estate as a whole": {
			result: func() *reconcile.Result {
				x := linked()
				x.Plan.Refusals = []plan.Refusal{{Message: "no"}}
				return x
			}(),
			want: map[string]string{"LegAttached": "False EnsureTransitLegPortFailed", "Ready": "False EnsureTransitLegPortFailed"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var report *cloud.Report
			if tt.outcomes != nil {
				report = &cloud.Report{Outcomes: tt.outcomes}
			}
			s := of(t, tt.result, report, north)
			if tt.want == nil {
				tt.want = map[string]string{}
			}
			if diff := cmp.Diff(tt.want, notTrue(s)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			var kinds []string
			for _, c := range s.Conditions {
				kinds = append(kinds, c.Type)
			}
			if diff := cmp.Diff([]string{"Validated", "LegAttached", "RouteInstalled", "ReverseRoutesInstalled", "Ready"}, kinds); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
		})
	}
}

// TestALinkDoesNotMakeItsGatewaysUnready: of a way back that fails the link tells, by the
// gateway's name; the gateway is whole without it.
func TestALinkDoesNotMakeItsGatewaysUnready(t *testing.T) {
	back := wayBack(dc1, plan.Create)
	r, report := linked(back), &cloud.Report{Outcomes: []cloud.Outcome{outcome(back, errors.New("too many routes"))}}
	if told := notTrue(of(t, r, report, dc1)); len(told) > 0 {
		t.Errorf("the gateway: %v", told)
	}
	s := of(t, r, report, north)
	i := slices.IndexFunc(s.Conditions, func(c cloud.Condition) bool { return c.Type == ipsecv1alpha1.ConditionReverseRoutesInstalled })
	if want := "acme/dc1: too many routes"; s.Conditions[i].Message != want {
		t.Errorf("the link says %q, want %q", s.Conditions[i].Message, want)
	}
	r.Links = nil // without a link to tell of it, the gateway has to
	if told := notTrue(of(t, r, report, dc1)); told["RoutingReady"] != "False EnsureRouterRouteFailed" {
		t.Errorf("the gateway without a link: %v", told)
	}
}

// TestFieldsOfALink: an address counts once the ledger is written, a way back once it
// stands, and what isn't known isn't said.
func TestFieldsOfALink(t *testing.T) {
	group, back := linkChange(resource.KindSecurityGroup), wayBack(dc1, plan.Create)
	started := linked(group, back)
	started.Desired[back.ID] = resource.Resource{ID: back.ID, Owner: dc1.String(), Route: back.After.Route}
	started.Seen.Facts.Gateways[dc1.String()] = resource.GatewayFacts{PortAddress: netip.MustParseAddr("10.254.0.20")}
	done := &cloud.Report{Outcomes: []cloud.Outcome{outcome(group, nil), outcome(back, nil)}, Learnt: map[vpn.Owner]resource.GatewayFacts{
		north: {PortID: "leg", PortAddress: netip.MustParseAddr("10.254.0.3")},
	}}
	cut := &cloud.Report{Outcomes: []cloud.Outcome{outcome(group, nil), outcome(back, errors.New("no"))}}
	unresolved := linked()
	unresolved.Links = nil
	route := ipsecv1alpha1.ReverseRoute{ServiceCIDR: "100.64.0.0/24", NextHop: "10.254.0.20", GatewayRef: "acme/dc1"}
	for name, tt := range map[string]struct {
		result *reconcile.Result
		report *cloud.Report
		want   map[string]any
	}{
		"only planned":            {started, nil, map[string]any{"reverseRoutes": []ipsecv1alpha1.ReverseRoute{}}},
		"the ledger is written":   {started, cut, map[string]any{"transitIP": "10.254.0.3", "reverseRoutes": []ipsecv1alpha1.ReverseRoute{}}},
		"all of it":               {started, done, map[string]any{"transitIP": "10.254.0.3", "legPortID": "leg", "reverseRoutes": []ipsecv1alpha1.ReverseRoute{route}}},
		"its router is not known": {unresolved, nil, map[string]any{}},
	} {
		if diff := cmp.Diff(tt.want, of(t, tt.result, tt.report, north).Status().Fields); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestAnInvalidLink says what is wrong with it, and nothing of what stands.
func TestAnInvalidLink(t *testing.T) {
	s := Invalid(north, manifest.Diagnostics{{Severity: manifest.Error, File: "ClusterLink north", Field: "spec.transitIP", Message: "no address"}})
	want := []cloud.Condition{
		{Type: "Validated", Status: False, Reason: "InvalidSpec", Message: "spec.transitIP: no address"},
		{Type: "Ready", Status: False, Reason: "InvalidSpec", Message: "Validated: spec.transitIP: no address"},
	}
	if diff := cmp.Diff(want, s.Conditions); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
