package openstack

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/state"
)

// TestALegThatSomebodyClaimedMeanwhile is not taken over, whosever mark it carries.
func TestALegThatSomebodyClaimedMeanwhile(t *testing.T) {
	for sentence, tags := range map[string][]string{
		"an operator":    state.OperatorTags("1f0c"),
		"another estate": state.Tags("other", north),
	} {
		t.Run(sentence, func(t *testing.T) {
			l := newLab(t, simulator.Options{})
			own := l.hand()
			router := own.post("router", routersPath, map[string]any{"name": "service-router"})
			facts := own.facts()
			id := own.post("port", portsPath, map[string]any{"network_id": facts.NetworkID})
			if _, err := own.call(t.Context(), http.MethodPut, routersPath+"/"+router+"/add_router_interface", map[string]any{"port_id": id}, nil); err != nil {
				t.Fatal(err)
			}
			own.retag(portsPath, id, tags...)
			leg := resource.Resource{ID: idOf(resource.KindTransitLeg, north), Owner: north.String(), Ref: id, TransitLeg: &resource.TransitLeg{Router: router, RouterName: "service-router"}}
			before := l.snapshot()
			if _, err := own.Apply(t.Context(), plan.Change{Action: plan.Adopt, ID: leg.ID, Owner: north, Before: &leg, After: &leg}); err == nil {
				t.Error("it was taken over")
			}
			if after := l.snapshot(); after != before {
				t.Error("something has changed")
			}
		})
	}
}

// TestALedgerThatCantBeRead is not written over: it may name a policy of ours.
func TestALedgerThatCantBeRead(t *testing.T) {
	x := newCrossing(t)
	x.onTheLedger(alloc.LinkLedger{Policy: "11111111"})
	id := idOf(resource.KindSecurityGroup, north)
	have := x.observe().Graph[id]
	own := x.hand()
	tags := x.lab.of("security-group").Only(func(o simulator.Object) bool { return o.ID == have.Ref })[0].Tags()
	own.retag(groupsPath, have.Ref, append(slices.Clone(tags), state.Prefix+"transit-ip=nowhere")...)
	before := x.snapshot()
	if _, err := x.Apply(t.Context(), plan.Change{Action: plan.Update, ID: id, Owner: north, Before: &have, After: &have}); err == nil || !strings.Contains(err.Error(), "ledger") {
		t.Errorf("error %v, want one that names the ledger", err)
	}
	if after := x.snapshot(); after != before {
		t.Error("something has changed")
	}
}
