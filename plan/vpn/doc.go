// Package vpn holds the words of the domain: the estate, its gateways, their
// peers, exposures, grants and cluster links, independent of the manifest kind
// they were written in.
//
// Everything that decides or renders works on these values. Where IPsecGateway
// and VPNGateway differ, the difference stands here as data (see Gateway.Open,
// Gateway.SourcesOptional, Peer.Selectors), so that nobody asks for the kind.
package vpn
