package v1alpha1

import "k8s.io/apimachinery/pkg/runtime/schema"

// Names under which the kinds of this group are served.
const (
	Group   = "ipsec.bnerd.net"
	Version = "v1alpha1"

	KindIPsecGateway = "IPsecGateway"
	KindClusterLink  = "ClusterLink"
)

// GroupVersion is the apiVersion of every object of this package.
var GroupVersion = schema.GroupVersion{Group: Group, Version: Version}

// SecretPrefix and a ClusterLink's name make the only Secret name that the
// link may take its customer's credential from.
const SecretPrefix = "clusterlink-"
