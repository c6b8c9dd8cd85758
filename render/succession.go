package render

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/pod"
	"github.com/vpnctl/vpnctl/render/swanctl"
	"github.com/vpnctl/vpnctl/render/wgconf"
)

// Succession says what the peers of a gateway have to change although another gateway
// takes its address and its range over: before and after are all objects of the one and
// of the other. A peer may have another name there. It is known by its address or its
// identity, in WireGuard by its public key. Without an impact nobody has to change
// anything; with one and no customers it is not known who.
func Succession(before, after resource.Graph) plan.Verdict {
	old, oldOK := tunnelsOf(before)
	now, ok := tunnelsOf(after)
	s := succession{heir: now.agent}
	switch {
	case !oldOK || !ok:
		return plan.Verdict{Impact: plan.ImpactCustomer, Consequence: "what its peers have to change is not known: one of the two configurations can't be read"}
	case old.agent.Protocol != now.agent.Protocol: // the gateways say so themselves
	case old.agent.Protocol == vpn.WireGuard:
		s.sessions(old, now)
	default:
		s.connections(old, now)
	}
	return s.all.sum()
}

// tunnels are what one gateway offers its peers.
type tunnels struct {
	ipsec     swanctl.Config
	wireguard wgconf.Config
	agent     vpn.Expectation
}

// tunnelsOf reads what a gateway's objects say; false where they are not there, or
// can't be read.
func tunnelsOf(objects resource.Graph) (t tunnels, ok bool) {
	for _, r := range objects {
		if r.Object == nil || r.Object.Kind != "ConfigMap" {
			continue
		}
		if data := decode(r.Object.Content).Data; data[pod.KeyAgent] != "" {
			return tunnelsIn(data)
		}
	}
	return t, false
}

// tunnelsIn reads a gateway's ConfigMap.
func tunnelsIn(data map[string]string) (t tunnels, ok bool) {
	var err, bad error
	t.agent, bad = vpn.ParseExpectation(data[pod.KeyAgent])
	if t.agent.Protocol == vpn.WireGuard {
		t.wireguard, err = wgconf.Parse(data[pod.KeyWireGuard])
	} else {
		t.ipsec, err = swanctl.Parse(data[pod.KeySwanctl])
	}
	return t, err == nil && bad == nil
}

// succession gathers what each peer has to change.
type succession struct {
	heir vpn.Expectation
	all  verdicts
}

func (s *succession) must(peer, what string) {
	s.all.add(plan.ImpactCustomer, peer, peer+" "+what)
}

func (s *succession) connections(old, now tunnels) {
	pairs := counterparts(old.ipsec.Connections, now.ipsec.Connections, sameTunnel, samePeer, sameAddress, sameIdentity)
	for i, was := range old.ipsec.Connections {
		k, there := pairs[i]
		if !there {
			s.must(was.Name, "has no tunnel with "+s.heir.Gateway.Path())
			continue
		}
		c := now.ipsec.Connections[k]
		s.connection(was, c)
		s.key(old.agent, was.Name, now.agent, c.Name)
	}
}

// connection names all that differs for one peer. What is offered besides, and timers,
// don't concern it.
func (s *succession) connection(was, now swanctl.Connection) {
	name := was.Name
	if was.LocalID != now.LocalID {
		s.must(name, "finds the gateway under the identity "+now.LocalID)
	}
	if was.Address != now.Address {
		s.must(name, "is expected at "+now.Address.String())
	}
	if was.RemoteID != now.RemoteID {
		s.must(name, "must identify itself as "+now.RemoteID)
	}
	if lost := missing(was.Proposals, now.Proposals); lost != "" {
		s.must(name, "can't use the IKE proposal "+lost+" any more")
	}
	if lost := missing(proposals(was), proposals(now)); lost != "" {
		s.must(name, "can't use the ESP proposal "+lost+" any more")
	}
	switch before, after := subnets(was), subnets(now); {
	case !slices.Equal(before, after):
		s.must(name, "has the subnets "+list(after)+" there, not "+list(before))
	case len(was.Children) > len(now.Children):
		s.must(name, "has one child SA for all subnets there, not one for each")
	case len(was.Children) < len(now.Children):
		s.must(name, "has a child SA for each subnet there, not one for all")
	}
}

func proposals(c swanctl.Connection) (all []string) {
	for _, child := range c.Children {
		all = append(all, child.Proposals...)
	}
	return distinct(all)
}

// subnets are what lies behind a peer, sorted.
func subnets(c swanctl.Connection) (all []netip.Prefix) {
	for _, child := range c.Children {
		all = append(all, child.Remote...)
	}
	slices.SortFunc(all, netip.Prefix.Compare)
	return slices.Compact(all)
}

// missing are those of one list that the other has not.
func missing(of, in []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(of), func(s string) bool { return slices.Contains(in, s) }), ", ")
}

func list(all []netip.Prefix) string {
	var texts []string
	for _, p := range all {
		texts = append(texts, p.String())
	}
	return strings.Join(texts, ", ")
}

func (s *succession) sessions(old, now tunnels) {
	pairs := counterparts(old.wireguard.Peers, now.wireguard.Peers, sameKey)
	for i, was := range old.wireguard.Peers {
		k, there := pairs[i]
		if !there {
			s.must(was.Name, "has no session with "+s.heir.Gateway.Path()+", which knows no peer of its key")
			continue
		}
		is := now.wireguard.Peers[k]
		s.session(old, now, was, is)
		s.key(old.agent, was.Name, now.agent, is.Name)
	}
}

// session names all that differs for one WireGuard peer.
func (s *succession) session(old, now tunnels, was, is wgconf.Peer) {
	if old.wireguard.ListenPort != now.wireguard.ListenPort {
		s.must(was.Name, "finds the gateway on another port")
	}
	if old.agent.PrivateKey != now.agent.PrivateKey {
		s.must(was.Name, "finds the gateway with the key of "+secret(now.agent.PrivateKey))
	}
	if !slices.Equal(was.AllowedIPs, is.AllowedIPs) {
		s.must(was.Name, "has the addresses "+list(is.AllowedIPs)+" there, not "+list(was.AllowedIPs))
	}
}

// key compares which Secret holds a peer's pre-shared key.
func (s *succession) key(old vpn.Expectation, was string, now vpn.Expectation, is string) {
	before, _ := old.Peer(was)
	after, _ := now.Peer(is)
	switch {
	case before.PresharedKey == after.PresharedKey:
	case after.PresharedKey == vpn.SecretRef{}:
		s.must(was, "must not use a pre-shared key any more")
	default:
		s.must(was, "must use the pre-shared key of "+secret(after.PresharedKey))
	}
}
