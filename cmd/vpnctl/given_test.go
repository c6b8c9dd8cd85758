package main

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/reconcile"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render"
)

// TestGivenAddresses: whoever's gateway is finished learns its addresses once, whichever
// run has given them.
func TestGivenAddresses(t *testing.T) {
	dc1 := vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: "acme", Name: "dc1"}
	ledger := alloc.Ledger{Owner: dc1, ServiceCIDR: netip.MustParsePrefix("100.64.3.0/24"), VirtualIPs: map[string]byte{"web": 10}}
	facts := resource.Facts{Gateways: map[string]resource.GatewayFacts{dc1.String(): {FloatingIP: netip.MustParseAddr("203.0.113.20")}}}
	outcome := func(action plan.Action, k resource.Kind, state cloud.State) cloud.Outcome {
		return cloud.Outcome{Change: plan.Change{ID: resource.ID{Kind: k, Namespace: "acme", Name: "dc1"}, Owner: dc1, Action: action}, State: state}
	}
	deployment := resource.KubernetesKind("Deployment")
	for sentence, tt := range map[string]struct {
		outcomes []cloud.Outcome
		new      bool // nothing stood before
		want     []string
	}{
		"all in one run": {[]cloud.Outcome{outcome(plan.Create, resource.KindSecurityGroup, cloud.Done), outcome(plan.Create, resource.KindApplied, cloud.Done)}, true,
			[]string{"203.0.113.20 · 100.64.3.0/24 · web .10"}},
		"a run that was cut off":    {[]cloud.Outcome{outcome(plan.Create, resource.KindSecurityGroup, cloud.Done), outcome(plan.Create, deployment, cloud.Failed)}, true, nil},
		"the one that finishes":     {[]cloud.Outcome{outcome(plan.Create, deployment, cloud.Done), outcome(plan.Create, resource.KindApplied, cloud.Done)}, false, []string{"203.0.113.20 · 100.64.3.0/24 · web .10"}},
		"a later edit of its rules": {[]cloud.Outcome{outcome(plan.Update, resource.KindSecurityGroup, cloud.Done), outcome(plan.Update, resource.KindApplied, cloud.Done)}, false, nil},
	} {
		r := &reconcile.Result{Seen: &cloud.Observation{}, Ledgers: map[vpn.Owner]alloc.Ledger{dc1: ledger}, Inputs: map[vpn.Owner]render.Input{dc1: {Facts: facts}}}
		if !tt.new {
			r.Seen.Facts, r.Seen.Ledgers = facts, []alloc.Ledger{ledger}
		}
		var got []string
		for _, g := range given(r, &cloud.Report{Outcomes: tt.outcomes}) {
			got = append(got, g.Addresses.String())
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", sentence, diff)
		}
	}
}
