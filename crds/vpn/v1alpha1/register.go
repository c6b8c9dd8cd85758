package v1alpha1

import "k8s.io/apimachinery/pkg/runtime/schema"

// Names under which the kinds of this group are served.
const (
	Group   = "vpn.bnerd.net"
	Version = "v1alpha1"

	KindVPNGateway = "VPNGateway"
	KindVPNPeer    = "VPNPeer"
)

// GroupVersion is the apiVersion of every object of this package.
var GroupVersion = schema.GroupVersion{Group: Group, Version: Version}
