package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// VPNGatewayStatus is the observed gateway. It mirrors the ledger; losing it
// loses nothing.
type VPNGatewayStatus struct {
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
	VirtualIPs []VirtualIPStatus `json:"virtualIPs,omitempty"`
	// Peers as the gateway sees them.
	//
	// +listType=map
	// +listMapKey=name
	Peers []PeerStatus `json:"peers,omitempty"`
	// WireGuardPublicKey of the gateway, to hand to its peers. Not secret.
	WireGuardPublicKey string `json:"wireguardPublicKey,omitempty"`
	// Conditions of the gateway; see the Condition constants.
	//
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// VirtualIPStatus is the address of one exposure.
type VirtualIPStatus struct {
	// Name of the exposure.
	Name string `json:"name"`
	// IP within the service CIDR.
	IP string `json:"ip"`
	// Reverse is true for a reverse exposure.
	Reverse bool `json:"reverse,omitempty"`
}

// PeerStatus is one peer as its gateway sees it.
type PeerStatus struct {
	// Name of the VPNPeer.
	Name string `json:"name"`
	// State as the data plane reports it, DOWN when there is no SA.
	State string `json:"state,omitempty"`
	// LastHandshake of WireGuard.
	LastHandshake *metav1.Time `json:"lastHandshake,omitempty"`
	// BytesIn from the peer.
	BytesIn int64 `json:"bytesIn,omitempty"`
	// BytesOut to the peer.
	BytesOut int64 `json:"bytesOut,omitempty"`
	// RekeyAt is when the next child SA is due.
	RekeyAt *metav1.Time `json:"rekeyAt,omitempty"`
}

// VPNPeerStatus is the observed peer.
type VPNPeerStatus struct {
	// State as the data plane reports it, DOWN when there is no SA.
	State string `json:"state,omitempty"`
	// LastHandshake of WireGuard.
	LastHandshake *metav1.Time `json:"lastHandshake,omitempty"`
	// BytesIn from the peer.
	BytesIn int64 `json:"bytesIn,omitempty"`
	// BytesOut to the peer.
	BytesOut int64 `json:"bytesOut,omitempty"`
	// Conditions of the peer; Authorized says whether it may reach anything.
	//
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}
