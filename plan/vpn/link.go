package vpn

import (
	"fmt"
	"net/netip"
)

// Link is a ClusterLink: a service cluster joined to the transit network.
type Link struct {
	Owner           Owner             `json:"owner"`
	Position        string            `json:"position,omitempty"`
	Router          string            `json:"router"`                    // the service cluster's, name or ID
	CIDR            netip.Prefix      `json:"cidr"`                      // the service cluster's
	TransitIP       netip.Addr        `json:"transitIP,omitzero"`        // pinned; zero: scan
	Credentials     NamespacedRef     `json:"credentials,omitzero"`      // set: a cross-tenant link
	CustomerProject string            `json:"customerProject,omitempty"` // OpenStack project ID, set exactly for a cross-tenant link
	Cloud           string            `json:"cloud,omitempty"`           // target directory: entry of clouds.yaml for the customer's project
	Annotations     map[string]string `json:"annotations,omitempty"`
	Manifests       []Manifest        `json:"manifests,omitempty"` // its own alone, as it is written into a cluster
}

// NamespacedRef names a Secret in a namespace.
type NamespacedRef struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// Annotations of a link, as the API spells them.
const (
	annotationAttested = "ipsec.bnerd.net/tenant-isolation-attested"
	annotationAbandon  = "ipsec.bnerd.net/abandon-customer-side"
)

// Cross tells whether the service cluster is in a customer's project.
func (l Link) Cross() bool { return l.CustomerProject != "" }

// Abandons tells whether the link's own side may go although the customer's can't be
// reached. It is of no account for a link that isn't cross-tenant.
func (l Link) Abandons() bool { return l.Annotations[annotationAbandon] == "true" }

func (l Link) check() error {
	o := l.Owner
	switch {
	case o.Kind != KindClusterLink || o.Namespace != "":
		return fmt.Errorf("the owner is no link's")
	case !label.MatchString(o.Name):
		return fmt.Errorf("the name is no DNS label")
	case l.Router == "":
		return fmt.Errorf("a router is wanted")
	case !v4(l.CIDR):
		return fmt.Errorf("CIDR %v is no IPv4 range", l.CIDR)
	case l.TransitIP.IsValid() && !l.TransitIP.Is4():
		return fmt.Errorf("only IPv4 addresses are known")
	case l.Cross() != (l.Credentials != NamespacedRef{}):
		return fmt.Errorf("a customer's project goes with a credential, and with one alone")
	case l.Cross() && l.TransitIP.IsValid():
		return fmt.Errorf("an address can't be pinned in a customer's project")
	}
	return nil
}
