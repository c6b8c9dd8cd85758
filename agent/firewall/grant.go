package firewall

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/vpnctl/vpnctl/render/nat"
)

// grants answer who may reach which virtual IP, and where that leads. They are read
// from the elements of a ruleset's sets and maps.
type grants struct {
	open    map[pair][]service
	lengths []int // of all sources' prefixes: what it takes to find one
	targets map[netip.Addr][]target
	owners  map[netip.Prefix]string // of the peers' networks
}

type pair struct {
	from    netip.Prefix
	virtual netip.Addr
}

// service is a protocol and ports; protocol 0 is any, whatever the port.
type service struct {
	protocol uint8
	from, to uint16
}

type target struct {
	service
	address netip.Addr
	named   bool // by a host, whose address changes
}

// protocols that the rulesets name.
var protocols = map[string]uint8{"tcp": 6, "udp": 17}

func (s service) holds(protocol uint8, port uint16) bool {
	return s.protocol == 0 || s.protocol == protocol && s.from <= port && port <= s.to
}

// grantsOf reads the sets and maps of a ruleset. An element that can't be read is an error:
// half the grants would cut those whom the other half lets through.
func grantsOf(table nat.Table, hosts []Host) (grants, error) {
	g := grants{open: map[pair][]service{}, targets: map[netip.Addr][]target{}, owners: map[netip.Prefix]string{}}
	for _, s := range table.Sets {
		read := g.reader(s.Name)
		if read == nil {
			continue
		}
		for _, e := range s.Elements {
			key, value, _ := strings.Cut(e.Text, " : ")
			if err := read(strings.Split(key, " . "), value); err != nil {
				return grants{}, fmt.Errorf("%s: element %q: %w", s.Name, e.Text, err)
			}
		}
	}
	for _, h := range hosts {
		if _, declared := table.Set(h.Map); declared && h.Target.IsValid() {
			g.targets[h.VirtualIP] = append(g.targets[h.VirtualIP], target{address: h.Target, named: true})
		}
	}
	slices.Sort(g.lengths)
	g.lengths = slices.Compact(g.lengths)
	return g, nil
}

func (g *grants) reader(set string) func(key []string, value string) error {
	switch set {
	case "grants", "grants_any", "reverse_grants", "reverse_grants_any":
		return g.grant
	case "targets", "targets_any", "reverse_targets", "reverse_targets_any":
		return g.target
	case "peers":
		return g.owner
	}
	return nil
}

// owner reads: network : peer
func (g *grants) owner(key []string, peer string) error {
	network, err := prefix(key[0])
	if err != nil {
		return err
	}
	g.owners[network] = peer
	g.lengths = append(g.lengths, network.Bits())
	return nil
}

// grant reads: source . virtual IP [. protocol . ports]
func (g *grants) grant(key []string, value string) error {
	if len(key) < 2 || value != "" {
		return fmt.Errorf("not a grant")
	}
	from, err := prefix(key[0])
	if err != nil {
		return err
	}
	virtual, err := netip.ParseAddr(key[1])
	if err != nil {
		return err
	}
	s, err := serviceOf(key[2:])
	if err != nil {
		return err
	}
	at := pair{from, virtual}
	g.open[at] = append(g.open[at], s)
	g.lengths = append(g.lengths, from.Bits())
	return nil
}

// target reads: virtual IP [. protocol . ports] : address
func (g *grants) target(key []string, value string) error {
	virtual, err := netip.ParseAddr(key[0])
	if err != nil {
		return err
	}
	s, err := serviceOf(key[1:])
	if err != nil {
		return err
	}
	address, err := netip.ParseAddr(value)
	if err != nil {
		return err
	}
	g.targets[virtual] = append(g.targets[virtual], target{service: s, address: address})
	return nil
}

func serviceOf(key []string) (service, error) {
	if len(key) == 0 {
		return service{}, nil
	}
	protocol, known := protocols[key[0]]
	if len(key) != 2 || !known {
		return service{}, fmt.Errorf("not a protocol and its ports")
	}
	first, last, ranged := strings.Cut(key[1], "-")
	if !ranged {
		last = first
	}
	from, err := strconv.ParseUint(first, 10, 16)
	if err != nil {
		return service{}, err
	}
	to, err := strconv.ParseUint(last, 10, 16)
	return service{protocol, uint16(from), uint16(to)}, err
}

func prefix(text string) (netip.Prefix, error) {
	if !strings.Contains(text, "/") {
		text += "/32"
	}
	p, err := netip.ParsePrefix(text)
	return p.Masked(), err
}

// allow tells whether a translated connection is one that the ruleset would make
// today: its first packet is granted, and leads where it goes. Where a virtual IP's
// target isn't known, the grant alone decides. A TCP connection to an address that
// a host name had before goes on: names take turns among addresses, and such a
// connection ends by itself. UDP has no end, and would stay with the old one.
func (g *grants) allow(f flow) bool {
	return g.granted(f) && g.leads(f)
}

func (g *grants) granted(f flow) bool {
	for _, bits := range g.lengths {
		from, err := f.source.Prefix(bits)
		if err != nil {
			continue
		}
		for _, s := range g.open[pair{from, f.virtual}] {
			if s.holds(f.protocol, f.port) {
				return true
			}
		}
	}
	return false
}

func (g *grants) leads(f flow) bool {
	known := false
	for _, t := range g.targets[f.virtual] {
		if !t.holds(f.protocol, f.port) {
			continue
		}
		if t.address == f.target || t.named && f.protocol == protocols["tcp"] {
			return true
		}
		known = true
	}
	return !known
}

// surplus counts a connection as of the peer that it comes from, and tells whether that
// has more than it may.
func (g *grants) surplus(f flow, count map[string]int) bool {
	for _, bits := range g.lengths {
		from, err := f.source.Prefix(bits)
		if err != nil {
			continue
		}
		if peer, there := g.owners[from]; there {
			count[peer]++
			return count[peer] > nat.MaxConnections
		}
	}
	return false
}
