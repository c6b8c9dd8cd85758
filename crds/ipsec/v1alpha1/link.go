package v1alpha1

import (
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterLink connects one service cluster to the transit network: a leg port
// on that network, attached to the service cluster's router, and the routes
// there and back.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=cl
// +kubebuilder:printcolumn:name="Router",type=string,JSONPath=`.spec.serviceClusterRouter`
// +kubebuilder:printcolumn:name="CIDR",type=string,JSONPath=`.spec.serviceClusterCIDR`
// +kubebuilder:printcolumn:name="Transit-IP",type=string,JSONPath=`.status.transitIP`
// +kubebuilder:printcolumn:name="Customer-Project",type=string,JSONPath=`.spec.customerProjectID`,priority=1
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 63 && self.metadata.name.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?$')",message="the name must be a DNS label: at most 63 lower-case letters, digits and hyphens"
// +kubebuilder:validation:XValidation:rule="!has(self.spec.credentialsSecretRef) || self.spec.credentialsSecretRef.name == 'clusterlink-' + self.metadata.name",message="credentialsSecretRef.name must be clusterlink-<name of the link>"
type ClusterLink struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ClusterLinkSpec   `json:"spec"`
	Status ClusterLinkStatus `json:"status,omitempty"`
}

// ClusterLinkList is a list of links.
//
// +kubebuilder:object:root=true
type ClusterLinkList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ClusterLink `json:"items"`
}

// ClusterLinkSpec is the desired link. With credentialsSecretRef the service
// cluster lives in a customer's project, without it in our own.
//
// +kubebuilder:validation:XValidation:rule="has(self.credentialsSecretRef) == has(oldSelf.credentialsSecretRef)",message="credentialsSecretRef can't be added or removed: delete the link and create it anew"
// +kubebuilder:validation:XValidation:rule="!has(self.credentialsSecretRef) || !has(self.transitIP) || self.transitIP.size() == 0",message="transitIP can't be pinned in a customer's project: leave it out with credentialsSecretRef"
// +kubebuilder:validation:XValidation:rule="has(self.credentialsSecretRef) || !has(self.customerProjectID) || self.customerProjectID.size() == 0",message="customerProjectID needs credentialsSecretRef"
// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || !has(self.credentialsSecretRef) || (has(self.customerProjectID) && self.customerProjectID.size() > 0)",optionalOldSelf=true,message="credentialsSecretRef needs customerProjectID"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.customerProjectID) || oldSelf.customerProjectID.size() == 0 || (has(self.customerProjectID) && self.customerProjectID == oldSelf.customerProjectID)",message="customerProjectID can't be changed or removed"
type ClusterLinkSpec struct {
	// ServiceClusterRouter is the service cluster's router, by name or ID. A
	// name must be that of exactly one router.
	//
	// +kubebuilder:validation:Pattern=`^[^\s[:cntrl:]]([^[:cntrl:]]*[^\s[:cntrl:]])?$`
	// +kubebuilder:validation:MaxLength=255
	ServiceClusterRouter string `json:"serviceClusterRouter"`
	// ServiceClusterCIDR is the network that becomes reachable, without host
	// bits. It can't be changed: the old route would stay behind.
	//
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="serviceClusterCIDR can't be changed: delete the link and create it anew"
	// +kubebuilder:validation:XValidation:rule="!isCIDR(self) || cidr(self) == cidr(self).masked()",message="host bits must not be set"
	ServiceClusterCIDR vpnv1alpha1.CIDR `json:"serviceClusterCIDR"`
	// TransitIP pins the leg's address on the transit network. Default: the
	// lowest free one from .3 on.
	TransitIP vpnv1alpha1.Address `json:"transitIP,omitempty"`
	// CredentialsSecretRef names an application credential for the customer's
	// project. Its name must be clusterlink- followed by the link's name.
	CredentialsSecretRef *NamespacedSecretRef `json:"credentialsSecretRef,omitempty"`
	// CustomerProjectID is the project that the credential must belong to. Set
	// exactly with credentialsSecretRef.
	//
	// +kubebuilder:validation:Pattern=`^$|^[^\s[:cntrl:]]([^[:cntrl:]]*[^\s[:cntrl:]])?$`
	// +kubebuilder:validation:MaxLength=64
	CustomerProjectID string `json:"customerProjectID,omitempty"`
}

// NamespacedSecretRef names a Secret anywhere in the cluster.
type NamespacedSecretRef struct {
	// Name of the Secret.
	//
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$`
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// Namespace of the Secret.
	Namespace vpnv1alpha1.Label `json:"namespace"`
}

// ClusterLinkStatus is the observed link.
type ClusterLinkStatus struct {
	// TransitIP is the leg's address on the transit network.
	TransitIP string `json:"transitIP,omitempty"`
	// LegPortID is the ID of the leg port.
	LegPortID string `json:"legPortID,omitempty"`
	// ReverseRoutes that the link holds on the service cluster's router.
	ReverseRoutes []ReverseRoute `json:"reverseRoutes,omitempty"`
	// CustomerProjectID is the project that owns the leg port of a link into a
	// customer's project.
	CustomerProjectID string `json:"customerProjectID,omitempty"`
	// Conditions of the link; see the Condition constants.
	//
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ReverseRoute is one return route of a gateway with reverse exposures.
type ReverseRoute struct {
	// ServiceCIDR of the gateway.
	ServiceCIDR string `json:"serviceCIDR"`
	// NextHop is the fixed address of the gateway's port.
	NextHop string `json:"nextHop"`
	// GatewayRef is namespace/name, for people.
	GatewayRef string `json:"gatewayRef,omitempty"`
}
