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
	// PeersUp counts the peers that are up whole, as 1 of 2, and names those
	// that nothing is known of, as 1 of 3, 1 unknown.
	PeersUp string `json:"peersUp,omitempty"`
	// PeersOmitted counts the peers that are left out of the list above because
	// of its size. All of those are up; each one's own status has the figures.
	PeersOmitted int32 `json:"peersOmitted,omitempty"`
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
	// State as the data plane reports it, DOWN when there is no SA, UNKNOWN when
	// the data plane doesn't answer.
	State string `json:"state,omitempty"`
	// Up says how many of the expected child SAs are up, as 2 of 3; WireGuard
	// has one session. Empty while that isn't known.
	Up string `json:"up,omitempty"`
	// Message says why the peer isn't up, or what isn't in force yet.
	Message string `json:"message,omitempty"`
	// Since is when the peer came to be in this state, as far as the gateway's
	// agent knows.
	Since *metav1.Time `json:"since,omitempty"`
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
	// Address of a road warrior inside the tunnel: what its own side sets.
	Address string `json:"address,omitempty"`
	// State as the data plane reports it, DOWN when there is no SA, UNKNOWN when
	// the data plane doesn't answer.
	State string `json:"state,omitempty"`
	// Up says how many of the expected child SAs are up, as 2 of 3; WireGuard
	// has one session. Empty while that isn't known.
	Up string `json:"up,omitempty"`
	// Message says why the peer isn't up, or what isn't in force yet.
	Message string `json:"message,omitempty"`
	// Since is when the peer came to be in this state, as far as the gateway's
	// agent knows.
	Since *metav1.Time `json:"since,omitempty"`
	// LastHandshake of WireGuard.
	LastHandshake *metav1.Time `json:"lastHandshake,omitempty"`
	// BytesIn from the peer.
	BytesIn int64 `json:"bytesIn,omitempty"`
	// BytesOut to the peer.
	BytesOut int64 `json:"bytesOut,omitempty"`
	// RekeyAt is when the next child SA is due.
	RekeyAt *metav1.Time `json:"rekeyAt,omitempty"`
	// Conditions of the peer: Authorized says whether it may reach anything, Ready
	// whether its manifest is in force, whatever its tunnel does.
	//
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}
