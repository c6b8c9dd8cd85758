package loop_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud/kube/fakeapi"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// TestAClusterWithoutMonitoring: a kind that a gateway does without is left out where the
// cluster doesn't know it, and named once; the gateways are made, and the next plan is
// empty. Once the kind is there, so are its objects.
func TestAClusterWithoutMonitoring(t *testing.T) {
	p := newPassing(t)
	p.secret()
	p.api.Intercept(func(_ int, c fakeapi.Call) fakeapi.Fault {
		if c.Resource == "podmonitors" || c.Resource == "prometheusrules" {
			return fakeapi.Fault{Code: 404}
		}
		return fakeapi.Fault{}
	})
	e := withPlant2(t, acmeInACluster(t))
	e.Monitoring = vpn.Monitoring{PodMonitor: true, PrometheusRule: true}
	want := []string{
		"the cluster doesn't know the kind PodMonitor: there is no CustomResourceDefinition podmonitors.monitoring.coreos.com; objects that are left out: 1: " +
			"install the CRDs of the Prometheus operator, or set spec.monitoring.podMonitor of the Estate to false",
		"the cluster doesn't know the kind PrometheusRule: there is no CustomResourceDefinition prometheusrules.monitoring.coreos.com; objects that are left out: 1: " +
			"install the CRDs of the Prometheus operator, or set spec.monitoring.prometheusRule of the Estate to false",
	}
	for _, when := range []string{"new", "applied"} {
		made := p.plan(e, plan.Options{}).Plan
		var got []string
		for _, n := range made.Notices {
			if strings.Contains(n.Message, "doesn't know") {
				got = append(got, n.Message+": "+n.Hint)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: notices (-want +got)\n%s", when, diff)
		}
		if len(made.Refusals) > 0 || (len(made.Changes) == 0) != (when == "applied") {
			t.Errorf("%s: %d changes, refused: %v", when, len(made.Changes), made.Refusals)
		}
		if report, _ := p.apply(e, plan.Options{}); report != nil && report.Err() != nil {
			t.Fatalf("%s: %v", when, report.Err())
		}
	}
	p.api.Intercept(nil)
	var kinds []string
	for _, c := range p.plan(e, plan.Options{}).Plan.Pending() {
		kinds = append(kinds, string(c.Action)+" "+string(c.ID.Kind))
	}
	if diff := cmp.Diff([]string{"create kubernetes.podmonitor", "create kubernetes.prometheusrule"}, kinds); diff != "" {
		t.Errorf("once they are known (-want +got)\n%s", diff)
	}
}
