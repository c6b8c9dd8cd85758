package controller

import (
	rbacv1 "k8s.io/api/rbac/v1"

	ipsecv1alpha1 "github.com/vpnctl/vpnctl/crds/ipsec/v1alpha1"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
)

// Right is what the controller's account may do with some kinds of objects.
type Right struct {
	Group     string
	Resources []string
	Names     []string // only objects of these names; empty: any
	Verbs     []string
	Why       string
}

// Rights are those in all namespaces: gateways live where their customers are, and new
// namespaces come at any time.
//
// There is neither "escalate" nor "bind": what a gateway's Role gives to its pod, the
// controller must hold itself, or the API server refuses the Role. That is the reason for
// "get" of statuses, and one of those for "get" of Secrets.
func Rights() []Right {
	return []Right{
		{vpnv1alpha1.Group, []string{"vpngateways"}, nil, []string{"get", "list", "watch", "patch"},
			"reads what people want; puts the finalizer on, and takes it off"},
		{vpnv1alpha1.Group, []string{"vpnpeers"}, nil, []string{"get", "list", "watch"},
			"reads what people want; reads one again whose status another hand has just written, too"},
		{vpnv1alpha1.Group, []string{"vpngateways/status", "vpnpeers/status"}, nil, []string{"get", "patch"},
			"says how they stand; each gateway's pod gets both for its own"},
		{"apiextensions.k8s.io", []string{"customresourcedefinitions"},
			[]string{"vpngateways." + vpnv1alpha1.Group, "vpnpeers." + vpnv1alpha1.Group, "ipsecgateways." + ipsecv1alpha1.Group, "clusterlinks." + ipsecv1alpha1.Group},
			[]string{"get"}, "sees whether manifests are being deleted because their kind is: then nothing of a gateway or link is removed"},
		{ipsecv1alpha1.Group, []string{"ipsecgateways"}, nil, []string{"get", "list", "watch", "patch"},
			"as for VPNGateways"},
		{ipsecv1alpha1.Group, []string{"ipsecgateways/status"}, nil, []string{"get", "patch"},
			"as for VPNGateways"},
		{ipsecv1alpha1.Group, []string{"clusterlinks"}, nil, []string{"get", "list", "watch", "patch"}, "as for VPNGateways"},
		{ipsecv1alpha1.Group, []string{"clusterlinks/status"}, nil, []string{"patch"}, "says how they stand; no pod does"},
		{"", []string{"secrets"}, nil, []string{"get", "list", "watch", "create", "patch", "delete"},
			"sees whether the Secrets that manifests name are there, and have the keys that they name; makes the private key of a WireGuard gateway that names none, puts its labels right, and removes it with the gateway; each gateway's pod gets \"get\" for those that its manifests name"},
		{"", []string{"configmaps", "serviceaccounts"}, nil, written(), "what a gateway consists of"},
		{"apps", []string{"deployments"}, nil, written(), "the same: its pod"},
		{"rbac.authorization.k8s.io", []string{"roles", "rolebindings"}, nil, written(), "the same: what its pod may do"},
		{"networking.k8s.io", []string{"networkpolicies"}, nil, written(), "the same"},
		{"k8s.cni.cncf.io", []string{"network-attachment-definitions"}, nil, written(), "the same: its second interface"},
		{"monitoring.coreos.com", []string{"podmonitors", "prometheusrules"}, nil, written(),
			"the same, where the Estate's monitoring asks for it; listed in any case, to see what is left of when it did"},
		{"", []string{"pods"}, nil, []string{"list"}, "says why a gateway's pod doesn't run; sees that none is left before its port goes"},
		{"", []string{"nodes"}, nil, []string{"list", "watch"}, "chooses nodes, and notices those that are lost"},
		{"coordination.k8s.io", []string{"leases"}, nil, []string{"list"}, "refuses to begin beside the controller of another estate"},
		{"", []string{"events"}, nil, []string{"get", "create", "patch"}, "tells of gateways; counts what is told again"},
	}
}

// LeaseRights are those in the controller's own namespace. Objects that don't exist yet
// have no name to go by.
func LeaseRights(estate string) []Right {
	return []Right{
		{"coordination.k8s.io", []string{"leases"}, nil, []string{"create"}, "elects the replica that works, for the first time"},
		{"coordination.k8s.io", []string{"leases"}, []string{LeaseName(estate)}, []string{"get", "update"}, "and from then on"},
	}
}

// LeaseName is that of the Lease by which the replicas agree on one.
func LeaseName(estate string) string { return "vpnctl-reconcile-" + estate }

// written are the verbs for what the controller writes: an apply is a patch, and a create
// where nothing is there yet.
func written() []string { return []string{"get", "list", "watch", "create", "patch", "delete"} }

func rules(rights []Right) []rbacv1.PolicyRule {
	var all []rbacv1.PolicyRule
	for _, r := range rights {
		all = append(all, rbacv1.PolicyRule{APIGroups: []string{r.Group}, Resources: r.Resources, ResourceNames: r.Names, Verbs: r.Verbs})
	}
	return all
}
