// Package v1alpha1 holds the wire types of the group ipsec.bnerd.net:
// IPsecGateway, a gateway with its tunnels in one object, and ClusterLink, the
// way from the transit network into a service cluster.
//
// Scalars, exposures and conditions are those of group vpn.bnerd.net.
//
// +kubebuilder:object:generate=true
// +groupName=ipsec.bnerd.net
package v1alpha1
