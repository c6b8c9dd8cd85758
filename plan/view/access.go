package view

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/vpnctl/vpnctl/plan"
)

// access writes the reachability table: who reaches what, before and after.
// Rows that stay as they are are only counted, unless all was asked for.
func (t *text) access() {
	rows, same := t.rows()
	if len(rows) == 0 {
		return
	}
	peers, exposures := 20, 14
	for _, a := range rows {
		peers = max(peers, utf8.RuneCountInString(accessPeer(a)))
		exposures = max(exposures, utf8.RuneCountInString(accessExposure(a)))
	}
	t.line()
	t.line(t.ink.paint(bold, pad("Who reaches what", peers+exposures+7)+"before    after"))
	for _, a := range rows {
		t.row(a, peers, exposures)
	}
	if same > 0 {
		t.line("  ", t.ink.paint(dim, fmt.Sprintf("%d more as before", same)))
	}
	if unsure(rows) {
		t.line("  ", t.ink.paint(dim, legend))
	}
}

// legend explains the question mark, once.
const legend = "? not known: the files that say what was rendered are not there, or can't be read"

// unsure tells whether a row that changes needs the legend.
func unsure(rows []plan.Access) bool {
	return slices.ContainsFunc(rows, func(a plan.Access) bool { return a.BeforeUnknown && changed(a) })
}

// row is one line of the table; a note that is too long stands below it.
func (t *text) row(a plan.Access, peers, exposures int) {
	note, below := Plain(a.Note), ""
	if 2+peers+3+exposures+2+10+10+length(note) > t.o.columns() {
		note, below = "", note
	}
	t.line("  ", pad(accessPeer(a), peers), " ", arrow(a), " ", pad(accessExposure(a), exposures), "  ",
		pad(before(a), 10), t.ink.paint(accessColor(a), pad(after(a), 10)), note)
	if below != "" {
		t.line(detailIndent, below)
	}
}

func (t *text) rows() (rows []plan.Access, same int) {
	for _, a := range t.p.Access {
		if t.o.Verbose || changed(a) {
			rows = append(rows, a)
		} else {
			same++
		}
	}
	return rows, same
}

func changed(a plan.Access) bool { return before(a) != after(a) }

func before(a plan.Access) string { return cell(a.Before, a.BeforeUnknown) }
func after(a plan.Access) string  { return cell(a.After, a.AfterUnknown) }

func accessPeer(a plan.Access) string     { return Plain(PeerName(a.Gateway, a.Peer)) }
func accessExposure(a plan.Access) string { return Plain(a.Gateway.Name + "/" + a.Exposure) }

// arrow points from who opens the connection to who answers it.
func arrow(a plan.Access) string {
	if a.Reverse {
		return "←"
	}
	return "→"
}

func cell(b *bool, unknown bool) string {
	switch {
	case unknown:
		return "?"
	case b == nil:
		return "–"
	case *b:
		return "yes"
	}
	return "no"
}

func accessColor(a plan.Access) string {
	switch was, is := open(a.Before), open(a.After); {
	case a.BeforeUnknown:
		return ""
	case is && !was:
		return green
	case was && !is:
		return red
	}
	return ""
}
