package resource

import (
	"fmt"
	"strings"
)

// Kind is the kind of a resource: "openstack.port", or "kubernetes." and the
// object's kind in lower case.
type Kind string

// The OpenStack kinds. Kubernetes kinds are made by KubernetesKind.
const (
	KindSecurityGroup Kind = "openstack.security-group" // with its rules and the ledger on its tags
	KindPort          Kind = "openstack.port"           // with its attachment and allowed address pairs
	KindFloatingIP    Kind = "openstack.floating-ip"
	KindRoute         Kind = "openstack.route"
	KindTransitLeg    Kind = "openstack.transit-leg"   // a link's port on the transit network, an interface of the service cluster's router
	KindNetworkShare  Kind = "openstack.network-share" // the RBAC policy that lets a customer's project use the transit network
	KindApplied       Kind = "openstack.applied"       // the tag that says which desired state was reached
)

// KubernetesKind is the resource kind of a Kubernetes object.
func KubernetesKind(kind string) Kind { return Kind("kubernetes." + strings.ToLower(kind)) }

// Cloud tells whether the kind lives in OpenStack.
func (k Kind) Cloud() bool { return strings.HasPrefix(string(k), "openstack.") }

// Manifest tells whether objects of the kind are what people write: gateways and peers.
func (k Kind) Manifest() bool {
	switch k {
	case "kubernetes.vpngateway", "kubernetes.vpnpeer", "kubernetes.ipsecgateway", "kubernetes.clusterlink":
		return true
	}
	return false
}

// Short is the kind without its system: "port", "configmap".
func (k Kind) Short() string {
	_, short, _ := strings.Cut(string(k), ".")
	return short
}

// ID names a resource the same way on the desired and the observed side.
type ID struct {
	Kind      Kind
	Namespace string // empty for what belongs to no namespace
	Name      string // the gateway's name, or the object's own where a gateway has several of a kind
}

// String writes openstack.port/acme/dc1.
func (id ID) String() string {
	if id.Namespace == "" {
		return string(id.Kind) + "/" + id.Name
	}
	return string(id.Kind) + "/" + id.Namespace + "/" + id.Name
}

// IsZero tells whether the ID names nothing.
func (id ID) IsZero() bool { return id == ID{} }

// Compare orders IDs by namespace, name and kind.
func (id ID) Compare(other ID) int {
	if c := strings.Compare(id.Namespace, other.Namespace); c != 0 {
		return c
	}
	if c := strings.Compare(id.Name, other.Name); c != 0 {
		return c
	}
	return strings.Compare(string(id.Kind), string(other.Kind))
}

// MarshalText writes the ID as String does.
func (id ID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads what MarshalText wrote; an empty namespace between two
// slashes is an error.
func (id *ID) UnmarshalText(text []byte) error {
	parts := strings.SplitN(string(text), "/", 3)
	*id = ID{Kind: Kind(parts[0])}
	switch len(parts) {
	case 2:
		id.Name = parts[1]
	case 3:
		if parts[1] == "" {
			return fmt.Errorf("resource ID %q has an empty namespace", text)
		}
		id.Namespace, id.Name = parts[1], parts[2]
	}
	return nil
}
