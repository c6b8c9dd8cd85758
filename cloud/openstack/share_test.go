package openstack

import (
	"net/http"
	"strings"
	"testing"

	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/state"
)

// ledger is what the link's group says.
func (c *crossing) ledger() alloc.LinkLedger {
	c.t.Helper()
	for _, g := range c.lab.of("security-group") {
		if l, ours, err := state.ReadLink(g.Tags()); ours && err == nil && l.Owner == north {
			return l
		}
	}
	c.t.Fatal("the link has no ledger")
	return alloc.LinkLedger{}
}

// sharing is the change that lets the customer's project use the network.
func (c *crossing) sharing() plan.Change {
	id := idOf(resource.KindNetworkShare, north)
	return plan.Change{Action: plan.Create, ID: id, Owner: north, After: &resource.Resource{ID: id, Owner: north.String(),
		NetworkShare: &resource.NetworkShare{Network: c.scene.network.ID, Project: c.estate.Links[0].CustomerProject}}}
}

// TestAPolicyThatWasRefused: nothing on record makes one that the operator then makes by
// hand ours. What may have been made all the same is still looked for.
func TestAPolicyThatWasRefused(t *testing.T) {
	fail := func(status int, kind string) func(int) simulator.Fault {
		return func(int) simulator.Fault { return simulator.Fault{Do: simulator.Fail, Status: status, Type: kind} }
	}
	for sentence, c := range map[string]struct {
		before string // on the ledger
		answer func(nth int) simulator.Fault
		want   string
	}{
		"by the service's policy":          {"", fail(http.StatusForbidden, "PolicyNotAuthorized"), ""},
		"for its quota":                    {"", fail(http.StatusConflict, "OverQuota"), ""},
		"after an earlier run was cut off": {alloc.PolicyPending, fail(http.StatusForbidden, "PolicyNotAuthorized"), ""},
		"as there is one that nobody sees": {"", fail(http.StatusConflict, "DuplicateRbacPolicy"), ""},
		"as there is one that may be ours": {alloc.PolicyPending, fail(http.StatusConflict, "DuplicateRbacPolicy"), alloc.PolicyPending},
		"not, the service had a fault":     {"", fail(http.StatusInternalServerError, ""), alloc.PolicyPending},
		"after a call that nobody answered": {"", func(nth int) simulator.Fault {
			return simulator.Fault{Do: simulator.Fail, Status: []int{http.StatusInternalServerError, http.StatusForbidden}[min(nth, 1)]}
		}, alloc.PolicyPending},
	} {
		t.Run(sentence, func(t *testing.T) {
			x := newCrossing(t)
			x.onTheLedger(alloc.LinkLedger{Policy: c.before})
			x.observe()
			nth := 0
			x.fault = func(_ int, r *http.Request) simulator.Fault {
				if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, policiesPath) {
					return simulator.Fault{}
				}
				nth++
				return c.answer(nth - 1)
			}
			if _, err := x.Apply(t.Context(), x.sharing()); err == nil {
				t.Error("it was made")
			}
			if got := x.ledger().Policy; got != c.want {
				t.Errorf("on record %q, want %q", got, c.want)
			}
		})
	}
}
