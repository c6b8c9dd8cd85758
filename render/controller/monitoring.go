package controller

import (
	"strings"

	"github.com/vpnctl/vpnctl/render/monitoring"
)

func (i Install) podMonitor() object {
	return object{monitoring.Version, "PodMonitor", Name, monitoring.NewPodMonitor(i.meta(Name), labels(), "http")}
}

// prometheusRule alerts on the controller.
func (i Install) prometheusRule() object {
	all := alerts()
	in := strings.NewReplacer("{of", `{namespace="`+i.Namespace+`"`, "NAMESPACE", i.Namespace)
	for n := range all {
		all[n].Expr = in.Replace(all[n].Expr)
		all[n].Annotations["description"] = in.Replace(all[n].Annotations["description"])
	}
	return object{monitoring.Version, "PrometheusRule", Name, monitoring.NewPrometheusRule(i.meta(Name), Name, all)}
}
