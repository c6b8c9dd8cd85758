package pod

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/render/monitoring"
	"github.com/vpnctl/vpnctl/render/yaml"
)

var update = flag.Bool("update", false, "rewrite examples/monitoring/alerts.yaml")

// head says what the file needs.
const head = `# Alerts on every gateway of the cluster. An estate with monitoring.prometheusRule has
# the same beside each gateway: use one of the two, and rather those, which need nothing
# but the gateway's own metrics.
#
# VPNGatewayUnobserved asks kube-state-metrics which gateways there should be: its
# series of Deployments and ConfigMaps, with the object's namespace in the label namespace
# (honorLabels). Without those of ConfigMaps it ends after an hour, and never fires for a
# gateway that never came up; without kube-state-metrics it never fires at all.
`

// TestAlertsOfAllGateways are in a file that people can apply.
func TestAlertsOfAllGateways(t *testing.T) {
	file := filepath.Join("..", "..", "examples", "monitoring", "alerts.yaml")
	o := PrometheusRule("vpnctl")
	text, err := yaml.Object(o.APIVersion, o.Kind, o.Body)
	if err != nil {
		t.Fatal(err)
	}
	want := head + text
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("run with -update (-want +got)\n%s", diff)
	}
}

// TestAlertsOfOneGateway look at no other one, and are those of all gateways otherwise.
func TestAlertsOfOneGateway(t *testing.T) {
	of := func(o Object) []monitoring.Alert { return o.Body.(monitoring.PrometheusRule).Spec.Groups[0].Rules }
	s := spec()
	one, all := of(s.prometheusRule()), of(PrometheusRule("all"))
	if len(one) < 10 {
		t.Fatalf("only %d alerts", len(one))
	}
	const selector = `{namespace="acme", gateway="dc1"}`
	metric := regexp.MustCompile(`vpnctl_\w+(\{[^}]*\})?`)
	for i, a := range one {
		for _, m := range metric.FindAllStringSubmatch(a.Expr, -1) {
			if m[1] != selector {
				t.Errorf("%s: %s is that of all gateways", a.Alert, m[0])
			}
		}
		if a.Alert != "VPNGatewayUnobserved" {
			a.Expr = strings.ReplaceAll(a.Expr, selector, "")
		} else {
			a.Expr = all[i].Expr
		}
		if diff := cmp.Diff(all[i], a); diff != "" {
			t.Errorf("(-all gateways +one)\n%s", diff)
		}
		if a.Labels["severity"] == "" || a.Annotations["summary"] == "" || a.Annotations["description"] == "" {
			t.Errorf("%s says too little", a.Alert)
		}
	}
}
