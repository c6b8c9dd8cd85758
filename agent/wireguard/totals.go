package wireguard

import (
	"net/netip"

	"github.com/vpnctl/vpnctl/agent/volume"
)

// LastSeen says where peers were when an agent wrote that down; nil: none did. It doesn't
// matter whether that agent has had an answer from there: where several are killed one
// after another, only the first one may have.
func LastSeen(before *volume.WireGuard) map[string]netip.AddrPort {
	if before == nil {
		return nil
	}
	seen := map[string]netip.AddrPort{}
	for _, p := range before.Peers {
		if at, err := netip.ParseAddrPort(p.Endpoint); err == nil {
			seen[p.Name] = at
		}
	}
	return seen
}

// Totals keeps the counters of peers growing where those of the device start at zero:
// with a peer that was away, with a device that ended with the process.
type Totals struct {
	peers map[string]total // by name
}

type total struct {
	key            string
	received, sent counter
}

// counter is a count that goes on when what it reads starts anew.
type counter struct{ base, last uint64 }

func (c *counter) read(n uint64, anew bool) {
	if anew || n < c.last {
		c.base += c.last
	}
	c.last = n
}

func (c counter) sum() uint64 { return c.base + c.last }

// NewTotals goes on from what was published before, by an agent that has ended; nil:
// nothing was. The device's own counters have gone on if it is the kernel's.
func NewTotals(before *volume.WireGuard, userspace bool) *Totals {
	t := &Totals{peers: map[string]total{}}
	if before == nil {
		return t
	}
	for _, p := range before.Peers {
		all := total{p.PublicKey, counter{last: p.Received}, counter{last: p.Sent}}
		if userspace {
			all.received.read(0, true)
			all.sent.read(0, true)
		}
		t.peers[p.Name] = all
	}
	return t
}

// Publish writes a device down for the other half of the agent: every configured peer,
// in their order, with what was read of it, if it is there, and its problem.
func (t *Totals) Publish(c Config, s State, userspace bool, problems map[string]string) *volume.WireGuard {
	w := &volume.WireGuard{PublicKey: s.PublicKey, Userspace: userspace}
	read := make(map[string]PeerState, len(s.Peers))
	for _, p := range s.Peers {
		read[p.PublicKey] = p
	}
	names := make(map[string]bool, len(c.Peers))
	for _, p := range c.Peers {
		names[p.Name] = true
		state, there := read[p.PublicKey]
		w.Peers = append(w.Peers, t.publish(p, state, there && state.Name == p.Name, problems[p.Name]))
	}
	for name := range t.peers {
		if !names[name] {
			delete(t.peers, name)
		}
	}
	return w
}

func (t *Totals) publish(p Peer, s PeerState, there bool, problem string) volume.WireGuardPeer {
	all, seen := t.peers[p.Name]
	if there {
		anew := seen && all.key != p.PublicKey
		all.key = p.PublicKey
		all.received.read(s.Received, anew)
		all.sent.read(s.Sent, anew)
		t.peers[p.Name] = all
	}
	out := volume.WireGuardPeer{
		Name: p.Name, PublicKey: p.PublicKey, Received: all.received.sum(), Sent: all.sent.sum(), Problem: problem,
	}
	if there {
		out.Handshake = s.Handshake
		if s.Endpoint.IsValid() {
			out.Endpoint = s.Endpoint.String()
		}
	}
	return out
}
