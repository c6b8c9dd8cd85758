package kube

import (
	"encoding/json"
	"maps"
	"net/netip"
	"slices"

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

// allocated is what the status of a gateway's manifest says of allocations.
func allocated(o vpn.Owner, u *unstructured.Unstructured) alloc.Operated {
	uid := string(u.GetUID())
	written, err := json.Marshal(u.Object["status"])
	var s alloc.Status
	if err == nil {
		err = json.Unmarshal(written, &s)
	}
	if err != nil {
		return alloc.Operated{Owner: o, UID: uid, Problem: "reading its status: " + err.Error()}
	}
	return s.Operated(o, uid)
}

// operated tells of gateways that an operator may have made: whose status says what they
// have, which an operator writes before it makes anything, or of which it made objects
// here.
func (s *sighting) operated(found []child) {
	made := map[vpn.Owner]bool{}
	for _, c := range found {
		made[*s.owner(c.object, s.uids)] = true
	}
	for _, o := range slices.SortedFunc(maps.Keys(s.told), vpn.Owner.Compare) {
		if g := s.told[o]; made[o] || g.ServiceCIDR.IsValid() || g.Problem != "" {
			s.seen.Operated = append(s.seen.Operated, g)
		}
	}
}

// leaves tells of a gateway that nobody asks for any more and whose manifest is being
// deleted.
func (s *sighting) leaves(r resource.Resource, u *unstructured.Unstructured) {
	o := vpn.Owner{Kind: r.Object.Kind, Namespace: r.ID.Namespace, Name: r.ID.Name}
	if u.GetDeletionTimestamp() != nil && (o.Kind == vpn.KindVPNGateway || o.Kind == vpn.KindIPsecGateway) {
		s.seen.Operated = append(s.seen.Operated, alloc.Operated{Owner: o, UID: string(u.GetUID())})
	}
}
