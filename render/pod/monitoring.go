package pod

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const monitoringVersion = "monitoring.coreos.com/v1"

// The parts of the Prometheus operator's types that are used here.
type (
	monitoringObject struct {
		metav1.ObjectMeta `json:"metadata"`
		Spec              any `json:"spec"`
	}
	podMonitorSpec struct {
		Selector  metav1.LabelSelector `json:"selector"`
		Endpoints []monitorEndpoint    `json:"podMetricsEndpoints"`
	}
	monitorEndpoint struct {
		Port string `json:"port"`
	}
	prometheusRuleSpec struct {
		Groups []alertGroup `json:"groups"`
	}
	alertGroup struct {
		Name  string  `json:"name"`
		Rules []alert `json:"rules"`
	}
	alert struct {
		Alert       string            `json:"alert"`
		Expr        string            `json:"expr"`
		For         string            `json:"for"`
		Labels      map[string]string `json:"labels"`
		Annotations map[string]string `json:"annotations"`
	}
)

func (s Spec) podMonitor() Object {
	return Object{monitoringVersion, "PodMonitor", s.name(), monitoringObject{s.meta(s.name()), podMonitorSpec{
		Selector:  metav1.LabelSelector{MatchLabels: s.selector()},
		Endpoints: []monitorEndpoint{{Port: "metrics"}},
	}}}
}

// prometheusRule alerts on what the status agent shows: one series for every peer or
// child that should be up, 1 when it is.
func (s Spec) prometheusRule() Object {
	of := fmt.Sprintf(`namespace=%q, gateway=%q`, s.Gateway.Owner.Namespace, s.name())
	rules := []alert{
		newAlert("VPNTunnelDown", "vpnctl_tunnel_up{"+of+"} == 0", "5m", "critical", "tunnel {{ $labels.tunnel }} of peer {{ $labels.peer }} is down"),
		newAlert("VPNTunnelFlapping", "changes(vpnctl_tunnel_up{"+of+"}[15m]) > 3", "0s", "warning", "tunnel {{ $labels.tunnel }} of peer {{ $labels.peer }} goes up and down"),
		newAlert("VPNGatewayUnobserved", "absent(vpnctl_tunnel_up{"+of+"})", "10m", "warning", "nothing is known of the tunnels of "+s.Gateway.Owner.Path()),
	}
	return Object{monitoringVersion, "PrometheusRule", s.name(), monitoringObject{s.meta(s.name()), prometheusRuleSpec{
		Groups: []alertGroup{{Name: "vpnctl-" + s.name(), Rules: rules}},
	}}}
}

func newAlert(name, expr, after, severity, summary string) alert {
	return alert{name, expr, after, map[string]string{"severity": severity}, map[string]string{"summary": summary}}
}
