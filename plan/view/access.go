package view

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/vpnctl/vpnctl/plan"
)

// row is one line of the reachability table, its texts harmless.
type row struct {
	who, arrow, what string // the arrow points from who opens the connection to who answers it
	before, after    string
	note             string
	opens, closes    bool // neither: it stays, it is held, or nobody knows
	widens           bool // what is reached is more, or something else
}

// table are the rows that change, or with all of them every one: ranges on our
// side, then peers. Same counts the rows that are left out.
func table(p plan.Plan, all bool) (rows []row, same int) {
	for _, s := range p.Sources {
		rows = append(rows, sourceRow(s))
	}
	for _, a := range p.Access {
		if r := accessRow(a); all || r.before != r.after {
			rows = append(rows, r)
		} else {
			same++
		}
	}
	return rows, same
}

func accessRow(a plan.Access) row {
	r := row{who: Plain(PeerName(a.Gateway, a.Peer)), arrow: "→", what: Plain(a.Gateway.Name + "/" + a.Exposure),
		before: cell(a.Before, a.BeforeUnknown), after: cell(a.After, a.AfterUnknown), note: Plain(a.Note)}
	if a.Reverse {
		r.arrow = "←"
	}
	if a.Width != "" {
		r.after = Plain(string(a.Width))
	}
	if a.Held {
		r.note = strings.TrimSuffix("held: "+r.note, ": ")
		return r
	}
	if was, is := open(a.Before), open(a.After); !a.BeforeUnknown {
		r.opens, r.closes = is && !was, was && !is
	}
	r.widens = a.Width == plan.Wider || a.Width == plan.Other
	return r
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

// legend explains the question mark, once.
func (h Header) legend() string {
	what := "files"
	if h.Cluster {
		what = "ConfigMaps"
	}
	return "? not known: the " + what + " that say what was rendered are not there, or can't be read"
}

// unsure tells whether the rows need the legend.
func unsure(rows []row) bool {
	return slices.ContainsFunc(rows, func(r row) bool { return r.before == cell(nil, true) })
}

// access writes the reachability table: who reaches what, before and after.
// Rows that stay as they are are only counted, unless all was asked for.
func (t *text) access() {
	rows, same := table(t.p, t.o.Verbose)
	if len(rows) == 0 {
		return
	}
	who, what := 20, 14
	for _, r := range rows {
		who = max(who, utf8.RuneCountInString(r.who))
		what = max(what, utf8.RuneCountInString(r.what))
	}
	t.line()
	t.line(t.ink.paint(bold, pad("Who reaches what", who+what+7)+"before    after"))
	for _, r := range rows {
		t.row(r, who, what)
	}
	if same > 0 {
		t.line("  ", t.ink.paint(dim, fmt.Sprintf("%d more as before", same)))
	}
	if unsure(rows) {
		t.line("  ", t.ink.paint(dim, t.o.Header.legend()))
	}
}

// row writes one line; a note that is too long stands below it.
func (t *text) row(r row, who, what int) {
	note, below := r.note, ""
	if 2+who+3+what+2+10+10+length(note) > t.o.columns() {
		note, below = "", note
	}
	t.line("  ", pad(r.who, who), " ", r.arrow, " ", pad(r.what, what), "  ",
		pad(r.before, 10), t.ink.paint(r.color(), pad(r.after, 10)), note)
	if below != "" {
		t.line(detailIndent, below)
	}
}

func (r row) color() string {
	switch {
	case r.opens, r.widens:
		return green
	case r.closes:
		return red
	}
	return ""
}
