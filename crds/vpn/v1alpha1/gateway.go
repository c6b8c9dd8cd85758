package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// VPNGateway is one customer's gateway: one pod with one port, one security
// group, one floating IP and one /24 service CIDR. Its peers are VPNPeers of
// the same namespace.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=vpngw
// +kubebuilder:printcolumn:name="Protocol",type=string,JSONPath=`.spec.protocol`
// +kubebuilder:printcolumn:name="Address",type=string,JSONPath=`.status.floatingIP`
// +kubebuilder:printcolumn:name="Service-CIDR",type=string,JSONPath=`.status.serviceCIDR`
// +kubebuilder:printcolumn:name="Node",type=string,JSONPath=`.status.nodeName`,priority=1
// +kubebuilder:printcolumn:name="Peers",type=string,JSONPath=`.status.peersUp`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.peers[?(@.message)].message`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?$')",message="the name must be a DNS label: lower-case letters, digits and hyphens"
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= (self.spec.protocol == 'ipsec' ? 55 : 53)",message="the name is too long: with the suffix of its ConfigMap it must fit 63 characters (at most 55 for ipsec, 53 for wireguard)"
type VPNGateway struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   VPNGatewaySpec   `json:"spec"`
	Status VPNGatewayStatus `json:"status,omitempty"`
}

// VPNGatewayList is a list of gateways.
//
// +kubebuilder:object:root=true
type VPNGatewayList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []VPNGateway `json:"items"`
}

// VPNGatewaySpec is the desired gateway.
//
// +kubebuilder:validation:XValidation:rule="has(self.ipsec) == (self.protocol == 'ipsec')",message="ipsec must be set exactly when protocol is ipsec"
// +kubebuilder:validation:XValidation:rule="has(self.wireguard) == (self.protocol == 'wireguard')",message="wireguard must be set exactly when protocol is wireguard"
// +kubebuilder:validation:XValidation:rule="!has(self.exposures) || !has(self.reverseExposures) || self.exposures.all(e, !self.reverseExposures.exists(r, r.name == e.name))",message="an exposure and a reverse exposure must not share a name"
// +kubebuilder:validation:XValidation:rule="!has(self.exposures) || self.exposures.all(e, !has(e.virtualIP) || e.virtualIP.size() == 0 || e.virtualIP == 'auto' || e.virtualIP.matches('[.](1[0-9]{1,2}|[2-9][0-9])$'))",message="the virtual IP of an exposure must lie in .10 to .199"
// +kubebuilder:validation:XValidation:rule="!has(self.reverseExposures) || self.reverseExposures.all(e, !has(e.virtualIP) || e.virtualIP.size() == 0 || e.virtualIP == 'auto' || e.virtualIP.matches('[.]2([0-4][0-9]|5[0-4])$'))",message="the virtual IP of a reverse exposure must lie in .200 to .254"
// +kubebuilder:validation:XValidation:rule="!has(self.reverseExposures) || self.reverseExposures.all(e, !has(e.target.host) || e.target.host.size() == 0)",message="a reverse exposure needs target.address: target.host can't be resolved on the peer's side"
// +kubebuilder:validation:XValidation:rule="!has(self.exposures) || self.exposures.all(e, !has(e.virtualIP) || e.virtualIP.size() < 7 || self.exposures.exists_one(o, has(o.virtualIP) && o.virtualIP == e.virtualIP))",message="a virtual IP can be pinned once"
// +kubebuilder:validation:XValidation:rule="!has(self.exposures) || !has(self.serviceCIDR) || self.serviceCIDR.size() == 0 || self.exposures.all(e, !has(e.virtualIP) || e.virtualIP.size() < 7 || e.virtualIP.startsWith(self.serviceCIDR.substring(0, self.serviceCIDR.size() - 4)))",message="a pinned virtual IP must lie in serviceCIDR"
// +kubebuilder:validation:XValidation:rule="!has(self.reverseExposures) || self.reverseExposures.all(e, !has(e.virtualIP) || e.virtualIP.size() < 7 || self.reverseExposures.exists_one(o, has(o.virtualIP) && o.virtualIP == e.virtualIP))",message="a virtual IP can be pinned once"
// +kubebuilder:validation:XValidation:rule="!has(self.reverseExposures) || !has(self.serviceCIDR) || self.serviceCIDR.size() == 0 || self.reverseExposures.all(e, !has(e.virtualIP) || e.virtualIP.size() < 7 || e.virtualIP.startsWith(self.serviceCIDR.substring(0, self.serviceCIDR.size() - 4)))",message="a pinned virtual IP must lie in serviceCIDR"
// +kubebuilder:validation:XValidation:rule="!has(self.wireguard) || !has(self.wireguard.roadWarriorCIDR) || !has(self.serviceCIDR) || self.serviceCIDR.size() == 0 || self.wireguard.roadWarriorCIDR.startsWith(self.serviceCIDR.substring(0, self.serviceCIDR.size() - 4))",message="wireguard.roadWarriorCIDR must lie in serviceCIDR"
// +kubebuilder:validation:XValidation:rule="!has(self.exposures) || !has(self.serviceCIDR) || self.serviceCIDR.size() == 0 || self.exposures.all(e, !has(e.target.address) || !e.target.address.startsWith(self.serviceCIDR.substring(0, self.serviceCIDR.size() - 4)))",message="the target of an exposure must not lie in serviceCIDR"
// +kubebuilder:validation:XValidation:rule="!has(self.endpoint) || !has(self.endpoint.floatingIP) || !has(self.serviceCIDR) || self.serviceCIDR.size() == 0 || !self.endpoint.floatingIP.startsWith(self.serviceCIDR.substring(0, self.serviceCIDR.size() - 4))",message="endpoint.floatingIP must not lie in serviceCIDR"
// +kubebuilder:validation:XValidation:rule="!has(self.reverseExposures) || !has(self.exposures) || self.reverseExposures.all(e, !has(e.virtualIP) || e.virtualIP.size() < 7 || self.exposures.all(o, !has(o.virtualIP) || o.virtualIP.size() < 7 || o.virtualIP.startsWith(e.virtualIP.substring(0, e.virtualIP.lastIndexOf('.') + 1))))",message="pinned virtual IPs must lie in one /24"
// +kubebuilder:validation:XValidation:rule="!has(self.reverseExposures) || self.reverseExposures.all(e, !has(e.virtualIP) || e.virtualIP.size() < 7 || self.reverseExposures.all(o, !has(o.virtualIP) || o.virtualIP.size() < 7 || o.virtualIP.startsWith(e.virtualIP.substring(0, e.virtualIP.lastIndexOf('.') + 1))))",message="pinned virtual IPs must lie in one /24"
// +kubebuilder:validation:XValidation:rule="!has(self.exposures) || self.exposures.all(e, !has(e.virtualIP) || e.virtualIP.size() < 7 || self.exposures.all(o, !has(o.virtualIP) || o.virtualIP.size() < 7 || o.virtualIP.startsWith(e.virtualIP.substring(0, e.virtualIP.lastIndexOf('.') + 1))))",message="pinned virtual IPs must lie in one /24"
// +kubebuilder:validation:XValidation:rule="!has(self.exposures) || !has(self.wireguard) || !has(self.wireguard.roadWarriorCIDR) || self.exposures.all(e, !has(e.virtualIP) || e.virtualIP.size() < 7 || e.virtualIP.startsWith(self.wireguard.roadWarriorCIDR.substring(0, self.wireguard.roadWarriorCIDR.lastIndexOf('.') + 1)))",message="pinned virtual IPs and wireguard.roadWarriorCIDR must lie in one /24"
// +kubebuilder:validation:XValidation:rule="!has(self.reverseExposures) || !has(self.wireguard) || !has(self.wireguard.roadWarriorCIDR) || self.reverseExposures.all(e, !has(e.virtualIP) || e.virtualIP.size() < 7 || e.virtualIP.startsWith(self.wireguard.roadWarriorCIDR.substring(0, self.wireguard.roadWarriorCIDR.lastIndexOf('.') + 1)))",message="pinned virtual IPs and wireguard.roadWarriorCIDR must lie in one /24"
type VPNGatewaySpec struct {
	// Protocol of the gateway: ipsec or wireguard. It can't be changed.
	//
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="protocol can't be changed: delete the gateway and create it anew"
	Protocol Protocol `json:"protocol"`
	// Endpoint says which public address the gateway answers on.
	Endpoint Endpoint `json:"endpoint,omitempty"`
	// ServiceCIDR pins the gateway's /24. Default: the lowest free /24 of the
	// Estate's pool, kept for ever.
	ServiceCIDR ServiceCIDR `json:"serviceCIDR,omitempty"`
	// Exposures are our services that peers may reach.
	//
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=190
	Exposures []Exposure `json:"exposures,omitempty"`
	// ReverseExposures are the peers' services that our side may reach.
	//
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=55
	ReverseExposures []Exposure `json:"reverseExposures,omitempty"`
	// IPsec is set exactly when protocol is ipsec.
	IPsec *GatewayIPsec `json:"ipsec,omitempty"`
	// WireGuard is set exactly when protocol is wireguard.
	WireGuard *GatewayWireGuard `json:"wireguard,omitempty"`
	// HA is reserved. Only enabled: false is accepted.
	HA *HA `json:"ha,omitempty"`
}

// Protocol is what a gateway speaks.
//
// +kubebuilder:validation:Enum=ipsec;wireguard
type Protocol string

// The protocols.
const (
	IPsec     Protocol = "ipsec"
	WireGuard Protocol = "wireguard"
)

// GatewayIPsec holds what all IPsec peers of a gateway share.
type GatewayIPsec struct {
	// IKE parameters.
	IKE IKE `json:"ike"`
}

// IKE holds the parameters of the IKE SA.
type IKE struct {
	// Version of IKE. Only 2 exists.
	//
	// +kubebuilder:validation:Enum=2
	Version int32 `json:"version"`
	// Proposals for the IKE SA, in order of preference, from the approved list.
	//
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Proposals []Proposal `json:"proposals"`
	// Lifetime after which the IKE SA is rekeyed. Default: 86400s.
	Lifetime Lifetime `json:"lifetime,omitempty"`
	// DPD is dead peer detection.
	DPD *DPD `json:"dpd,omitempty"`
}

// DPD holds the timers of dead peer detection.
type DPD struct {
	// Delay between two probes of a silent peer. Default: 30s.
	Delay Lifetime `json:"delay,omitempty"`
	// Timeout of IKEv1. Default: 150s. IKEv2 doesn't use it: a peer is given up
	// after the retransmissions of one probe.
	Timeout Lifetime `json:"timeout,omitempty"`
}

// GatewayWireGuard holds the WireGuard side of a gateway.
type GatewayWireGuard struct {
	// ListenPort is the UDP port that WireGuard listens on. Default: 51820.
	//
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +kubebuilder:default=51820
	ListenPort int32 `json:"listenPort,omitempty"`
	// PrivateKeySecretRef names the gateway's private key. Default: the Secret
	// <name>-wg-key, key privateKey.
	PrivateKeySecretRef *SecretKeyRef `json:"privateKeySecretRef,omitempty"`
	// RoadWarriorCIDR is where the addresses of road warriors come from, within
	// the service CIDR. Default: its top quarter, .192/26.
	//
	// +kubebuilder:validation:XValidation:rule="self.size() == 0 || (isCIDR(self) && cidr(self) == cidr(self).masked())",message="host bits must not be set"
	// +kubebuilder:validation:XValidation:rule="self.matches('/(2[4-9]|3[01])$')",message="the range must lie within a /24 and hold addresses"
	RoadWarriorCIDR CIDR `json:"roadWarriorCIDR,omitempty"`
}

// HA is reserved for a standby pod.
//
// +kubebuilder:validation:XValidation:rule="!has(self.enabled) || !self.enabled",message="ha.enabled is not supported"
type HA struct {
	// Enabled must be false.
	Enabled bool `json:"enabled,omitempty"`
}
