package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// spare leaves those alone whose manifest was not found, but stands in a file that
// was not read.
func (d *draft) spare() {
	for _, p := range d.sorted {
		if p.gone() && !p.refused && p.fate != stay && d.unread(p) != "" {
			d.leave(p)
		}
	}
}

// unread says which manifest of an owner, or of a peer that it seems to have lost,
// stands in a file that was not read, and in which, or why else the owner is spared;
// empty: none.
func (d *draft) unread(p *party) string {
	if p.gone() {
		if file, ok := d.in.Unread[p.owner]; ok {
			return p.owner.Path() + " stands in " + file + notRead
		}
		if why, ok := d.in.Spared[p.owner]; ok {
			return why
		}
	}
	for _, peer := range d.missing(p) {
		if file, ok := d.in.UnreadPeers[p.owner.Path()+"/"+peer]; ok {
			return "peer " + peer + " stands in " + file + notRead
		}
	}
	return ""
}

const notRead = ", which was not read"

// relevant is what of the survey concerns somebody who is there, for planning from a
// saved plan again.
func (d *draft) relevant() *Survey {
	s := Survey{Unread: map[vpn.Owner]string{}, UnreadPeers: map[string]string{}}
	if len(d.in.Spared) > 0 {
		s.Spared = map[vpn.Owner]string{}
	}
	for _, p := range d.sorted {
		if file, ok := d.in.Unread[p.owner]; ok && p.gone() {
			s.Unread[p.owner] = file
		}
		if why, ok := d.in.Spared[p.owner]; ok && p.gone() {
			s.Spared[p.owner] = why
		}
		for _, peer := range d.missing(p) {
			key := p.owner.Path() + "/" + peer
			if file, ok := d.in.UnreadPeers[key]; ok {
				s.UnreadPeers[key] = file
			}
		}
	}
	if d.in.Options.Prune {
		s.Obscure = slices.Sorted(slices.Values(d.in.Obscure))
	}
	if len(s.Unread)+len(s.UnreadPeers)+len(s.Spared)+len(s.Obscure) == 0 {
		return nil
	}
	return &s
}

// missing are the peers on the ledger that no manifest names, sorted.
func (d *draft) missing(p *party) []string {
	if p.ledger == nil {
		return nil
	}
	var names []string
	for _, name := range p.ledger.Peers {
		if p.gateway != nil {
			if _, ok := p.gateway.Peer(name); ok {
				continue
			}
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// leave leaves an owner whole for the sake of what was not read.
func (d *draft) leave(p *party) {
	p.fate = stay
	p.line.Gone = false
	why := d.unread(p)
	d.notice(p, why+": left alone", "")
	d.block(p, why)
}

// clouded refuses to delete while there are files of which nobody can tell what
// stands in them. It reports whether there are.
func (d *draft) clouded() bool {
	if len(d.in.Obscure) == 0 {
		return false
	}
	d.withhold()
	names := slices.Sorted(slices.Values(d.in.Obscure))
	more := ""
	if n := len(names) - filesNamed; n > 0 {
		names, more = names[:filesNamed], fmt.Sprintf(" and %d more", n)
	}
	d.refuse(Refusal{
		Message: "nothing is deleted: " + strings.Join(names, ", ") + more + " could not be read, and incomplete input is no input",
		Hint:    "mend what can't be read, or move it out of the Estate's folder",
	})
	return true
}

// filesNamed is how many files a sentence names.
const filesNamed = 5

// block says on an owner's line why it is left whole, and how many changes wait.
func (d *draft) block(p *party, why string) {
	p.line.Blocked, p.line.Waiting = why, d.waiting(p)
}

// waiting counts the changes that would be planned for a gateway with its manifest.
func (d *draft) waiting(p *party) int {
	if p.gone() {
		return 0
	}
	other := *p
	other.changes, other.differs, other.extra = nil, slices.Clone(p.differs), slices.Clone(p.extra)
	trial := &draft{in: d.in, estate: d.estate, parties: map[string]*party{}, changes: map[resource.ID]*Change{}}
	trial.diff(&other)
	all := Plan{Changes: make([]Change, 0, len(other.changes))}
	for _, c := range other.changes {
		if only := d.in.Options.Only; only == "" || c.ID.Kind.Cloud() == (only == OnlyCloud) {
			all.Changes = append(all.Changes, *c)
		}
	}
	return all.Summary().Pending()
}
