package plan

import (
	"slices"

	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// answer is one cell of the reachability table. The zero answer: there is no such
// peer or exposure.
type answer struct {
	reach   *bool
	unknown bool
}

var unsure = answer{unknown: true}

// was tells whether access is in force before this plan. The rendered files say
// so; where they are not there, though the gateway runs, what else is known does:
//
//	the record is of what is desired now   as the manifests say
//	the ledger has no such name            not there
//	the ledger says that access is open    yes
//	anything else                          not known
func (t *table) was(peer string, x string, reverse bool) answer {
	p := t.party
	switch access, known := t.before[peer]; {
	case t.read && (!known || p.ledger != nil && p.ledger.VirtualIPs[x] == 0):
		return answer{}
	case t.read:
		return t.answer(slices.Contains(side(access, reverse), x))
	case !p.running() || t.cluster && !p.deployed && p.applied == "": // a cluster shows every pod: none has run yet
		return answer{}
	case p.ledger == nil:
		return unsure
	case p.ledger.VirtualIPs[x] == 0 || !slices.Contains(p.ledger.Peers, peer):
		return answer{}
	case p.drift():
		return t.written(peer, x, reverse)
	case p.ledger.Grants || reverse && len(p.ledger.Peers) > 1: // whom its target lies behind, no ledger says
		return unsure
	}
	return t.answer(true)
}

// written is what the manifests say.
func (t *table) written(peer string, x string, reverse bool) answer {
	g := t.party.gateway
	p, _ := g.Peer(peer)
	i := slices.IndexFunc(t.list(reverse), func(e vpn.Exposure) bool { return e.Name == x })
	if i < 0 {
		return answer{}
	}
	granted := slices.Contains(side(g.Access(p), reverse), x)
	return t.answer(granted && (!reverse || p.Serves(t.list(reverse)[i])))
}

// past calls back for all that could be reached of a gateway, or may have been:
// by the rendered files, or where they are not there by the ledger.
func (t *table) past(reverse bool, each func(peer, exposure string)) {
	if t.read {
		for peer, access := range t.before {
			for _, x := range side(access, reverse) {
				each(peer, x)
			}
		}
		return
	}
	l := t.party.ledger
	if l == nil {
		return
	}
	for _, peer := range l.Peers {
		for x, octet := range l.VirtualIPs {
			if alloc.Reverse(octet) == reverse {
				each(peer, x)
			}
		}
	}
}

// answer is b as a cell of the table; the cells of a plan share their values.
func (t *table) answer(b bool) answer {
	if b {
		return answer{reach: t.yes}
	}
	return answer{reach: t.no}
}
