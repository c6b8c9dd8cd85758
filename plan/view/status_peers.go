package view

import (
	"fmt"
	"strings"

	"github.com/vpnctl/vpnctl/plan/roster"
)

// peersShown is how many peers that are up a gateway shows, unless all are asked for.
// Those that aren't are always shown.
const peersShown = 20

// peerLine is one peer, in columns that are aligned below one gateway.
type peerLine struct {
	cells []string // name, state, since; of a peer that is up: what came in, what went out
	rest  string
	peer  roster.Peer
	word  string
}

func (s *status) peers(g roster.Gateway) {
	var lines []peerLine
	up, left := 0, 0
	for _, p := range g.Peers {
		t := g.Tunnel(p, s.o.Now)
		if t.Word == roster.TunnelUp {
			if up++; up > peersShown && !s.o.All {
				left++
				continue
			}
		}
		lines = append(lines, s.peer(p, t))
	}
	s.peerLines(lines)
	if left > 0 {
		s.line(fmt.Sprintf("  and %s that are up", count(left, "more peer")))
	}
}

func (s *status) peerLines(lines []peerLine) {
	var widths [5]int
	for _, l := range lines {
		for i, cell := range l.cells {
			widths[i] = max(widths[i], length(cell))
		}
	}
	for _, l := range lines {
		prefix, shown := "  ", 2
		for i, cell := range l.cells {
			text := pad(cell, widths[i])
			if i == 1 {
				text = s.ink.paint(wordColors[l.word], cell) + text[len(cell):]
			}
			prefix, shown = prefix+text+"  ", shown+widths[i]+2
		}
		s.beside(prefix, shown, l.rest)
		s.authorization(l.peer)
	}
}

// beside writes a text behind columns, or below them where it doesn't fit.
func (s *status) beside(prefix string, shown int, text string) {
	if s.o.Width == 0 || shown+length(text) <= s.o.Width {
		s.line(prefix + text)
		return
	}
	s.line(prefix)
	s.wrapped("      ", 6, text)
}

func (s *status) peer(p roster.Peer, t roster.Tunnel) peerLine {
	l := peerLine{peer: p, word: t.Word, cells: []string{Plain(p.Name), stateWord(p, t), s.since(t.Since)}}
	var parts []string
	if r := p.Report; t.Word == roster.TunnelUp || t.Word == roster.TunnelPart {
		l.cells = append(l.cells, "in "+amount(r.In), "out "+amount(r.Out))
		parts = append(parts, s.next(r)...)
	} else if !r.LastHandshake.IsZero() {
		parts = append(parts, "last handshake "+s.since(r.LastHandshake)+" ago")
	}
	if s.o.Wide && p.Address != "" {
		parts = append([]string{Plain(p.Address)}, parts...)
	}
	if t.Message != "" {
		parts = append(parts, Plain(t.Message))
	}
	switch {
	case p.Gone():
		parts = append(parts, "no manifest has it any more")
	case !p.Deleting.IsZero():
		parts = append(parts, "its manifest is being deleted")
	}
	l.rest = strings.Join(parts, "  ")
	return l
}

func stateWord(p roster.Peer, t roster.Tunnel) string {
	if t.Word == roster.TunnelPart {
		return fmt.Sprintf("%d/%d up", p.Report.Up, p.Report.Expected)
	}
	return t.Word
}

// next is what comes next for a tunnel, or came last.
func (s *status) next(r roster.Report) []string {
	var parts []string
	switch ahead := r.RekeyAt.Sub(s.o.Now); {
	case r.RekeyAt.IsZero():
	case ahead > 0:
		parts = append(parts, "rekey in "+age(ahead))
	default:
		parts = append(parts, "rekey due")
	}
	if !r.LastHandshake.IsZero() {
		parts = append(parts, "handshake "+s.since(r.LastHandshake)+" ago")
	}
	return parts
}

// authorization says what is wrong with a peer's manifest.
func (s *status) authorization(p roster.Peer) {
	s.conditions(p.Manifest, "    ")
}

func (s *status) links(all []roster.Link) {
	if len(all) == 0 {
		return
	}
	s.gap()
	t := grid{titles: []string{"LINK", "ROUTER", "CIDR", "TRANSIT IP", "READY", "AGE"}}
	for _, l := range all {
		row := []string{l.Name, l.Router, l.CIDR, l.TransitIP, l.Ready().Word, s.since(l.Created)}
		for i := range row {
			if row[i] = Plain(row[i]); row[i] == "" {
				row[i] = "-"
			}
		}
		t.rows = append(t.rows, row)
	}
	t.fit(s.o.Width, []string{"TRANSIT IP", "ROUTER"})
	s.line(s.ink.paint(bold, t.head()))
	for i, l := range all {
		s.line(t.line(i, func(title, cell string) string { return s.ready(title == "READY", cell) }))
		s.readiness(l.Ready(), l.Manifest)
		s.conditions(l.Manifest, "  ")
	}
}

func (s *status) strays(all []roster.Peer) {
	if len(all) == 0 {
		return
	}
	s.gap()
	s.line(s.ink.paint(bold, "PEERS WITHOUT A GATEWAY"))
	for _, p := range all {
		s.line(fmt.Sprintf("%s/%s  there is no VPNGateway %s", Plain(p.Namespace), Plain(p.Name), Plain(p.Gateway)))
		s.conditions(p.Manifest, "  ")
	}
}

func (s *status) broken(all []roster.Unreadable) {
	if len(all) > 0 {
		s.gap()
	}
	for _, u := range all {
		s.wrapped(s.ink.sign(signFailed)+" ", 2, Plain(strings.Join(strings.Fields(u.String()), " ")))
	}
}

// gap sets what follows apart.
func (s *status) gap() {
	if s.b.Len() > 0 {
		s.line("")
	}
}

// amount is a number of bytes for people, in binary units.
func amount(n int64) string {
	const units = "KMGTPE"
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	f, i := float64(n)/1024, 0
	for ; f >= 1023.5 && i < len(units)-1; i++ {
		f /= 1024
	}
	if f < 9.95 {
		return fmt.Sprintf("%.1f %ciB", f, units[i])
	}
	return fmt.Sprintf("%.0f %ciB", f, units[i])
}
