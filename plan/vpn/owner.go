package vpn

import "strings"

// Kinds of manifest that own cloud objects.
const (
	KindVPNGateway   = "VPNGateway"
	KindIPsecGateway = "IPsecGateway"
	KindClusterLink  = "ClusterLink"
)

// Owner names the manifest that an object belongs to. It is what ownership tags
// carry, so a manifest that is deleted and written again finds its objects.
type Owner struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"` // empty for a ClusterLink
	Name      string `json:"name"`
}

// String gives the owner as ownership tags spell it: Kind/namespace/name, or
// ClusterLink/name.
func (o Owner) String() string {
	if o.Namespace == "" {
		return o.Kind + "/" + o.Name
	}
	return o.Kind + "/" + o.Namespace + "/" + o.Name
}

// Path is namespace/name, or the name alone for a cluster-scoped owner. It is
// unique among gateways, because an IPsecGateway and a VPNGateway of one
// namespace and name are refused.
func (o Owner) Path() string {
	if o.Namespace == "" {
		return o.Name
	}
	return o.Namespace + "/" + o.Name
}

// Gateway tells whether it is a gateway's manifest, not a peer's or a link's.
func (o Owner) Gateway() bool { return o.Kind == KindVPNGateway || o.Kind == KindIPsecGateway }

// IsZero tells whether no owner is named.
func (o Owner) IsZero() bool { return o == Owner{} }

// Compare orders owners by namespace, name and kind.
func (o Owner) Compare(p Owner) int {
	for _, c := range []int{
		strings.Compare(o.Namespace, p.Namespace),
		strings.Compare(o.Name, p.Name),
		strings.Compare(o.Kind, p.Kind),
	} {
		if c != 0 {
			return c
		}
	}
	return 0
}

// MarshalText writes the owner as String does.
func (o Owner) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads what MarshalText wrote; anything else leaves the zero Owner.
func (o *Owner) UnmarshalText(text []byte) error {
	*o, _ = ParseOwner(string(text))
	return nil
}

// ParseOwner reads what String wrote. It reports false for any other text.
func ParseOwner(s string) (Owner, bool) {
	parts := strings.Split(s, "/")
	for _, p := range parts {
		if p == "" {
			return Owner{}, false
		}
	}
	switch {
	case len(parts) == 2 && parts[0] == KindClusterLink:
		return Owner{Kind: parts[0], Name: parts[1]}, true
	case len(parts) == 3 && (parts[0] == KindVPNGateway || parts[0] == KindIPsecGateway):
		return Owner{Kind: parts[0], Namespace: parts[1], Name: parts[2]}, true
	}
	return Owner{}, false
}
