package controller

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const monitoringVersion = "monitoring.coreos.com/v1"

// The parts of the Prometheus operator's types that are used here.
type (
	monitor struct {
		metav1.ObjectMeta `json:"metadata"`
		Spec              monitorSpec `json:"spec"`
	}
	monitorSpec struct {
		Selector  metav1.LabelSelector `json:"selector"`
		Endpoints []endpoint           `json:"podMetricsEndpoints"`
	}
	endpoint struct {
		Port string `json:"port"`
	}
	ruleSet struct {
		metav1.ObjectMeta `json:"metadata"`
		Spec              ruleSetSpec `json:"spec"`
	}
	ruleSetSpec struct {
		Groups []group `json:"groups"`
	}
	group struct {
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

func (i Install) podMonitor() object {
	return object{monitoringVersion, "PodMonitor", Name, monitor{i.meta(Name), monitorSpec{
		Selector:  metav1.LabelSelector{MatchLabels: labels()},
		Endpoints: []endpoint{{Port: "http"}},
	}}}
}

// prometheusRule alerts on the controller.
func (i Install) prometheusRule() object {
	all := alerts()
	in := strings.NewReplacer("{of", `{namespace="`+i.Namespace+`"`, "NAMESPACE", i.Namespace)
	for n := range all {
		all[n].Expr = in.Replace(all[n].Expr)
		all[n].Annotations["description"] = in.Replace(all[n].Annotations["description"])
	}
	return object{monitoringVersion, "PrometheusRule", Name, ruleSet{i.meta(Name), ruleSetSpec{[]group{{Name, all}}}}}
}
