package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

// empty refuses a plan for an estate without a single manifest: it is more
// likely a wrong path than a wish.
func (d *draft) empty() bool {
	if d.in.Manifests > 0 || d.in.Options.AllowEmpty {
		return false
	}
	d.refuse(Refusal{Message: "no manifest was read", Hint: "--allow-empty, if the last one was removed on purpose"})
	return true
}

// decide settles what may happen to each owner.
func (d *draft) decide() {
	d.selected()
	for _, p := range d.sorted {
		switch {
		case p.refused || p.fate == stay:
		case p.owner.IsZero() || p.owner.Kind == vpn.KindClusterLink:
			p.fate = stay
			d.notice(p, fmt.Sprintf("%q is not a gateway: what is tagged so is left alone", p.text), "")
		case p.gateway == nil:
			d.gone(p)
		default:
			d.standing(p)
		}
	}
	d.limitDeletes()
}

// selected leaves every gateway whole that Options.Gateways does not name.
func (d *draft) selected() {
	if len(d.in.Options.Gateways) == 0 {
		return
	}
	known := map[string]bool{}
	for _, p := range d.sorted {
		if p.owner.IsZero() {
			continue
		}
		known[p.owner.Path()] = true
		if !slices.Contains(d.in.Options.Gateways, p.owner.Path()) {
			p.fate = stay
			p.line.Excluded = true
		}
	}
	for _, path := range d.in.Options.Gateways {
		if !known[path] {
			d.refuse(Refusal{Message: fmt.Sprintf("gateway %s is not known", path), Hint: suggestion(path, known)})
		}
	}
}

func (d *draft) gone(p *party) {
	if d.in.Options.Prune {
		p.fate = remove
		return
	}
	p.fate = stay
	since := ""
	if !p.draining.IsZero() {
		since = ", draining " + moment(p.draining)
	}
	d.notice(p, noManifest+since+": "+count(p.found, "resource is", "resources are")+" left alone", "--prune deletes it")
}

// standing checks a gateway that has a manifest.
func (d *draft) standing(p *party) {
	if !p.rendered {
		d.refuse(Refusal{Owner: p.owner, Message: "nothing was rendered for it"})
		return
	}
	l := p.ledger
	if l == nil {
		return
	}
	if l.Protocol != "" && l.Protocol != p.gateway.Protocol {
		d.refuse(Refusal{
			Owner:   p.owner,
			Message: fmt.Sprintf("the protocol can't change from %s to %s", l.Protocol, p.gateway.Protocol),
			Hint:    "remove the gateway, or give the new one another name",
		})
		return
	}
	if l.Grants && p.gateway.DefaultAllow() {
		peer := p.gateway.Peers[0].Name
		d.refuse(Refusal{
			Owner:   p.owner,
			Message: fmt.Sprintf("%s would reach everything, as the only peer and without authorization: nobody wrote that down", peer),
			Hint:    "give " + peer + " an authorization block",
		})
		return
	}
	d.losses(p)
}

// losses finds peers that the ledger knows and no manifest does.
func (d *draft) losses(p *party) {
	for _, name := range p.ledger.Peers {
		if _, ok := p.gateway.Peer(name); !ok {
			p.lost = append(p.lost, name)
		}
	}
	if len(p.lost) == 0 || d.in.Options.Prune {
		return
	}
	p.fate = stay
	d.notice(p, fmt.Sprintf("no manifest any more for %s: the gateway is left whole as it is", strings.Join(p.lost, ", ")), "--prune deletes what is gone")
}

// limitDeletes withholds every deletion when there are more than the run may
// make. A gateway counts, and each of its peers.
func (d *draft) limitDeletes() {
	limit := d.in.Options.MaxDeletes
	switch {
	case limit == 0:
		limit = DefaultMaxDeletes
	case limit < 0:
		limit = 0
	}
	var names []string
	deletes := 0
	for _, p := range d.sorted {
		switch {
		case p.refused || p.fate == stay:
		case p.fate == remove:
			deletes += 1 + len(p.peers())
			names = append(names, p.owner.Path())
		default:
			deletes += len(p.lost)
			for _, peer := range p.lost {
				names = append(names, peer+" of "+p.owner.Path())
			}
		}
	}
	if deletes <= limit {
		return
	}
	for _, p := range d.sorted {
		if p.fate == remove || len(p.lost) > 0 {
			p.fate = stay
		}
	}
	d.refuse(Refusal{
		Message: fmt.Sprintf("%s would be deleted, more than %d: %s", count(deletes, "gateway or peer", "gateways and peers"), limit, strings.Join(names, ", ")),
		Hint:    fmt.Sprintf("--max-deletes %d, if that is meant", deletes),
	})
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
