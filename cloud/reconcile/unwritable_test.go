package reconcile_test

import (
	"testing"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/kube/fakeapi"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan"
)

// TestAClusterThatIsNotWritable: whoever may not write a manifest, or has no namespace
// for it, touches nothing in the cloud, and is told so once.
func TestAClusterThatIsNotWritable(t *testing.T) {
	for name, code := range map[string]int{"no right to write": 403, "no namespace": 404} {
		p := newPassing(t)
		p.secret()
		p.api.Intercept = func(_ int, c fakeapi.Call) fakeapi.Fault {
			if c.Writes() {
				return fakeapi.Fault{Code: code}
			}
			return fakeapi.Fault{}
		}
		report, _ := p.apply(withPlant2(t, acmeInACluster(t)), plan.Options{})
		if tally := simulator.Count(p.cloud.sim.Calls()); tally.Writes > 0 {
			t.Errorf("%s: the cloud was written to: %v", name, tally.By)
		}
		if failed := report.With(cloud.Failed); len(failed) != 1 || failed[0].Change.ID.Kind != "kubernetes.vpngateway" {
			t.Errorf("%s: %d failures, want that of the gateway's manifest alone: %v", name, len(failed), failed)
		}
		p.api.Intercept = nil
		if report, _ := p.apply(withPlant2(t, acmeInACluster(t)), plan.Options{}); report.Err() != nil {
			t.Errorf("%s: once it may: %v", name, report.Err())
		}
	}
}
