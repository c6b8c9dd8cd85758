package swanctl

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Of returns the configuration of an IPsec gateway: one connection a peer, with
// one child for each remote subnet, or one for all where the peer's selectors are
// joined. localID is the gateway's floating IP.
func Of(g vpn.Gateway, localID string, service netip.Prefix) Config {
	var c Config
	for _, p := range g.Peers {
		c.Connections = append(c.Connections, Connection{
			Name:       p.Name,
			LocalID:    localID,
			Address:    p.Address,
			RemoteID:   p.ID,
			Proposals:  g.IKE.Proposals,
			Lifetime:   g.IKE.Lifetime,
			DPDDelay:   g.IKE.DPDDelay,
			DPDTimeout: g.IKE.DPDTimeout,
			Children:   children(p, service),
		})
	}
	return c
}

// children are a peer's child SAs. The approved proposals are one list for IKE and
// ESP: where one names a pseudo-random function, charon 5.9.8 leaves it out of the
// ESP proposal by itself (its log shows ESP:AES_GCM_16_256/ECP_384), so it is
// written as the manifest has it.
func children(p vpn.Peer, service netip.Prefix) []Child {
	child := Child{Name: p.Name, Local: service, Remote: p.Subnets, Proposals: p.ESPProposals, Lifetime: p.ESPLifetime}
	if p.Selectors == vpn.Joined {
		return []Child{child}
	}
	var all []Child
	for _, s := range p.Subnets {
		child.Name, child.Remote = ChildName(p.Name, s), []netip.Prefix{s}
		all = append(all, child)
	}
	return all
}

// ChildNames are the names of a peer's children, in the order of the file.
func ChildNames(p vpn.Peer) []string {
	var names []string
	for _, c := range children(p, netip.Prefix{}) {
		names = append(names, c.Name)
	}
	return names
}

// ChildName is the name of the child of one remote subnet. It follows from the
// subnet, so that adding another subnet leaves the children of the rest alone.
func ChildName(peer string, subnet netip.Prefix) string {
	address := strings.ReplaceAll(subnet.Addr().String(), ".", "-")
	return fmt.Sprintf("%s-%s-%d", peer, address, subnet.Bits())
}
