package monitoring

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Version is the apiVersion of all of them.
const Version = "monitoring.coreos.com/v1"

// PodMonitor says which pods Prometheus asks for metrics.
type PodMonitor struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              PodMonitorSpec `json:"spec"`
}

// PodMonitorSpec is one of pods that have certain labels.
type PodMonitorSpec struct {
	Selector  metav1.LabelSelector `json:"selector"`
	Endpoints []Endpoint           `json:"podMetricsEndpoints"`
}

// Endpoint is a port of these pods, by its name.
type Endpoint struct {
	Port string `json:"port"`
}

// NewPodMonitor is the monitor of pods with these labels, at one port.
func NewPodMonitor(meta metav1.ObjectMeta, labels map[string]string, port string) PodMonitor {
	return PodMonitor{meta, PodMonitorSpec{metav1.LabelSelector{MatchLabels: labels}, []Endpoint{{port}}}}
}

// PrometheusRule is rules that Prometheus follows.
type PrometheusRule struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              PrometheusRuleSpec `json:"spec"`
}

// PrometheusRuleSpec is the rules in their groups.
type PrometheusRuleSpec struct {
	Groups []Group `json:"groups"`
}

// Group is alerts that are looked at together.
type Group struct {
	Name  string  `json:"name"`
	Rules []Alert `json:"rules"`
}

// NewPrometheusRule is the alerts of one group.
func NewPrometheusRule(meta metav1.ObjectMeta, group string, alerts []Alert) PrometheusRule {
	return PrometheusRule{meta, PrometheusRuleSpec{[]Group{{group, alerts}}}}
}

// Alert is a rule as Prometheus reads it.
type Alert struct {
	Alert       string            `json:"alert"`
	Expr        string            `json:"expr"`
	For         string            `json:"for"` // as a Prometheus duration: 10m
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// NewAlert is an alert of a severity that fires once its expression has held for so
// long, and says in one line what is wrong, and in a few sentences what to do about it.
func NewAlert(name, expr, after, severity, summary, description string) Alert {
	return Alert{name, expr, after, map[string]string{"severity": severity}, map[string]string{"summary": summary, "description": description}}
}
