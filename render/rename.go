package render

import (
	"slices"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/swanctl"
	"github.com/vpnctl/vpnctl/render/wgconf"
)

// Renamed says which peers of a gateway only get another name, old → new: before and
// after are all its objects. In IPsec a peer is known by its address and its identity
// together, in WireGuard by its public key. Only names that one side has and the other
// has not count: two peers that change names keep them here, and are taken for others.
// Where one side can't be read there are none.
func Renamed(before, after resource.Graph) map[string]string {
	old, oldOK := tunnelsOf(before)
	now, ok := tunnelsOf(after)
	if !oldOK || !ok {
		return nil
	}
	return renamed(old, now)
}

func renamed(old, now tunnels) map[string]string {
	switch {
	case old.agent.Protocol != now.agent.Protocol:
		return nil
	case now.agent.Protocol == vpn.WireGuard:
		return newNames(old.wireguard.Peers, now.wireguard.Peers, func(p wgconf.Peer) string { return p.Name }, sameKey)
	}
	return newNames(old.ipsec.Connections, now.ipsec.Connections, func(c swanctl.Connection) string { return c.Name }, sameTunnel, samePeer)
}

// newNames pairs the names that only one of two lists has.
func newNames[T any](old, now []T, name func(T) string, likenesses ...func(a, b T) bool) map[string]string {
	gone, come := without(old, now, name), without(now, old, name)
	names := map[string]string{}
	for was, is := range counterparts(gone, come, likenesses...) {
		names[name(gone[was])] = name(come[is])
	}
	return names
}

// without are those of one list whose names the other has not.
func without[T any](of, in []T, name func(T) string) []T {
	known := make(map[string]bool, len(in))
	for _, x := range in {
		known[name(x)] = true
	}
	return slices.DeleteFunc(slices.Clone(of), func(x T) bool { return known[name(x)] })
}

// judgeRenames says what another name does to each peer that gets one. No name is told
// to the other side, so it must change nothing for its sake; for anything else that
// differs it counts as with another gateway, see Succession. The tunnel itself:
//
//	IPsec      the agent unloads one connection and loads another: its SAs end
//	WireGuard  the device knows keys and no names, but grants bear the name in two
//	           ConfigMaps, and hold once the pod has both: until then they are closed,
//	           and what they had let in has ended
func judgeRenames(old, now tunnels, names map[string]string) verdicts {
	s := succession{heir: now.agent}
	for was, is := range names {
		s.key(old.agent, was, now.agent, is)
		if now.agent.Protocol == vpn.WireGuard {
			a, _ := old.wireguard.Peer(was)
			b, _ := now.wireguard.Peer(is)
			s.session(old, now, a, b)
			s.all.add(plan.ImpactReconnect, was, was+" goes on as "+is+
				": its session stays, its connections end and are let in again within a minute")
			continue
		}
		a, _ := old.ipsec.Connection(was)
		b, _ := now.ipsec.Connection(is)
		s.connection(a, b)
		if local(a) != local(b) {
			s.must(was, "finds the service CIDR "+local(b)+" there")
		}
		s.all.add(plan.ImpactReconnect, was, was+" goes on as "+is+": its tunnel ends and is negotiated anew")
	}
	return s.all
}

// counterparts pairs the elements of two lists, by index. The first likeness counts
// more than the next, and nobody has two counterparts.
func counterparts[T any](was, now []T, likenesses ...func(a, b T) bool) map[int]int {
	pairs, taken := map[int]int{}, map[int]bool{}
	for _, alike := range likenesses {
		for i, a := range was {
			if _, paired := pairs[i]; paired {
				continue
			}
			for k, b := range now {
				if !taken[k] && alike(a, b) {
					pairs[i], taken[k] = k, true
					break
				}
			}
		}
	}
	return pairs
}

// The likenesses of two connections. One address and identity may have several, each
// for other subnets.
func sameTunnel(a, b swanctl.Connection) bool {
	return samePeer(a, b) && slices.Equal(subnets(a), subnets(b))
}
func samePeer(a, b swanctl.Connection) bool     { return sameAddress(a, b) && sameIdentity(a, b) }
func sameAddress(a, b swanctl.Connection) bool  { return a.Address == b.Address }
func sameIdentity(a, b swanctl.Connection) bool { return a.RemoteID == b.RemoteID }

func sameKey(a, b wgconf.Peer) bool { return a.PublicKey == b.PublicKey }
