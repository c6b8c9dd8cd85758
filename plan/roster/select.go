package roster

import (
	"fmt"
	"slices"
	"strings"
)

// Name is what somebody asks about: a gateway, one of its peers, or a link.
type Name struct {
	Namespace string // empty for a link
	Name      string
	Peer      string // of the gateway; empty: the gateway as a whole
}

// ParseName reads NAMESPACE/NAME, NAMESPACE/NAME/PEER, or within a namespace NAME alone,
// which otherwise is a link.
func ParseName(text, namespace string) (Name, error) {
	parts := strings.Split(text, "/")
	if slices.Contains(parts, "") || len(parts) > 3 {
		return Name{}, fmt.Errorf("%q is no name of a gateway: NAMESPACE/NAME", text)
	}
	switch {
	case len(parts) == 1:
		return Name{Namespace: namespace, Name: parts[0]}, nil
	case namespace != "" && parts[0] != namespace:
		return Name{}, fmt.Errorf("%s is not in the namespace %s, to which -n keeps", text, namespace)
	case len(parts) == 3:
		return Name{parts[0], parts[1], parts[2]}, nil
	}
	return Name{Namespace: parts[0], Name: parts[1]}, nil
}

func (n Name) String() string {
	return strings.Join(slices.DeleteFunc([]string{n.Namespace, n.Name, n.Peer}, func(s string) bool { return s == "" }), "/")
}

// IsLink tells whether a link is named.
func (n Name) IsLink() bool { return n.Namespace == "" }

// Is tells whether a gateway is the one that is named.
func (n Name) Is(g Gateway) bool {
	return n.Namespace != "" && g.Owner.Namespace == n.Namespace && g.Owner.Name == n.Name
}

// Only leaves what is named, and the names of which there is nothing. No name is all.
func (c Cluster) Only(names []Name) (Cluster, []Name) {
	if len(names) == 0 {
		return c, nil
	}
	var found Cluster
	missing := slices.Clone(names)
	seen := func(is func(Name) bool) bool {
		missing = slices.DeleteFunc(missing, is)
		return slices.ContainsFunc(names, is)
	}
	for _, g := range c.Gateways {
		if shown, any := g.named(names); any {
			found.Gateways = append(found.Gateways, shown)
		}
		seen(func(n Name) bool { return n.Is(g) && (n.Peer == "" || g.has(n.Peer)) })
	}
	for _, l := range c.Links {
		if seen(func(n Name) bool { return n.IsLink() && n.Name == l.Name }) {
			found.Links = append(found.Links, l)
		}
	}
	for _, p := range c.Strays {
		if seen(p.astray) {
			found.Strays = append(found.Strays, p)
		}
	}
	for _, u := range c.Broken {
		if u.named(names) {
			found.Broken = append(found.Broken, u)
		}
		seen(func(n Name) bool { return u.named([]Name{n}) })
	}
	return found, missing
}

// named is a gateway with those of its peers that are named, which are all where the
// gateway is.
func (g Gateway) named(names []Name) (Gateway, bool) {
	any, whole := false, false
	var peers []Peer
	for _, n := range names {
		if n.Is(g) {
			any, whole = any || n.Peer == "" || g.has(n.Peer), whole || n.Peer == ""
		}
	}
	for _, p := range g.Peers {
		if slices.ContainsFunc(names, func(n Name) bool { return n.Is(g) && n.Peer == p.Name }) {
			peers = append(peers, p)
		}
	}
	if !whole {
		g.Peers = peers
	}
	return g, any
}

// astray tells whether a peer is the one that is named, by the gateway that it is for and
// that isn't there.
func (p Peer) astray(n Name) bool {
	return n.Namespace == p.Namespace && n.Name == p.Gateway && n.Peer == p.Name
}

// Astray finds a peer whose gateway isn't there.
func (c Cluster) Astray(n Name) bool {
	return slices.ContainsFunc(c.Strays, func(p Peer) bool { return p.astray(n) })
}

func (g Gateway) has(peer string) bool {
	return slices.ContainsFunc(g.Peers, func(p Peer) bool { return p.Name == peer })
}
