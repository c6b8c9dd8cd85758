package vpn

import (
	"fmt"
	"net/netip"
	"regexp"
)

// label is a DNS label, RFC 1123.
var label = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// Check tells whether the estate has the shape that reading manifests gives it:
// what everything behind it relies on. It is for estates that come from
// elsewhere, such as a saved plan; what manifests may say is decided where they
// are read.
func (e Estate) Check() error {
	switch pool := e.ServiceCIDRPool; {
	case !label.MatchString(e.Name):
		return fmt.Errorf("estate name %q is no DNS label", e.Name)
	case !v4(pool) || pool.Bits() > 24:
		return fmt.Errorf("service CIDR pool %v is no IPv4 range of a /24 or more", pool)
	case e.Kubernetes.Target != TargetCluster && e.Kubernetes.Target != TargetDirectory:
		return fmt.Errorf("target %q is not known", e.Kubernetes.Target)
	}
	for _, c := range e.InternalSourceCIDRs {
		if !v4(c) {
			return fmt.Errorf("internal source %v is no IPv4 range", c)
		}
	}
	seen := map[string]bool{}
	for _, g := range e.Gateways {
		if err := g.check(); err != nil {
			return fmt.Errorf("gateway %s: %w", g.Owner, err)
		}
		if seen[g.Owner.Path()] {
			return fmt.Errorf("gateway %s: given twice", g.Owner)
		}
		seen[g.Owner.Path()] = true
	}
	clear(seen)
	for _, l := range e.Links {
		if err := l.check(); err != nil {
			return fmt.Errorf("link %s: %w", l.Owner, err)
		}
		if seen[l.Owner.Name] {
			return fmt.Errorf("link %s: given twice", l.Owner)
		}
		seen[l.Owner.Name] = true
	}
	return nil
}

func (g Gateway) check() error {
	o := g.Owner
	switch {
	case o.Kind != KindVPNGateway && o.Kind != KindIPsecGateway:
		return fmt.Errorf("kind %q is no gateway's", o.Kind)
	case !label.MatchString(o.Namespace) || !label.MatchString(o.Name):
		return fmt.Errorf("namespace or name is no DNS label")
	case (g.Protocol == IPsec) != (g.IKE != nil), (g.Protocol == WireGuard) != (g.WireGuard != nil), g.IKE == nil && g.WireGuard == nil:
		return fmt.Errorf("the settings don't fit protocol %q", g.Protocol)
	case g.ServiceCIDR.IsValid() && (!v4(g.ServiceCIDR) || g.ServiceCIDR.Bits() != 24):
		return fmt.Errorf("service CIDR %v is no /24", g.ServiceCIDR)
	}
	for _, link := range g.Links {
		if !label.MatchString(link) {
			return fmt.Errorf("link %q is no DNS label", link)
		}
	}
	names := map[string]bool{}
	for _, x := range g.Exposures {
		if err := x.check(names, false); err != nil {
			return fmt.Errorf("exposure %q: %w", x.Name, err)
		}
	}
	for _, x := range g.ReverseExposures {
		if err := x.check(names, true); err != nil {
			return fmt.Errorf("reverse exposure %q: %w", x.Name, err)
		}
	}
	clear(names)
	for _, p := range g.Peers {
		if err := p.check(g.Protocol, names); err != nil {
			return fmt.Errorf("peer %q: %w", p.Name, err)
		}
	}
	return nil
}

func (x Exposure) check(names map[string]bool, reverse bool) error {
	t := x.Target
	switch {
	case !label.MatchString(x.Name):
		return fmt.Errorf("the name is no DNS label")
	case names[x.Name]:
		return fmt.Errorf("given twice")
	case (t.Host == "") == !t.Address.IsValid(), reverse && t.Host != "":
		return fmt.Errorf("exactly one target is wanted")
	case t.Address.IsValid() && !t.Address.Is4(), x.VirtualIP.IsValid() && !x.VirtualIP.Is4():
		return fmt.Errorf("only IPv4 addresses are known")
	case len(t.Ports) > 0 && t.Protocol != "tcp" && t.Protocol != "udp":
		return fmt.Errorf("protocol %q is not known", t.Protocol)
	}
	for _, r := range t.Ports {
		if r.From == 0 || r.From > r.To {
			return fmt.Errorf("port range %s is none", r)
		}
	}
	names[x.Name] = true
	return nil
}

func (p Peer) check(protocol Protocol, names map[string]bool) error {
	switch {
	case !label.MatchString(p.Name):
		return fmt.Errorf("the name is no DNS label")
	case names[p.Name]:
		return fmt.Errorf("given twice")
	case protocol == IPsec && (!p.Address.Is4() || p.ID == ""):
		return fmt.Errorf("an IPv4 address and an identity are wanted")
	case protocol == WireGuard && p.PublicKey == "":
		return fmt.Errorf("a public key is wanted")
	case p.RoadWarrior != (len(p.Subnets) == 0):
		return fmt.Errorf("subnets belong to sites, and to sites alone")
	}
	for _, s := range p.Subnets {
		if !v4(s) {
			return fmt.Errorf("subnet %v is no IPv4 range", s)
		}
	}
	names[p.Name] = true
	return nil
}

// v4 tells whether a prefix is a canonical IPv4 range.
func v4(p netip.Prefix) bool { return p.IsValid() && p.Addr().Is4() && p == p.Masked() }
