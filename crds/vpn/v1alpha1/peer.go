package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// VPNPeer is one remote party of a VPNGateway, in that gateway's protocol: a
// site with networks behind it, or a road warrior with one address.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=vpnp
// +kubebuilder:printcolumn:name="Gateway",type=string,JSONPath=`.spec.gatewayRef`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.state`
// +kubebuilder:printcolumn:name="Up",type=string,JSONPath=`.status.up`
// +kubebuilder:printcolumn:name="Authorized",type=string,JSONPath=`.status.conditions[?(@.type=="Authorized")].status`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,priority=1
// +kubebuilder:printcolumn:name="Address",type=string,JSONPath=`.status.address`,priority=1
// +kubebuilder:printcolumn:name="Handshake",type=date,JSONPath=`.status.lastHandshake`,priority=1
// +kubebuilder:printcolumn:name="Since",type=date,JSONPath=`.status.since`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.message`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 63 && self.metadata.name.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?$')",message="the name must be a DNS label: at most 63 lower-case letters, digits and hyphens"
// +kubebuilder:validation:XValidation:rule="!has(self.spec.ipsec) || self.metadata.name != 'include'",message="include can't be the name of a connection"
type VPNPeer struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   VPNPeerSpec   `json:"spec"`
	Status VPNPeerStatus `json:"status,omitempty"`
}

// VPNPeerList is a list of peers.
//
// +kubebuilder:object:root=true
type VPNPeerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []VPNPeer `json:"items"`
}

// VPNPeerSpec is the desired peer.
//
// +kubebuilder:validation:XValidation:rule="has(self.ipsec) != has(self.wireguard)",message="exactly one of ipsec and wireguard must be set"
type VPNPeerSpec struct {
	// GatewayRef names the VPNGateway of the same namespace that this peer
	// belongs to. It can't be changed.
	//
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="gatewayRef can't be changed: delete the peer and create it anew"
	GatewayRef Label `json:"gatewayRef"`
	// IPsec is set exactly when the gateway's protocol is ipsec.
	IPsec *PeerIPsec `json:"ipsec,omitempty"`
	// WireGuard is set exactly when the gateway's protocol is wireguard.
	WireGuard *PeerWireGuard `json:"wireguard,omitempty"`
	// Authorization says what this peer may reach. A gateway's only peer without
	// this block reaches every exposure; as soon as there are two, or the block
	// is there, only what is granted is reached.
	Authorization *Authorization `json:"authorization,omitempty"`
}

// PeerIPsec holds the IPsec side of a peer.
type PeerIPsec struct {
	// Peer is the remote IKE endpoint.
	Peer PeerEndpoint `json:"peer"`
	// RemoteSubnets are the networks behind the peer.
	//
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=256
	RemoteSubnets []CIDR `json:"remoteSubnets"`
	// ESP parameters of the child SAs.
	ESP ESP `json:"esp"`
	// Mode is snat, which is also the default. routed is reserved.
	Mode Mode `json:"mode,omitempty"`
	// Selectors is perSubnet for one child SA for each remote subnet, or joined
	// for one child SA for all of them. Default: perSubnet.
	Selectors Selectors `json:"selectors,omitempty"`
	// PSKSecretRef names this peer's pre-shared key.
	PSKSecretRef SecretKeyRef `json:"pskSecretRef"`
}

// PeerEndpoint is a remote IKE endpoint.
type PeerEndpoint struct {
	// Address is the peer's public IPv4 address. Host names are refused: the
	// security group opens UDP 500 and 4500 for exactly this address.
	//
	// +kubebuilder:validation:MinLength=7
	Address Address `json:"address"`
	// ID is the identity that the peer presents.
	ID Identity `json:"id"`
}

// ESP holds the parameters of child SAs.
type ESP struct {
	// Proposals for child SAs, in order of preference, from the approved list.
	//
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Proposals []Proposal `json:"proposals"`
	// Lifetime after which a child SA is rekeyed. Default: 43200s.
	Lifetime Lifetime `json:"lifetime,omitempty"`
}

// Mode is how packets of a tunnel are routed on our side. It isn't the
// encapsulation, which is always tunnel mode.
//
// +kubebuilder:validation:Enum=snat;routed
// +kubebuilder:validation:XValidation:rule="self != 'routed'",message="mode: routed is not supported"
type Mode string

// The modes. Routed is refused.
const (
	SNAT   Mode = "snat"
	Routed Mode = "routed"
)

// Selectors is how remote subnets are spread over child SAs.
//
// +kubebuilder:validation:Enum=perSubnet;joined
type Selectors string

// The ways to spread remote subnets over child SAs.
const (
	PerSubnet Selectors = "perSubnet"
	Joined    Selectors = "joined"
)

// PeerWireGuard holds the WireGuard side of a peer.
//
// +kubebuilder:validation:XValidation:rule="!has(self.subnets) || self.subnets.size() == 0 || !has(self.address) || self.address.size() == 0 || self.address == 'auto'",message="subnets and address exclude each other: a site has subnets, a road warrior an address"
type PeerWireGuard struct {
	// PublicKey of the peer: 32 bytes in base64.
	//
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$`
	// +kubebuilder:validation:MaxLength=44
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA')",message="a key must not be all zero"
	PublicKey string `json:"publicKey"`
	// Subnets behind a site. Empty makes the peer a road warrior.
	//
	// +kubebuilder:validation:MaxItems=256
	Subnets []CIDR `json:"subnets,omitempty"`
	// Endpoint is host:port of a site that can be dialled. A literal address
	// also narrows the security group to it.
	//
	// +kubebuilder:validation:Pattern=`^$|^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*:[1-9][0-9]{0,4}$`
	// +kubebuilder:validation:MaxLength=259
	// +kubebuilder:validation:XValidation:rule="self.size() == 0 || !self.matches(':[0-9]{1,5}$') || (int(self.split(':')[1]) >= 1 && int(self.split(':')[1]) <= 65535)",message="a port lies between 1 and 65535"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^[0-9.]+:') || isIP(self.split(':')[0])",message="the host looks like an address and is none"
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9.]+:') || !self.matches('[.][0-9]+:')",message="a host name must not end in a number"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^[0-9.]+:') || !self.matches('^(0|127|169[.]254|22[4-9]|2[3-5][0-9])[.]')",message="not the address of a host that can be reached"
	Endpoint string `json:"endpoint,omitempty"`
	// Address of a road warrior within the gateway's roadWarriorCIDR. Default:
	// auto, a free one, kept for ever.
	//
	// +kubebuilder:validation:XValidation:rule="!self.matches('[.](0|1|255)$')",message="an address that ends in .0, .1 or .255 is reserved"
	Address AutoAddress `json:"address,omitempty"`
	// PresharedKeySecretRef names an additional symmetric key. Default: none.
	PresharedKeySecretRef *SecretKeyRef `json:"presharedKeySecretRef,omitempty"`
	// PersistentKeepalive in seconds, 0 for off. Default: off.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	PersistentKeepalive *int32 `json:"persistentKeepalive,omitempty"`
}

// Authorization names what a peer may reach. Empty lists grant nothing.
type Authorization struct {
	// Exposures of the gateway that this peer may reach.
	//
	// +kubebuilder:validation:MaxItems=190
	Exposures []Label `json:"exposures,omitempty"`
	// ReverseExposures of the gateway whose target is this peer's.
	//
	// +kubebuilder:validation:MaxItems=55
	ReverseExposures []Label `json:"reverseExposures,omitempty"`
}
