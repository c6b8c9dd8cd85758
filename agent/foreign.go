package agent

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/wgconf"
)

// foreign refuses an agent.json that isn't this pod's: of another gateway, or for another
// port than that of the one before. A pod has its second interface from its start to its
// end, so what is for another one is for another pod: the next one of this gateway, or
// somebody's mistake.
func foreign(before, now vpn.Expectation) error {
	switch {
	case before.Gateway != now.Gateway:
		return fmt.Errorf("agent.json is that of %s, and this pod is one of %s", now.Gateway, before.Gateway)
	case before.Protocol != now.Protocol:
		return fmt.Errorf("agent.json is for %s, and this pod speaks %s until it ends", now.Protocol, before.Protocol)
	case before.Port.MAC != now.Port.MAC || before.Port.Address != now.Port.Address:
		return fmt.Errorf("agent.json is for the port %s (%s), and this pod has %s (%s) until it ends",
			now.Port.Address, now.Port.MAC, before.Port.Address, before.Port.MAC)
	}
	return nil
}

// contradiction says where wg0.conf gives a peer what agent.json doesn't: another key,
// networks that aren't its own, or the key of somebody else. WireGuard takes a network
// from whom it was given to last, so that a mistake in one file would lead one client's
// packets to another.
func contradiction(c wgconf.Config, e vpn.Expectation) error {
	owners := map[string]string{}
	for _, p := range c.Peers {
		if other, twice := owners[p.PublicKey]; twice {
			return fmt.Errorf("the WireGuard file gives %s and %s one public key", other, p.Name)
		}
		owners[p.PublicKey] = p.Name
		expected, listed := e.Peer(p.Name)
		if !listed {
			continue // it stays out of the device
		}
		if expected.PublicKey != p.PublicKey {
			return fmt.Errorf("the WireGuard file gives %s another public key than agent.json", p.Name)
		}
		for _, network := range p.AllowedIPs {
			if !slices.ContainsFunc(expected.Sources, func(s netip.Prefix) bool { return s.Bits() <= network.Bits() && s.Contains(network.Addr()) }) {
				return fmt.Errorf("the WireGuard file gives %s the network %s, which agent.json doesn't", p.Name, network)
			}
		}
	}
	return nil
}
