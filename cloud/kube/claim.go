package kube

import (
	"net/netip"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// claim takes down which service CIDR a gateway of another hand has: the operator's,
// or another estate's in the same cluster.
func (s *sighting) claim(id resource.ID, u *unstructured.Unstructured) {
	text, _, _ := unstructured.NestedString(u.Object, "status", "serviceCIDR")
	if text == "" {
		return
	}
	by := u.GetKind() + " " + id.Namespace + "/" + id.Name
	if prefix, err := netip.ParsePrefix(text); err == nil {
		s.seen.Claims = append(s.seen.Claims, alloc.Claim{Prefix: prefix.Masked(), By: by, Owner: vpn.Owner{Kind: u.GetKind(), Namespace: id.Namespace, Name: id.Name}})
		return
	}
	s.seen.Unknown = append(s.seen.Unknown, by+": its status.serviceCIDR "+text+" can't be read")
}
