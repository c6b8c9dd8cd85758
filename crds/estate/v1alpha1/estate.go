package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Names of the kind, and of the file that it is looked for in.
const (
	Group      = "vpnctl.bnerd.net"
	Version    = "v1alpha1"
	KindEstate = "Estate"
	FileName   = "vpnctl.yaml"
)

// GroupVersion is the apiVersion of an Estate.
var GroupVersion = schema.GroupVersion{Group: Group, Version: Version}

// Defaults of an Estate.
const (
	DefaultServiceCIDRPool    = "100.64.0.0/16"
	DefaultMaxGatewaysPerNode = 20
	DefaultDirectory          = "deploy"
	DefaultDataplane          = DataplaneKernel
	DefaultTarget             = TargetCluster
)

// Estate is one installation: an OpenStack project, the place where gateway
// pods run, and what all gateways share. Its name, a DNS label, is part of
// every ownership tag.
type Estate struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec EstateSpec `json:"spec"`
}

// EstateSpec is the configuration of an Estate.
type EstateSpec struct {
	// OpenStack says where gateway ports and floating IPs live.
	OpenStack OpenStack `json:"openstack"`
	// Kubernetes says where gateway pods run.
	Kubernetes Kubernetes `json:"kubernetes,omitempty"`
	// ServiceCIDRPool is where service CIDRs come from, a /24 or larger.
	// Default: 100.64.0.0/16.
	ServiceCIDRPool string `json:"serviceCIDRPool,omitempty"`
	// InternalSourceCIDRs are the sources on our side that may use reverse
	// exposures. Without any, a VPNGateway may not have reverse exposures.
	InternalSourceCIDRs []string `json:"internalSourceCIDRs,omitempty"`
	// GatewayPod configures every gateway pod.
	GatewayPod GatewayPod `json:"gatewayPod,omitempty"`
	// NetworkAttachmentTemplate is the CNI configuration of the pod's second
	// interface, a text/template with .MAC, .Address, .Subnet and .Gateway.
	// Default: host-device chosen by its hardware address.
	NetworkAttachmentTemplate string `json:"networkAttachmentTemplate,omitempty"`
	// NetworkPolicy configures the policy on the pod's first interface.
	NetworkPolicy NetworkPolicy `json:"networkPolicy,omitempty"`
	// Patches are kustomize patches over the rendered objects, in this order.
	Patches []Patch `json:"patches,omitempty"`
	// Monitoring says which Prometheus objects are rendered.
	Monitoring Monitoring `json:"monitoring,omitempty"`
}

// OpenStack names the project and the networks that gateways use.
type OpenStack struct {
	// Cloud is an entry of clouds.yaml. Default: the OS_* variables.
	Cloud string `json:"cloud,omitempty"`
	// Network is the transit network, by name or ID.
	Network string `json:"network"`
	// Router is the gateway cluster's router, by name or ID.
	Router string `json:"router"`
	// FloatingIPPool is the external network, by name or ID.
	FloatingIPPool string `json:"floatingIPPool"`
	// LockAddress is the address of the transit subnet that the run which
	// writes holds. Default: the last host of that subnet.
	LockAddress string `json:"lockAddress,omitempty"`
	// Links say how the customers' projects of ClusterLinks are reached. Target
	// directory only: in a cluster the Secret that a ClusterLink names holds the
	// credential.
	Links []LinkCloud `json:"links,omitempty"`
}

// LinkCloud says how one ClusterLink's customer project is reached.
type LinkCloud struct {
	// Link is the name of a ClusterLink with credentialsSecretRef.
	Link string `json:"link"`
	// Cloud is an entry of clouds.yaml with an application credential for the
	// customer's project, and not the Estate's own.
	Cloud string `json:"cloud"`
}

// Kubernetes says where the objects of a gateway go.
type Kubernetes struct {
	// Target is cluster or directory. Default: cluster.
	Target string `json:"target,omitempty"`
	// Directory of a GitOps checkout, relative to the Estate's file. Target
	// directory only. Default: deploy.
	Directory string `json:"directory,omitempty"`
	// Nodes that may carry gateways, as a cluster would name them. Target
	// directory only.
	Nodes []Node `json:"nodes,omitempty"`
}

// The targets.
const (
	TargetCluster   = "cluster"
	TargetDirectory = "directory"
)

// Node is a Kubernetes node and its Nova server.
type Node struct {
	// Name of the node.
	Name string `json:"name"`
	// ServerID is the UUID of its Nova server.
	ServerID string `json:"serverID"`
}

// GatewayPod configures every gateway pod.
type GatewayPod struct {
	// Image of the pod's containers. Default: the image of this release.
	Image string `json:"image,omitempty"`
	// Resources of the pod's containers.
	Resources corev1.ResourceRequirements `json:"resources,omitempty"`
	// Tolerations besides those of every gateway pod.
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`
	// PriorityClassName of the pod.
	PriorityClassName string `json:"priorityClassName,omitempty"`
	// MaxGatewaysPerNode is how many gateways a node may carry. Default: 20.
	MaxGatewaysPerNode *int32 `json:"maxGatewaysPerNode,omitempty"`
	// IPsecDataplane is kernel or userspace. Default: kernel.
	IPsecDataplane string `json:"ipsecDataplane,omitempty"`
	// WireGuardDataplane is kernel or userspace, for nodes whose kernel has no
	// WireGuard. Default: kernel.
	WireGuardDataplane string `json:"wireguardDataplane,omitempty"`
}

// The data planes of IPsec and of WireGuard.
const (
	DataplaneKernel    = "kernel"
	DataplaneUserspace = "userspace"
)

// NetworkPolicy configures the policy on the pod's first interface.
type NetworkPolicy struct {
	// Enabled renders the policy. Default: true.
	Enabled *bool `json:"enabled,omitempty"`
}

// Monitoring says which Prometheus objects are rendered.
type Monitoring struct {
	// PodMonitor for every gateway. Default: false.
	PodMonitor bool `json:"podMonitor,omitempty"`
	// PrometheusRule for every gateway. Default: false.
	PrometheusRule bool `json:"prometheusRule,omitempty"`
}

// Patch is a kustomize patch: a strategic merge patch, or JSON operations with
// a target.
type Patch struct {
	// Patch is the patch itself, as YAML or JSON.
	Patch string `json:"patch,omitempty"`
	// Path of a file with the patch, relative to the Estate's file and in its
	// folder: at most 1 MiB, and no link leads out. Either
	// patch or path is set.
	Path string `json:"path,omitempty"`
	// Target selects the objects. Default: the object that a strategic merge
	// patch names.
	Target *PatchTarget `json:"target,omitempty"`
}

// PatchTarget selects rendered objects; an empty field selects all.
type PatchTarget struct {
	Group              string `json:"group,omitempty"`
	Version            string `json:"version,omitempty"`
	Kind               string `json:"kind,omitempty"`
	Name               string `json:"name,omitempty"`
	Namespace          string `json:"namespace,omitempty"`
	LabelSelector      string `json:"labelSelector,omitempty"`
	AnnotationSelector string `json:"annotationSelector,omitempty"`
}
