package pod

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vpnctl/vpnctl/render/monitoring"
)

func (s Spec) podMonitor() Object {
	return Object{monitoring.Version, "PodMonitor", s.name(), monitoring.NewPodMonitor(s.meta(s.name()), s.selector(), "metrics")}
}

// prometheusRule alerts on one gateway. It knows which one should be there.
func (s Spec) prometheusRule() Object {
	of := fmt.Sprintf("{namespace=%q, gateway=%q}", s.Gateway.Owner.Namespace, s.name())
	return ruleObject(s.meta(s.name()), "vpnctl-"+s.name(), alerts(of, "absent(vpnctl_config_info"+of+")"))
}

// PrometheusRule alerts on all gateways at once, for those who keep rules in one place
// rather than beside each gateway. That a gateway should be there, it can only know from
// kube-state-metrics: there is a Deployment, and with it the ConfigMap of a ruleset.
// Where ConfigMaps aren't collected, a gateway is one that was seen within the hour;
// without kube-state-metrics that one alert never fires.
func PrometheusRule(name string) Object {
	return ruleObject(metav1.ObjectMeta{Name: name}, name, alerts("", ""+
		"(max "+byGateway+`(label_replace(kube_configmap_info{configmap=~".+-nat"}, "gateway", "$1", "configmap", "(.+)-nat"))`+
		" or max "+byGateway+"(last_over_time(vpnctl_config_info[1h])))"+
		` and on (namespace, gateway) label_replace(kube_deployment_spec_replicas > 0, "gateway", "$1", "deployment", "(.*)")`+
		" unless on (namespace, gateway) vpnctl_config_info"))
}

func ruleObject(meta metav1.ObjectMeta, group string, alerts []monitoring.Alert) Object {
	return Object{monitoring.Version, "PrometheusRule", meta.Name, monitoring.NewPrometheusRule(meta, group, alerts)}
}
