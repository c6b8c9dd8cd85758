package agent

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/nat"
)

// agreed is a ruleset less the grants that the gateway's own file doesn't make, and
// how many those are.
//
// An edit changes two ConfigMaps, which arrive one after the other, up to a minute
// apart and in either order. With each file taken for itself, the pod would for that
// minute be in a state that nobody wrote: a tunnel address that went from one peer to
// another reaches what the first one was granted; a name that now stands for another
// host is open to those whom only the new ruleset lets in. So a grant is opened when
// both files have it, and closed when the first one no longer does:
//
//	nat.nft   agent.json   → the grant is
//	has it    has it       → open
//	has it    -            → held: it is new and agent.json is late, or it was withdrawn
//	-         has it       → closed
//
// To have it means for agent.json: the peer that the ruleset names is listed, the
// source is its own, and its access names the exposure. For a reverse exposure: the
// peer behind which its target lies has access that names it; who may come from inside
// is the ruleset's alone.
//
// holder is the peer whose address the source is in the tunnel as it is now, which may
// be behind both files; empty: nobody's, or there is no tunnel yet.
func agreed(t nat.Table, e vpn.Expectation, holder func(netip.Prefix) string) (nat.Table, int) {
	a := agreement{peers: make(map[string]vpn.ExpectedPeer, len(e.Peers)), holder: holder}
	for _, p := range e.Peers {
		a.peers[p.Name] = p
	}
	reverse := a.reverse(t)
	open := map[string]bool{} // notes of grants
	out := nat.Table{Chains: t.Chains, Sets: slices.Clone(t.Sets)}
	held := filter(out.Sets, func(x nat.Element) bool {
		granted := a.grants(x)
		open[x.Note] = open[x.Note] || granted
		return granted
	}, "grants", "grants_any")
	held += filter(out.Sets, func(x nat.Element) bool { return reverse[x.Note] }, "reverse_grants", "reverse_grants_any")
	// Flows that began with a grant go on as long as there is one.
	filter(out.Sets, func(x nat.Element) bool { return open[x.Note] }, "open")
	filter(out.Sets, func(x nat.Element) bool { return reverse[x.Note] }, "reverse_open")
	return out, held
}

// filter takes from some of the sets what isn't to be kept, and tells how much that was.
func filter(sets []nat.Set, keep func(nat.Element) bool, names ...string) (taken int) {
	for i, s := range sets {
		if !slices.Contains(names, s.Name) {
			continue
		}
		kept := make([]nat.Element, 0, len(s.Elements))
		for _, x := range s.Elements {
			if keep(x) {
				kept = append(kept, x)
			}
		}
		taken += len(s.Elements) - len(kept)
		sets[i].Elements = kept
	}
	return taken
}

// agreement is the gateway's side of it.
type agreement struct {
	peers  map[string]vpn.ExpectedPeer
	holder func(netip.Prefix) string
}

// has tells whether a network is a peer's, and no other one's on the device.
func (a agreement) has(p vpn.ExpectedPeer, network netip.Prefix) bool {
	by := a.holder(network)
	return slices.Contains(p.Sources, network) && (by == "" || by == p.Name)
}

// grants reads "172.20.1.0/24 . 100.64.0.10 . udp . 53, # springfield, dns".
func (a agreement) grants(x nat.Element) bool {
	peer, exposure, ok := strings.Cut(x.Note, ", ")
	text, _, _ := strings.Cut(x.Text, " ")
	source, err := netip.ParsePrefix(text)
	p, listed := a.peers[peer]
	return ok && err == nil && listed && slices.Contains(p.Access.Exposures, exposure) && a.has(p, source)
}

// reverse are the reverse exposures that are granted, to the peer that their target is
// behind.
func (a agreement) reverse(t nat.Table) map[string]bool {
	granted := map[string]bool{}
	targets := t.Targets()
	for _, p := range a.peers {
		for _, x := range p.Access.ReverseExposures {
			for _, network := range p.Sources {
				if network.Contains(targets[x].Address) && a.has(p, network) {
					granted[x] = true
				}
			}
		}
	}
	return granted
}
