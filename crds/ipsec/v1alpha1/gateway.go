package v1alpha1

import (
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// IPsecGateway is one customer's IPsec gateway with its tunnels: one pod with
// one port, one security group, one floating IP and one /24 service CIDR. All
// tunnels share one pre-shared key, and all reach every exposure.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=ipsg
// +kubebuilder:printcolumn:name="Address",type=string,JSONPath=`.status.floatingIP`
// +kubebuilder:printcolumn:name="Service-CIDR",type=string,JSONPath=`.status.serviceCIDR`
// +kubebuilder:printcolumn:name="Node",type=string,JSONPath=`.status.nodeName`,priority=1
// +kubebuilder:printcolumn:name="Tunnels",type=string,JSONPath=`.status.tunnelsUp`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.tunnels[?(@.message)].message`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 55 && self.metadata.name.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?$')",message="the name must be a DNS label of at most 55 characters: with the suffix of its ConfigMap it must fit 63"
type IPsecGateway struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   IPsecGatewaySpec   `json:"spec"`
	Status IPsecGatewayStatus `json:"status,omitempty"`
}

// IPsecGatewayList is a list of gateways.
//
// +kubebuilder:object:root=true
type IPsecGatewayList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []IPsecGateway `json:"items"`
}

// IPsecGatewaySpec is the desired gateway.
//
// +kubebuilder:validation:XValidation:rule="!has(self.exposures) || !has(self.reverseExposures) || self.exposures.all(e, !self.reverseExposures.exists(r, r.name == e.name))",message="an exposure and a reverse exposure must not share a name"
// +kubebuilder:validation:XValidation:rule="!has(self.exposures) || self.exposures.all(e, !has(e.virtualIP) || e.virtualIP.size() == 0 || e.virtualIP == 'auto' || e.virtualIP.matches('[.](1[0-9]{1,2}|[2-9][0-9])$'))",message="the virtual IP of an exposure must lie in .10 to .199"
// +kubebuilder:validation:XValidation:rule="!has(self.reverseExposures) || self.reverseExposures.all(e, !has(e.virtualIP) || e.virtualIP.size() == 0 || e.virtualIP == 'auto' || e.virtualIP.matches('[.]2([0-4][0-9]|5[0-4])$'))",message="the virtual IP of a reverse exposure must lie in .200 to .254"
// +kubebuilder:validation:XValidation:rule="!has(self.reverseExposures) || self.reverseExposures.all(e, !has(e.target.host) || e.target.host.size() == 0)",message="a reverse exposure needs target.address: target.host can't be resolved on the peer's side"
// +kubebuilder:validation:XValidation:rule="!has(self.exposures) || self.exposures.all(e, !has(e.virtualIP) || e.virtualIP.size() < 7 || self.exposures.exists_one(o, has(o.virtualIP) && o.virtualIP == e.virtualIP))",message="a virtual IP can be pinned once"
// +kubebuilder:validation:XValidation:rule="!has(self.exposures) || !has(self.serviceCIDR) || self.serviceCIDR.size() == 0 || self.exposures.all(e, !has(e.virtualIP) || e.virtualIP.size() < 7 || e.virtualIP.startsWith(self.serviceCIDR.substring(0, self.serviceCIDR.size() - 4)))",message="a pinned virtual IP must lie in serviceCIDR"
// +kubebuilder:validation:XValidation:rule="!has(self.reverseExposures) || self.reverseExposures.all(e, !has(e.virtualIP) || e.virtualIP.size() < 7 || self.reverseExposures.exists_one(o, has(o.virtualIP) && o.virtualIP == e.virtualIP))",message="a virtual IP can be pinned once"
// +kubebuilder:validation:XValidation:rule="!has(self.reverseExposures) || !has(self.serviceCIDR) || self.serviceCIDR.size() == 0 || self.reverseExposures.all(e, !has(e.virtualIP) || e.virtualIP.size() < 7 || e.virtualIP.startsWith(self.serviceCIDR.substring(0, self.serviceCIDR.size() - 4)))",message="a pinned virtual IP must lie in serviceCIDR"
// +kubebuilder:validation:XValidation:rule="!has(self.exposures) || !has(self.serviceCIDR) || self.serviceCIDR.size() == 0 || self.exposures.all(e, !has(e.target.address) || !e.target.address.startsWith(self.serviceCIDR.substring(0, self.serviceCIDR.size() - 4)))",message="the target of an exposure must not lie in serviceCIDR"
// +kubebuilder:validation:XValidation:rule="!has(self.endpoint) || !has(self.endpoint.floatingIP) || !has(self.serviceCIDR) || self.serviceCIDR.size() == 0 || !self.endpoint.floatingIP.startsWith(self.serviceCIDR.substring(0, self.serviceCIDR.size() - 4))",message="endpoint.floatingIP must not lie in serviceCIDR"
// +kubebuilder:validation:XValidation:rule="!has(self.serviceCIDR) || self.serviceCIDR.size() == 0 || self.tunnels.all(t, !t.peer.address.startsWith(self.serviceCIDR.substring(0, self.serviceCIDR.size() - 4)))",message="the address of a peer must not lie in serviceCIDR"
// +kubebuilder:validation:XValidation:rule="!has(self.reverseExposures) || !has(self.exposures) || self.reverseExposures.all(e, !has(e.virtualIP) || e.virtualIP.size() < 7 || self.exposures.all(o, !has(o.virtualIP) || o.virtualIP.size() < 7 || o.virtualIP.startsWith(e.virtualIP.substring(0, e.virtualIP.lastIndexOf('.') + 1))))",message="pinned virtual IPs must lie in one /24"
// +kubebuilder:validation:XValidation:rule="!has(self.reverseExposures) || self.reverseExposures.all(e, !has(e.virtualIP) || e.virtualIP.size() < 7 || self.reverseExposures.all(o, !has(o.virtualIP) || o.virtualIP.size() < 7 || o.virtualIP.startsWith(e.virtualIP.substring(0, e.virtualIP.lastIndexOf('.') + 1))))",message="pinned virtual IPs must lie in one /24"
// +kubebuilder:validation:XValidation:rule="!has(self.exposures) || self.exposures.all(e, !has(e.virtualIP) || e.virtualIP.size() < 7 || self.exposures.all(o, !has(o.virtualIP) || o.virtualIP.size() < 7 || o.virtualIP.startsWith(e.virtualIP.substring(0, e.virtualIP.lastIndexOf('.') + 1))))",message="pinned virtual IPs must lie in one /24"
type IPsecGatewaySpec struct {
	// Endpoint says which public address the gateway answers on.
	Endpoint vpnv1alpha1.Endpoint `json:"endpoint,omitempty"`
	// IKE parameters of all tunnels.
	IKE vpnv1alpha1.IKE `json:"ike"`
	// Auth is how the gateway and its peers prove who they are.
	Auth Auth `json:"auth"`
	// Tunnels that the gateway terminates, one for each peer.
	//
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=256
	Tunnels []Tunnel `json:"tunnels"`
	// ServiceCIDR pins the gateway's /24. Default: the lowest free /24 of the
	// Estate's pool, kept for ever.
	ServiceCIDR vpnv1alpha1.ServiceCIDR `json:"serviceCIDR,omitempty"`
	// Exposures are our services that every peer may reach.
	//
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=190
	Exposures []vpnv1alpha1.Exposure `json:"exposures,omitempty"`
	// ReverseExposures are the peers' services that our side may reach.
	//
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=55
	ReverseExposures []vpnv1alpha1.Exposure `json:"reverseExposures,omitempty"`
}

// Auth is authentication by one pre-shared key.
type Auth struct {
	// PSKSecretRef names the pre-shared key of all tunnels.
	PSKSecretRef vpnv1alpha1.SecretKeyRef `json:"pskSecretRef"`
}

// Tunnel is one peer of an IPsecGateway.
type Tunnel struct {
	// Name of the tunnel, also of its connection: another name is another
	// connection.
	//
	// +kubebuilder:validation:XValidation:rule="self != 'include'",message="include can't be the name of a connection"
	Name vpnv1alpha1.Label `json:"name"`
	// Peer is the remote IKE endpoint.
	Peer vpnv1alpha1.PeerEndpoint `json:"peer"`
	// RemoteSubnets are the networks behind the peer. All of them share one
	// child SA.
	//
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=256
	RemoteSubnets []vpnv1alpha1.CIDR `json:"remoteSubnets"`
	// ESP parameters of the child SA.
	ESP vpnv1alpha1.ESP `json:"esp"`
	// Mode is snat, which is also the default. routed is reserved.
	Mode vpnv1alpha1.Mode `json:"mode,omitempty"`
}

// IPsecGatewayStatus is the observed gateway. It mirrors the ledger; losing it
// loses nothing.
type IPsecGatewayStatus struct {
	// ServiceCIDR that the gateway holds.
	ServiceCIDR string `json:"serviceCIDR,omitempty"`
	// FloatingIP that the gateway answers on, also its IKE identity.
	FloatingIP string `json:"floatingIP,omitempty"`
	// PortFixedIP is the address of the gateway's port on the transit network.
	PortFixedIP string `json:"portFixedIP,omitempty"`
	// NodeName is the node that the port is attached to and the pod runs on.
	NodeName string `json:"nodeName,omitempty"`
	// VirtualIPs of the exposures and reverse exposures.
	//
	// +listType=map
	// +listMapKey=name
	VirtualIPs []vpnv1alpha1.VirtualIPStatus `json:"virtualIPs,omitempty"`
	// Tunnels as charon reports them, written by the gateway pod alone.
	//
	// +listType=map
	// +listMapKey=name
	Tunnels []TunnelStatus `json:"tunnels,omitempty"`
	// TunnelsUp counts the tunnels that are up whole, as 1 of 2, and names those
	// that nothing is known of, as 1 of 3, 1 unknown.
	TunnelsUp string `json:"tunnelsUp,omitempty"`
	// Conditions of the gateway; see the Condition constants of group
	// vpn.bnerd.net.
	//
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// TunnelStatus is one tunnel as charon reports it.
type TunnelStatus struct {
	// Name of the tunnel.
	Name string `json:"name"`
	// State of the IKE SA as charon names it, DOWN when there is none, UNKNOWN
	// when charon doesn't answer.
	State string `json:"state,omitempty"`
	// Up says how many of the expected child SAs are up, as 2 of 3. Empty
	// while that isn't known.
	Up string `json:"up,omitempty"`
	// Message says why the tunnel isn't up, or what isn't in force yet.
	Message string `json:"message,omitempty"`
	// Since is when the tunnel came to be in this state, as far as the gateway's
	// agent knows.
	Since *metav1.Time `json:"since,omitempty"`
	// BytesIn from the peer, over all child SAs.
	BytesIn int64 `json:"bytesIn,omitempty"`
	// BytesOut to the peer, over all child SAs.
	BytesOut int64 `json:"bytesOut,omitempty"`
	// RekeyAt is when the next child SA is due.
	RekeyAt *metav1.Time `json:"rekeyAt,omitempty"`
}
