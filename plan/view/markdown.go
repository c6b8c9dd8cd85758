package view

import (
	"fmt"
	"io"
	"strings"

	"github.com/vpnctl/vpnctl/plan"
)

// MarkdownLimit is more than Markdown ever writes, in bytes: a comment of a
// pull request holds a little more.
const MarkdownLimit = 60_000

// What each part may use of the whole; the folded diffs get what is left.
const (
	refusalShare = 12_000
	gatewayShare = 24_000
	accessShare  = 12_000
	noticeShare  = 3_000
	cellLimit    = 200
)

// Markdown writes a plan as a comment of a pull request: what needs a decision
// first, then one folded diff per gateway. It is always shorter than
// MarkdownLimit: diffs that don't fit are cut from the bottom up, and a note
// says what was cut.
func Markdown(w io.Writer, p plan.Plan, o Options) error {
	m := &markdown{p: p, o: o, tally: sum(p)}
	m.head()
	m.refusals()
	m.gateways()
	m.access()
	m.notices()
	m.diffs()
	return write(w, m.b.String())
}

type markdown struct {
	b     strings.Builder
	p     plan.Plan
	o     Options
	tally tally
}

func (m *markdown) line(parts ...string) {
	m.b.WriteString(strings.Join(parts, ""))
	m.b.WriteByte('\n')
}

func (m *markdown) head() {
	title := m.tally.counts()
	switch {
	case len(m.p.Refusals) > 0:
		title = count(len(m.p.Refusals), "refusal") + ", " + title
	case m.tally.Pending() == 0:
		title = "no changes"
		if t := m.tally; t.Held > 0 {
			title += " now, " + t.held()
		}
	}
	if blocked := m.tally.blocked; len(blocked) > 0 {
		title += ", " + company(blocked) + " blocked"
	}
	if m.tally.Worst > plan.ImpactNone {
		title += ", impact: " + m.tally.Worst.String()
	}
	if m.p.Denied != nil {
		title = "denied, " + title
	}
	m.line("### vpnctl plan: ", title)
	if m.p.Denied != nil {
		m.line()
		m.line("**", prose(upper(Denial(*m.p.Denied))), "**")
	}
	m.line()
	m.line(prose(headline(m.p, m.o.Header)))
	for _, s := range m.tally.sentences(m.p.Refusals) {
		m.line()
		m.line(prose(s))
	}
}

// rows writes lines of a table or a list until their share is used up, and
// counts the rest.
func (m *markdown) rows(lines []string, share int, noun string) {
	used := 0
	for i, line := range lines {
		if used += len(line) + 1; used > share {
			m.line()
			m.line(fmt.Sprintf("_… and %s: see the text plan._", count(len(lines)-i, "more "+noun)))
			return
		}
		m.line(line)
	}
}

func (m *markdown) refusals() {
	if len(m.p.Refusals) == 0 {
		return
	}
	m.line()
	m.line("**Refused**")
	m.line()
	var lines []string
	for _, r := range m.p.Refusals {
		line := "- " + prose(clip(refusal(r), 3*cellLimit))
		if r.Hint != "" {
			line += "<br>hint: " + prose(clip(Plain(r.Hint), 3*cellLimit))
		}
		lines = append(lines, line)
	}
	m.rows(lines, refusalShare, "refusal")
}

func (m *markdown) gateways() {
	var lines []string
	for _, b := range blocks(m.p) {
		if len(b.changes)+len(b.refused) == 0 && b.Blocked == "" {
			continue
		}
		lines = append(lines, fmt.Sprintf("| %s | %s | %s | %s |", prose(clip(b.title(m.p.Estate), cellLimit)),
			actions(b), prose(clip(judgement(b), cellLimit)), prose(clip(names(b.interrupted(), 5), cellLimit))))
	}
	if len(lines) == 0 {
		return
	}
	m.line()
	m.line("| gateway | changes | verdict | interrupted |")
	m.line("| --- | --- | --- | --- |")
	m.rows(lines, gatewayShare, "gateway")
}

// judgement is the verdict, and why where nothing else in the table says it.
func judgement(b *block) string {
	if b.Blocked != "" {
		return "blocked: " + Plain(b.Blocked)
	}
	return b.verdict()
}

// actions writes "+3 ~1 -0" with only the signs that occur.
func actions(b *block) string {
	figures := map[string]int{}
	for c := range plan.Counted(b.changes) {
		if c.Held != "" {
			figures[signHeld]++
		} else {
			figures[c.Action.Sign()]++
		}
	}
	var parts []string
	for _, sign := range []string{"+", "~", "±", ">", "<", "-", "="} {
		if n := figures[sign]; n > 0 {
			parts = append(parts, prose(fmt.Sprintf("%s%d", sign, n)))
		}
	}
	return strings.Join(parts, " ")
}

func (m *markdown) access() {
	rows, _ := table(m.p, false)
	if len(rows) == 0 {
		return
	}
	var lines []string
	for _, r := range rows {
		after := r.after
		if r.closes || r.widens {
			after = "**" + after + "**"
		}
		lines = append(lines, fmt.Sprintf("| %s | %s %s | %s | %s | %s |", prose(clip(r.who, cellLimit)), r.arrow,
			prose(clip(r.what, cellLimit)), r.before, after, prose(clip(r.note, cellLimit))))
	}
	m.line()
	m.line("| who | reaches what | before | after | |")
	m.line("| --- | --- | --- | --- | --- |")
	m.rows(lines, accessShare, "row")
	if unsure(rows) {
		m.line()
		m.line(prose(m.o.Header.legend()))
	}
}

func (m *markdown) notices() {
	var lines []string
	for _, n := range m.p.Notices {
		line := n.Message
		if !n.Owner.IsZero() {
			line = n.Owner.Path() + ": " + line
		}
		lines = append(lines, "- "+prose(clip(Plain(line), 2*cellLimit)))
	}
	if len(lines) > 0 {
		m.line()
		m.rows(lines, noticeShare, "notice")
	}
}
