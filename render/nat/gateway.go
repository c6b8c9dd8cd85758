package nat

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Input is all that the ruleset follows from.
type Input struct {
	Gateway   vpn.Gateway
	Ledger    alloc.Ledger
	Internal  []netip.Prefix // sources that may use reverse exposures
	Dataplane string         // of IPsec: kernel or userspace
	Address   string         // the port's fixed IP, or resource.Unknown
}

// Of returns the table of a gateway. An exposure or a road warrior without its
// address in the ledger is an error.
func Of(in Input) (Table, error) {
	if err := in.check(); err != nil {
		return Table{}, err
	}
	exposures, err := in.exposures()
	if err != nil {
		return Table{}, err
	}
	reverse, err := in.reverseExposures()
	if err != nil {
		return Table{}, err
	}
	remote, err := in.remote()
	if err != nil {
		return Table{}, err
	}
	behind, err := in.behind(reverse)
	if err != nil {
		return Table{}, err
	}
	numbers := in.numbers()
	return Table{
		Sets: append([]Set{
			{Name: "remote", Type: "ipv4_addr", Interval: true, Elements: elements(remote, source.network)},
			{Name: "internal", Type: "ipv4_addr", Interval: true, Elements: elements(cover(in.Internal), source.network)},
			addressSet("exposures", exposures),
			addressSet("reverse_exposures", reverse),
			targetsAny("targets_any", exposures), targets("targets", exposures),
			targetsAny("reverse_targets_any", reverse), targets("reverse_targets", reverse),
			grantsAny("grants_any", exposures), grants("grants", exposures),
			grantsAny("reverse_grants_any", reverse), grants("reverse_grants", reverse),
			open(exposures, numbers), reverseOpen(reverse),
			{Name: "behind", Type: typeGrantsAny, Interval: true, Elements: behind},
			{Name: "peers", Type: typePeers, Interval: true, Elements: elements(remote, numbers.owner)},
			{Name: ConnectionSet, Type: "mark . mark", Size: shards * maxPeers},
		}, hostMaps(exposures)...),
		Chains: in.chains(exposures),
	}, nil
}

func (in Input) check() error {
	if !in.Ledger.ServiceCIDR.IsValid() {
		return fmt.Errorf("gateway %s has no service CIDR yet", in.Gateway.Owner.Path())
	}
	for _, p := range in.Gateway.Peers {
		if in.Gateway.Protocol == vpn.IPsec && !p.Address.Is4() {
			return fmt.Errorf("peer %s has no IPv4 address", p.Name)
		}
	}
	return nil
}

// flow is one exposure with what it translates to and who may use it.
type flow struct {
	vpn.Exposure
	virtual netip.Addr
	sources []source // disjoint
}

// source is where a granted packet comes from.
type source struct {
	prefix netip.Prefix
	name   string // of the peer; empty: an internal source
}

// exposures pairs each exposure with the addresses of the peers that may reach it.
func (in Input) exposures() ([]flow, error) {
	granted := map[string][]source{}
	for _, p := range in.Gateway.Peers {
		sources, err := in.sources(p)
		if err != nil {
			return nil, err
		}
		for _, name := range in.Gateway.Access(p).Exposures {
			granted[name] = append(granted[name], sources...)
		}
	}
	return in.flows(in.Gateway.Exposures, granted)
}

// reverseExposures pairs each reverse exposure that some peer was granted with the
// internal sources.
func (in Input) reverseExposures() ([]flow, error) {
	internal := cover(in.Internal)
	granted := map[string][]source{}
	for _, p := range in.Gateway.Peers {
		for _, name := range in.Gateway.Access(p).ReverseExposures {
			granted[name] = internal
		}
	}
	return in.flows(in.Gateway.ReverseExposures, granted)
}

func (in Input) flows(exposures []vpn.Exposure, granted map[string][]source) ([]flow, error) {
	var flows []flow
	for _, x := range exposures {
		virtual := in.Ledger.VirtualIP(x.Name)
		if !virtual.IsValid() {
			return nil, fmt.Errorf("exposure %s has no virtual IP yet", x.Name)
		}
		if x.Target.Host == "" && !x.Target.Address.Is4() {
			return nil, fmt.Errorf("exposure %s has no IPv4 target", x.Name)
		}
		flows = append(flows, flow{Exposure: x, virtual: virtual, sources: disjoint(granted[x.Name])})
	}
	return flows, nil
}

func (in Input) sources(p vpn.Peer) ([]source, error) {
	prefixes := p.Sources(in.Ledger.Address(p.Name))
	if len(prefixes) == 0 {
		return nil, fmt.Errorf("peer %s has no tunnel address yet", p.Name)
	}
	var all []source
	for _, prefix := range prefixes {
		all = append(all, source{prefix, p.Name})
	}
	return all, nil
}

// remote are the addresses of all peers inside the tunnel.
func (in Input) remote() ([]source, error) {
	var all []source
	for _, p := range in.Gateway.Peers {
		sources, err := in.sources(p)
		if err != nil {
			return nil, err
		}
		all = append(all, sources...)
	}
	return disjoint(all), nil
}

// behind are the networks of the peer that a reverse exposure's target is behind, for
// each of them.
func (in Input) behind(reverse []flow) ([]Element, error) {
	var all Set
	for _, p := range in.Gateway.Peers {
		sources, err := in.sources(p)
		if err != nil {
			return nil, err
		}
		granted := in.Gateway.Access(p).ReverseExposures
		for _, f := range reverse {
			within := func(s source) bool { return s.prefix.Contains(f.Target.Address) }
			if !slices.Contains(granted, f.Name) || !slices.ContainsFunc(sources, within) {
				continue
			}
			for _, s := range disjoint(sources) {
				all.add(s.note(f), "%s . %s", s.prefix, f.virtual)
			}
		}
	}
	return all.Elements, nil
}
