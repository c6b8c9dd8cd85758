package nat

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
)

// Types of the sets and maps.
const (
	typeTargetsAny = "ipv4_addr : ipv4_addr"
	typeTargets    = "ipv4_addr . inet_proto . inet_service : ipv4_addr"
	typeGrantsAny  = "ipv4_addr . ipv4_addr"
	typeGrants     = "ipv4_addr . ipv4_addr . inet_proto . inet_service"
	typeOpen       = "mark . ipv4_addr"
	typePeers      = "ipv4_addr : mark"
)

// ConnectionSet is the set that the kernel itself fills, with how many connections each
// peer has.
const ConnectionSet = "connections"

// HostMap is the map that the agent fills with what an exposure's host name
// resolves to: the exposure's virtual IP leads to one address.
func HostMap(exposure string) string { return "host_" + exposure }

// hostMaps are declared empty: a name is resolved where the gateway runs.
func hostMaps(flows []flow) []Set {
	var all []Set
	for _, f := range flows {
		if f.Target.Host != "" {
			all = append(all, Set{Name: HostMap(f.Name), Type: typeTargetsAny})
		}
	}
	return all
}

func addressSet(name string, flows []flow) Set {
	s := Set{Name: name, Type: "ipv4_addr"}
	for _, f := range flows {
		s.add(f.Name, "%s", f.virtual)
	}
	return s
}

// targetsAny leads whole virtual IPs, whatever the protocol, to their targets.
func targetsAny(name string, flows []flow) Set {
	s := Set{Name: name, Type: typeTargetsAny}
	for _, f := range flows {
		if f.Target.Host == "" && len(f.Target.Ports) == 0 {
			s.add(f.Name, "%s : %s", f.virtual, f.Target.Address)
		}
	}
	return s
}

// targets leads the listed ports of a virtual IP to the same port of its target.
func targets(name string, flows []flow) Set {
	s := Set{Name: name, Type: typeTargets, Interval: true}
	for _, f := range flows {
		if f.Target.Host != "" {
			continue
		}
		for _, ports := range f.Target.Ports {
			s.add(f.Name, "%s . %s . %s : %s", f.virtual, f.Target.Protocol, ports, f.Target.Address)
		}
	}
	return s
}

func grantsAny(name string, flows []flow) Set {
	s := Set{Name: name, Type: typeGrantsAny, Interval: true}
	for _, f := range flows {
		if len(f.Target.Ports) > 0 {
			continue
		}
		for _, from := range f.sources {
			s.add(from.note(f), "%s . %s", from.prefix, f.virtual)
		}
	}
	return s
}

// grants match the original destination, the virtual IP: two exposures of one
// target stay two grants. The port is the translated one, which is the same.
func grants(name string, flows []flow) Set {
	s := Set{Name: name, Type: typeGrants, Interval: true}
	for _, f := range flows {
		for _, from := range f.sources {
			for _, ports := range f.Target.Ports {
				s.add(from.note(f), "%s . %s . %s . %s", from.prefix, f.virtual, f.Target.Protocol, ports)
			}
		}
	}
	return s
}

func (s source) note(f flow) string {
	if s.name == "" {
		return f.Name
	}
	return s.name + ", " + f.Name
}

func (s *Set) add(note, format string, args ...any) {
	s.Elements = append(s.Elements, Element{Text: fmt.Sprintf(format, args...), Note: note})
}

// elements are written as text says, and say whose they are.
func elements(all []source, text func(source) string) []Element {
	var written []Element
	for _, s := range all {
		written = append(written, Element{Text: text(s), Note: s.name})
	}
	return written
}

func (s source) network() string { return s.prefix.String() }

// cover drops networks that lie within another one: nft refuses elements that
// overlap.
func cover(all []netip.Prefix) []source {
	var sources []source
	for _, p := range all {
		sources = append(sources, source{prefix: p})
	}
	return disjoint(sources)
}

// disjoint sorts sources and drops those within another one.
func disjoint(all []source) []source {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b source) int {
		return cmp.Or(a.prefix.Addr().Compare(b.prefix.Addr()), cmp.Compare(a.prefix.Bits(), b.prefix.Bits()), cmp.Compare(a.name, b.name))
	})
	var kept []source
	for _, s := range all {
		if n := len(kept); n > 0 && kept[n-1].prefix.Contains(s.prefix.Addr()) {
			continue
		}
		kept = append(kept, s)
	}
	return kept
}
