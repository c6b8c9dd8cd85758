// Package v1alpha1 holds the wire types of the group vpn.bnerd.net: VPNGateway
// and VPNPeer, one gateway model for IPsec and WireGuard.
//
// The types say how a manifest is spelled. What a manifest means is said by
// plan/vpn, and plan/manifest turns one into the other. Every rule that an API
// server can check stands here as a marker, so that the generated CRD refuses
// at admission what validation would refuse later; rules.go names the patterns
// for both.
//
// +kubebuilder:object:generate=true
// +groupName=vpn.bnerd.net
package v1alpha1
