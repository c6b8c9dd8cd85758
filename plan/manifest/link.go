package manifest

import (
	"strings"
	"unicode"

	ipsecv1alpha1 "github.com/vpnctl/vpnctl/crds/ipsec/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// link is a ClusterLink in the making.
type link struct {
	check
	model   vpn.Link
	foreign bool // it names a credential: the service cluster is in a customer's project
}

// clusterLink reads a ClusterLink. Without a Secret it stays in our own project,
// with one it leads into a customer's.
func clusterLink(c check, w ipsecv1alpha1.ClusterLink) *link {
	s := w.Spec
	l := &link{check: c, foreign: s.CredentialsSecretRef != nil}
	l.model.Owner = vpn.Owner{Kind: c.kind, Name: c.name}
	l.model.Position = c.position("").String()
	l.model.Annotations = kept(w.Annotations)
	l.model.Router = read(c, "spec.serviceClusterRouter", s.ServiceClusterRouter, name)
	l.model.CIDR = read(c, "spec.serviceClusterCIDR", s.ServiceClusterCIDR, canonical)
	l.model.TransitIP = read(c, "spec.transitIP", s.TransitIP, address)
	l.model.CustomerProject = s.CustomerProjectID
	if s.CredentialsSecretRef != nil {
		l.credentials(*s.CredentialsSecretRef)
	}
	l.customer(s)
	l.annotated()
	return l
}

// credentials reads the Secret of a link into a customer's project. Its name is
// fixed, so that a link can't be pointed at another customer's Secret.
func (l *link) credentials(ref ipsecv1alpha1.NamespacedSecretRef) {
	const field = "spec.credentialsSecretRef"
	l.model.Credentials = vpn.NamespacedRef{
		Namespace: read(l.check, field+".namespace", ref.Namespace, label),
		Name:      read(l.check, field+".name", ref.Name, secretName),
	}
	if want := ipsecv1alpha1.SecretPrefix + l.name; l.model.Credentials.Name != "" && l.model.Credentials.Name != want {
		l.fail(field+".name", refuse("must be %s", quoted(want)))
	}
}

// customer checks what goes with a Secret and what doesn't.
func (l *link) customer(s ipsecv1alpha1.ClusterLinkSpec) {
	const field = "spec.customerProjectID"
	switch {
	case l.foreign && s.CustomerProjectID == "":
		l.fail(field, refuse("required with credentialsSecretRef, but missing"))
	case !l.foreign && s.CustomerProjectID != "":
		l.fail(field, refuse("set without credentialsSecretRef").with("remove it: the link stays in our own project"))
	case strings.TrimSpace(s.CustomerProjectID) != s.CustomerProjectID:
		l.fail(field, refuse("%s has white space around it", quoted(s.CustomerProjectID)))
	case strings.ContainsFunc(s.CustomerProjectID, unicode.IsControl):
		l.fail(field, refuse("%s holds control characters", quoted(s.CustomerProjectID)))
	case len(s.CustomerProjectID) > 64:
		l.fail(field, refuse("longer than 64 characters"))
	}
	if l.foreign && s.TransitIP != "" {
		l.fail("spec.transitIP", refuse("can't be pinned with credentialsSecretRef: Neutron chooses the address in a customer's project").with("remove it"))
	}
}

// finish is the link with its manifest.
func (l *link) finish() vpn.Link {
	m := l.model
	m.Manifests = []vpn.Manifest{l.write()}
	return m
}
