package agent

import (
	"net/netip"
	"slices"

	"github.com/vpnctl/vpnctl/agent/vici"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// lingering are the networks of peers that an SA of somebody else still carries, sorted.
// charon keeps a child SA that is to end until the other side has answered, and takes
// packets from it all the while.
func lingering(e vpn.Expectation, sas []vici.SA) []netip.Prefix {
	owners := holdersOf(e)
	found := map[netip.Prefix]bool{}
	for _, sa := range sas {
		for _, c := range sa.Children {
			for _, carried := range c.RemoteTS {
				if owners[carried] != sa.Connection {
					overlapping(owners, carried, sa.Connection, found)
				}
			}
		}
	}
	var all []netip.Prefix
	for network := range found {
		all = append(all, network)
	}
	slices.SortFunc(all, netip.Prefix.Compare)
	return all
}

// overlapping notes the networks of others than one peer that a network of its overlaps.
func overlapping(owners map[netip.Prefix]string, network netip.Prefix, peer string, found map[netip.Prefix]bool) {
	for other, owner := range owners {
		if owner != peer && other.Overlaps(network) {
			found[other] = true
		}
	}
}
