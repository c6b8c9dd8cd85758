package kube

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	ipsecv1alpha1 "github.com/vpnctl/vpnctl/crds/ipsec/v1alpha1"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
)

// kind is a kind of object that vpnctl writes.
type kind struct {
	name     string
	resource schema.GroupVersionResource
	optional bool // a cluster may not know it
	spare    bool // a gateway does without where a cluster doesn't
	manifest bool // people write it: listed whole, and may be taken over
	secret   bool // its content is never read: of a list only the metadata come

	everywhere bool // its objects are in no namespace
}

func (k kind) apiVersion() string { return k.resource.GroupVersion().String() }

// kinds are all kinds in the order in which they are listed.
var kinds = []kind{
	{name: "VPNGateway", resource: vpnv1alpha1.GroupVersion.WithResource("vpngateways"), manifest: true},
	{name: "VPNPeer", resource: vpnv1alpha1.GroupVersion.WithResource("vpnpeers"), manifest: true},
	{name: "IPsecGateway", resource: ipsecv1alpha1.GroupVersion.WithResource("ipsecgateways"), manifest: true},
	{name: ipsecv1alpha1.KindClusterLink, resource: ipsecv1alpha1.GroupVersion.WithResource("clusterlinks"), manifest: true, optional: true, everywhere: true},
	{name: "NetworkAttachmentDefinition", resource: gvr("k8s.cni.cncf.io", "v1", "network-attachment-definitions"), optional: true},
	{name: "Secret", resource: secrets, secret: true},
	{name: "ConfigMap", resource: gvr("", "v1", "configmaps")},
	{name: "ServiceAccount", resource: gvr("", "v1", "serviceaccounts")},
	{name: kindRole, resource: gvr("rbac.authorization.k8s.io", "v1", "roles")},
	{name: kindRoleBinding, resource: gvr("rbac.authorization.k8s.io", "v1", "rolebindings")},
	{name: "NetworkPolicy", resource: gvr("networking.k8s.io", "v1", "networkpolicies")},
	{name: "Deployment", resource: gvr("apps", "v1", "deployments")},
	{name: "PodMonitor", resource: gvr("monitoring.coreos.com", "v1", "podmonitors"), optional: true, spare: true},
	{name: "PrometheusRule", resource: gvr("monitoring.coreos.com", "v1", "prometheusrules"), optional: true, spare: true},
}

var (
	nodes   = gvr("", "v1", "nodes")
	pods    = gvr("", "v1", "pods")
	secrets = gvr("", "v1", "secrets")
)

func gvr(group, version, resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group, Version: version, Resource: resource}
}

// kindOf finds a kind by its name.
func kindOf(name string) (kind, bool) {
	for _, k := range kinds {
		if k.name == name {
			return k, true
		}
	}
	return kind{}, false
}
