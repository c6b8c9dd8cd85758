package roster

import (
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Unreadable is an object of a kind of ours that is not as its kind says: a cluster whose
// definitions are older, or loose, takes such in.
type Unreadable struct {
	Kind, Namespace, Name string
	Gateway               string // that a peer names; empty: none, or it can't be read either
	Message               string
}

// String names the object and says what is wrong with it.
func (u Unreadable) String() string {
	return u.Kind + " " + strings.TrimPrefix(u.Namespace+"/"+u.Name, "/") + " can't be read: " + u.Message
}

// Keeps tells whether nothing can be said of what is named because of this object: it is
// that gateway or link itself, or one of the gateway's peers.
func (u Unreadable) Keeps(n Name) bool {
	switch {
	case u.Namespace != n.Namespace:
		return false
	case n.IsLink():
		return u.Name == n.Name
	case u.IsGateway():
		return u.Name == n.Name
	case u.Gateway == "":
		return n.Peer == u.Name
	}
	return u.Gateway == n.Name && (n.Peer == "" || n.Peer == u.Name)
}

// IsGateway tells whether it is a gateway's manifest.
func (u Unreadable) IsGateway() bool {
	return u.Kind == vpn.KindVPNGateway || u.Kind == vpn.KindIPsecGateway
}

// named tells whether somebody asks about the object, or about what it keeps.
func (u Unreadable) named(names []Name) bool {
	return slices.ContainsFunc(names, func(n Name) bool { return u.Keeps(n) })
}
