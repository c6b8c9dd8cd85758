package view

import (
	"fmt"
	"strings"
)

// reserve is kept free for the note that says what was cut, and for closing
// what is open.
const reserve = 400

// diffs writes one folded block per gateway until the comment is full. What
// doesn't fit is cut from the bottom up.
func (m *markdown) diffs() {
	all := blocks(m.p)
	cut, lost := 0, 0
	for _, b := range all {
		if b.quiet() || len(b.changes)+len(b.kept) == 0 {
			continue
		}
		lines := m.plain(b)
		room := MarkdownLimit - reserve - m.b.Len()
		if cut > 0 || room < fold(nil, b, m.p.Estate)+overhead {
			cut++
			continue
		}
		kept := fit(lines, room-fold(nil, b, m.p.Estate))
		lost += len(lines) - len(kept)
		m.fold(b, kept)
	}
	switch {
	case cut > 0 && lost > 0:
		m.line(fmt.Sprintf("_Cut to fit: %s of the last diff shown and the diffs of %s._", count(lost, "line"), count(cut, "gateway")))
	case cut > 0:
		m.line(fmt.Sprintf("_Cut to fit: the diffs of %s._", count(cut, "gateway")))
	case lost > 0:
		m.line(fmt.Sprintf("_Cut to fit: %s of the last diff._", count(lost, "line")))
	}
}

// plain is the block as the text plan shows it, without its title.
func (m *markdown) plain(b *block) []string {
	t := &text{p: m.p, o: Options{Header: m.o.Header, Verbose: m.o.Verbose, Width: widest}}
	t.body(b)
	lines := strings.Split(strings.TrimSuffix(t.b.String(), "\n"), "\n")
	for i, line := range lines {
		lines[i] = marked(t.signs[i], line)
	}
	return lines
}

// marked brings the sign of a line to its front, where a diff block colours it.
// Every other line begins with a space, whatever stands in it.
func marked(sign byte, line string) string {
	at := strings.IndexByte(line, sign)
	switch {
	case sign == ' ' || at < 0:
		return " " + line
	case sign == '@':
		return "@@" + strings.Repeat(" ", at-1) + strings.TrimPrefix(line[at:], "@@")
	}
	return string(sign) + line[:at] + " " + line[at+1:]
}

// overhead bounds what surrounds a folded diff besides its title.
const overhead = 120

// fold is the room that a folded diff takes besides its lines.
func fold(lines []string, b *block, estate string) int {
	n := overhead + len(summary(b, estate))
	for _, line := range lines {
		n += len(line) + 1
	}
	return n
}

func summary(b *block, estate string) string {
	return html(clip(b.title(estate), cellLimit)) + ": " + html(b.verdict())
}

// fit keeps as many lines as there is room for.
func fit(lines []string, room int) []string {
	for i, line := range lines {
		if room -= len(line) + 1; room < 0 {
			return lines[:i]
		}
	}
	return lines
}

func (m *markdown) fold(b *block, lines []string) {
	fence := fenceFor(lines)
	m.line()
	m.line("<details><summary>", summary(b, m.p.Estate), "</summary>")
	m.line()
	m.line(fence, "diff")
	for _, line := range lines {
		m.line(line)
	}
	m.line(fence)
	m.line()
	m.line("</details>")
}
