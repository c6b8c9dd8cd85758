package plan

import (
	"fmt"
	"strings"
	"time"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

// empty looks at an estate without a single manifest, which is more likely a wrong
// path than a wish: nothing is done for it. Where that would have been a deletion it
// is refused.
func (d *draft) empty() bool {
	if d.in.Manifests > 0 || d.in.Options.AllowEmpty {
		return false
	}
	if d.in.Options.Prune && len(d.in.Observed)+len(d.in.Ledgers) > 0 {
		d.refuse(Refusal{Message: "no manifest was read", Hint: "--allow-empty, if the last one was removed on purpose"})
		return true
	}
	d.plan.Notices = append(d.plan.Notices, Notice{Message: "no manifest was read: nothing is done"})
	d.spare()
	for _, p := range d.sorted {
		if !p.owner.IsZero() {
			d.plan.Owners = append(d.plan.Owners, *p.line)
		}
	}
	return true
}

// decide settles what may happen to each owner.
func (d *draft) decide() {
	d.selected()
	d.spare()
	for _, p := range d.sorted {
		switch {
		case p.refused || p.fate == stay:
		case p.owner.IsZero():
			p.fate = stay
			d.notice(p, fmt.Sprintf("%q is neither a gateway nor a link: what is tagged so is left alone", p.text), "")
		case p.gone():
			d.gone(p)
		case p.link != nil:
			d.built(p)
		default:
			d.standing(p)
		}
	}
	d.keepWhole()
	d.limitDeletes()
}

// selected leaves every owner whole that the options don't select.
func (d *draft) selected() {
	gateways, links := map[string]bool{}, map[string]bool{}
	for _, p := range d.sorted {
		switch {
		case p.owner.IsZero():
			continue
		case p.owner.Gateway():
			gateways[p.owner.Path()] = true
		default:
			links[p.owner.Name] = true
		}
		if !d.in.Options.Selects(p.owner) {
			p.fate = stay
			p.line.Excluded = true
		}
	}
	d.misnamed("gateway", d.in.Options.Gateways, gateways)
	d.misnamed("link", d.in.Options.Links, links)
}

// misnamed refuses the whole plan where it is to be about somebody whom nobody knows.
func (d *draft) misnamed(what string, names []string, known map[string]bool) {
	for _, name := range names {
		if !known[name] {
			d.unknown = true
			d.refuse(Refusal{Message: what + " " + name + " is not known", Hint: suggestion(name, known)})
		}
	}
}

func (d *draft) gone(p *party) {
	if d.in.Options.Prune {
		p.fate = remove
		return
	}
	p.fate = stay
	left := ": " + count(p.found, "resource is", "resources are") + " left alone"
	if p.draining.IsZero() {
		d.notice(p, NoManifest+left, "--prune deletes it")
		return
	}
	end, hint := p.draining.Add(d.hold()), "--prune deletes the rest"
	if d.in.Estate.Kubernetes.Target == vpn.TargetDirectory && d.in.Now.Before(end) {
		hint = "pods may still run: run apply --prune again after " + end.UTC().Format(time.RFC3339) + ", or --pods-gone"
	}
	d.notice(p, NoManifest+", draining "+moment(p.draining)+left, hint)
}

// built tells whether something was rendered for an owner that has a manifest.
func (d *draft) built(p *party) bool {
	if !p.rendered {
		d.refuse(Refusal{Owner: p.owner, Message: "nothing was rendered for it"})
	}
	return p.rendered
}

// standing checks a gateway that has a manifest.
func (d *draft) standing(p *party) {
	if !d.built(p) {
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
	p.lost = d.missing(p)
	switch {
	case len(p.lost) == 0:
	case d.unread(p) != "":
		d.leave(p)
	case !d.in.Options.Prune:
		p.fate = stay
		names := strings.Join(p.lost, ", ")
		d.notice(p, "no manifest any more for "+names+": the gateway is left whole as it is", "--prune deletes what is gone")
		has := map[bool]string{true: "peer " + names + " has", false: "peers " + names + " have"}[len(p.lost) == 1]
		d.block(p, has+" no manifest: nothing of this gateway is changed without --prune")
	case d.in.Renamed != nil && p.files > 0:
		p.renamed = d.in.Renamed(d.in.Observed.Of(p.text), d.in.Desired.Of(p.text))
	}
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
	deletes, one, many, counts := 0, "gateway or peer", "gateways and peers", "a gateway counts, and each of its peers"
	for _, p := range d.sorted {
		switch {
		case p.refused || p.fate == stay:
		case p.fate == remove:
			if !p.owner.Gateway() {
				one, many, counts = "gateway, peer or link", "gateways, peers and links", "a gateway counts, each of its peers, and a link"
			}
			deletes += 1 + len(p.peers())
			names = append(names, p.owner.Path()+company(p.peers()))
		default:
			deletes += len(p.lost)
			for _, peer := range p.lost {
				names = append(names, peer+" of "+p.owner.Path())
			}
		}
	}
	if deletes > 0 && d.clouded() || deletes <= limit {
		return
	}
	d.withhold()
	d.refuse(Refusal{
		Message: fmt.Sprintf("%s would be deleted, more than %d: %s", count(deletes, one, many), limit, strings.Join(names, ", ")),
		Hint:    fmt.Sprintf("--max-deletes %d, if that is meant: %s", deletes, counts),
	})
}

// company names the peers that go with a gateway.
func company(peers []string) string {
	switch n := len(peers); {
	case n == 0:
		return ""
	case n > 5:
		return fmt.Sprintf(" with %d peers", n)
	}
	return " with " + strings.Join(peers, " and ")
}

// withhold leaves everyone as they are who would lose something.
func (d *draft) withhold() {
	for _, p := range d.sorted {
		if p.fate == remove || len(p.lost) > 0 {
			p.fate = stay
		}
	}
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
