package v1alpha1

// Exposure offers one target through a virtual IP of the gateway's service
// CIDR: one of our services to the peers, or, in reverseExposures, one service
// of a peer to our side.
type Exposure struct {
	// Name of the exposure, unique over exposures and reverseExposures of the
	// gateway together. Grants name it.
	Name Label `json:"name"`
	// VirtualIP pins the address within the service CIDR: .10 to .199 for an
	// exposure, .200 to .254 for a reverse exposure. Default: auto, the lowest
	// free address of that range, kept for ever.
	VirtualIP AutoAddress `json:"virtualIP,omitempty"`
	// Target is what the virtual IP leads to.
	Target Target `json:"target"`
}

// Target is the far end of an exposure: a host or an address, and the ports
// that are forwarded.
//
// +kubebuilder:validation:XValidation:rule="(has(self.host) && self.host.size() > 0) != (has(self.address) && self.address.size() > 0)",message="exactly one of host and address must be set"
// +kubebuilder:validation:XValidation:rule="!has(self.protocol) || (has(self.ports) && self.ports.size() > 0) || (has(self.portRanges) && self.portRanges.size() > 0)",message="protocol needs ports or portRanges: without them every protocol is forwarded"
type Target struct {
	// Host is an RFC 1123 host name, resolved in the gateway pod and followed
	// as it changes. Exposures only: a reverse target lies in the peer's
	// address space, where our DNS means nothing.
	//
	// +kubebuilder:validation:Pattern=`^$|^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$`
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="!self.matches('(^|[.])[0-9]+$')",message="a host name must not end in a number: an address goes into address"
	Host string `json:"host,omitempty"`
	// Address is a literal IPv4 address.
	Address Address `json:"address,omitempty"`
	// Protocol of ports and portRanges: tcp or udp. Default: tcp.
	Protocol TransportProtocol `json:"protocol,omitempty"`
	// Ports that are forwarded, each 1 to 65535. Without ports and portRanges
	// everything is forwarded, whatever its protocol.
	//
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:Minimum=1
	// +kubebuilder:validation:items:Maximum=65535
	Ports []int32 `json:"ports,omitempty"`
	// PortRanges that are forwarded besides ports, each as first-last, such as
	// 30000-30100.
	//
	// +kubebuilder:validation:MaxItems=64
	PortRanges []PortRange `json:"portRanges,omitempty"`
}

// TransportProtocol is what ports belong to.
//
// +kubebuilder:validation:Enum=tcp;udp
type TransportProtocol string

// The transport protocols.
const (
	TCP TransportProtocol = "tcp"
	UDP TransportProtocol = "udp"
)

// PortRange is first-last, both ends included, first not above last.
//
// +kubebuilder:validation:Pattern=`^[0-9]{1,5}-[0-9]{1,5}$`
// +kubebuilder:validation:MaxLength=11
// +kubebuilder:validation:XValidation:rule="!self.matches('^[0-9]{1,5}-[0-9]{1,5}$') || (int(self.split('-')[0]) >= 1 && int(self.split('-')[0]) <= int(self.split('-')[1]) && int(self.split('-')[1]) <= 65535)",message="a port range is first-last with 1 <= first <= last <= 65535"
type PortRange string
