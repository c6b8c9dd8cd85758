package controller

import "github.com/vpnctl/vpnctl/render/monitoring"

// Where an alert's reader looks next.
const seeLog = "What fails, say the log (kubectl -n NAMESPACE logs -l app.kubernetes.io/name=" + Name + " --prefix) and the status page of the pod whose vpnctl_reconcile_leader is 1."

// alerts are those on the controller. Each replica tells whether it works; everything else
// is shown by that one alone, so that a sum or a maximum is its value.
func alerts() []monitoring.Alert {
	return []monitoring.Alert{
		monitoring.NewAlert("VPNControllerAbsent", "absent(vpnctl_reconcile_leader{of} == 1)", "5m", "critical",
			"no replica of vpnctl reconcile works",
			"Tunnels go on, but nothing is changed, repaired or moved off a lost node. Look at the pods of the Deployment "+Name+" in NAMESPACE, at their logs, and at the PodMonitor."),
		monitoring.NewAlert("VPNControllerStale", "(time() - max(vpnctl_reconcile_last_success_timestamp_seconds{of}) > 1800)"+
			" or (max(vpnctl_reconcile_leader{of}) == 1 unless on () max(vpnctl_reconcile_last_success_timestamp_seconds{of}))", "10m", "critical",
			"vpnctl reconcile hasn't looked at the whole estate for half an hour",
			"Nothing is changed or repaired meanwhile; tunnels go on. "+seeLog),
		monitoring.NewAlert("VPNControllerUnobserved", "sum(increase(vpnctl_reconcile_unobserved_total{of}[10m])) > 0", "10m", "warning",
			"vpnctl reconcile can't look at the cloud or the cluster, try after try",
			"A list call fails: the cloud is away, the login has run out, or a right is missing. "+seeLog),
		monitoring.NewAlert("VPNControllerChangesFail", `sum by (action) (increase(vpnctl_reconcile_changes_total{of, result="failed"}[15m])) > 0`, "30m", "warning",
			"changes ({{ $labels.action }}) fail, try after try",
			"Each is tried again by itself, and keeps only its own gateway waiting. "+seeLog),
		monitoring.NewAlert("VPNGatewaysNotReady", `sum(vpnctl_reconcile_gateways{of, ready!="true"}) > 0`, "15m", "warning",
			"{{ $value }} gateways are not ready",
			"Why, says the condition Ready of each: kubectl get vpngateways,ipsecgateways -A."),
		monitoring.NewAlert("VPNLinksNotReady", `sum(vpnctl_reconcile_links{of, ready!="true"}) > 0`, "15m", "warning",
			"{{ $value }} links to service clusters are not ready",
			"Why, says the condition Ready of each: kubectl get clusterlinks. One that is being deleted counts as long as something keeps it."),
		monitoring.NewAlert("VPNGatewaysOrphaned", "max(vpnctl_reconcile_orphans{of}) > 0", "15m", "warning",
			"{{ $value }} gateways or links stand without a manifest",
			"Their manifests went without being deleted: a finalizer was taken off, or the kinds were removed. Nothing of them is touched. Write the manifest again, and delete it if the gateway or link is to go. Which they are, says the status page."),
		monitoring.NewAlert("VPNEstateInvalid", "min(vpnctl_reconcile_estate_valid{of}) == 0", "10m", "warning",
			"the Estate's file isn't valid",
			"The last good one counts until it is. What is wrong with the ConfigMap "+estateName+" in NAMESPACE, says the log."),
		monitoring.NewAlert("VPNServiceCIDRsRunOut", "max(ipsec_operator_servicecidr_allocated_ratio{of}) > 0.9", "15m", "warning",
			"{{ $value | humanizePercentage }} of the pool of service CIDRs are in use",
			"A new gateway needs a /24 of spec.serviceCIDRPool. The pool may be widened at any time; what is allocated stays."),
	}
}
