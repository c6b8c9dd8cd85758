package reconcile_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud/reconcile/world"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// writesOfANewGateway are all that an apply writes to make one gateway with a
// reverse exposure, and why each is needed.
var writesOfANewGateway = []struct{ call, why string }{
	{"POST /v2.0/ports", "the estate's lock"},
	{"POST /v2.0/security-groups", "the gateway's first object, which holds the ledger"},
	{"PUT /v2.0/security-groups/{id}/tags", "the ledger, before anything is programmed with it: a create takes no tags"},
	{"POST /v2.0/security-group-rules", "all rules in one call: a group can't be created with them"},
	{"POST /v2.0/ports", "the port, with its group and its address pairs"},
	{"PUT /v2.0/ports/{id}/tags", "whose port it is"},
	{"POST /v2.1/servers/{id}/os-interface", "its attachment to the node"},
	{"POST /v2.0/floatingips", "the public address"},
	{"PUT /v2.0/floatingips/{id}/tags", "whose address it is"},
	{"PUT /v2.0/floatingips/{id}", "its association: untagged and in use it would look like one that lost its tags"},
	{"PUT /v2.0/routers/{id}/add_extraroutes", "the way back to the reverse exposures' virtual IPs"},
	{"PUT /v2.0/security-groups/{id}/tags", "the record of the state that was reached"},
	{"DELETE /v2.0/ports/{id}", "the lock's end"},
}

func TestWritesOfANewGateway(t *testing.T) {
	var want []string
	for _, w := range writesOfANewGateway {
		want = append(want, w.call)
	}
	got, _ := newGateway(t)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// BenchmarkNewGateway applies one new gateway beside others that stay, counts the
// calls, and names each write.
func BenchmarkNewGateway(b *testing.B) {
	var writes []string
	var reads int
	for b.Loop() {
		writes, reads = newGateway(b)
	}
	b.ReportMetric(float64(len(writes)), "writes")
	b.ReportMetric(float64(reads), "reads")
	for i, w := range writesOfANewGateway {
		fmt.Printf("  write %2d  %-39s %s\n", i+1, w.call, w.why)
	}
}

// newGateway applies a gateway to an estate that has the others already.
func newGateway(t testing.TB) (writes []string, reads int) {
	w, all := world.New(t, simulator.Options{}), world.Estate(t)
	others := all
	others.Gateways = slices.DeleteFunc(slices.Clone(all.Gateways), func(g vpn.Gateway) bool { return g.Owner.Path() == "acme/dc1" })
	w.Apply(others, plan.Options{})
	w.Sim.Reset()
	w.Apply(all, plan.Options{})
	for _, c := range w.Sim.Calls() {
		switch {
		case c.Write():
			writes = append(writes, c.Method+" "+c.Pattern)
		case !c.Keystone():
			reads++
		}
	}
	return writes, reads
}
