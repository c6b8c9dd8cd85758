package view

import (
	"strings"
	"unicode/utf8"
)

// The widths of a text plan, in characters.
const (
	unknownWidth = 80
	widest       = 100 // a line that is longer than this is hard to read
)

// columns is the width that lines keep to, where words and lists allow it.
func (o Options) columns() int {
	if o.Width == 0 {
		return unknownWidth
	}
	return max(40, min(widest, o.Width))
}

func length(s string) int { return utf8.RuneCountInString(s) }

const dot = " · "

// wrap breaks a text into lines of at most width characters: where its parts
// meet, and within a part only where that one is too long for a line.
func wrap(s string, width int) []string {
	if length(s) <= width {
		return []string{s}
	}
	var lines []string
	open := ""
	for _, part := range strings.Split(s, dot) {
		switch {
		case open == "":
			open = part
		case length(open)+length(dot)+length(part)+2 <= width: // 2: another dot may follow
			open += dot + part
			continue
		default:
			lines = append(lines, open+strings.TrimRight(dot, " "))
			open = part
		}
		broken := words(open, width)
		lines = append(lines, broken[:len(broken)-1]...)
		open = broken[len(broken)-1]
	}
	return append(lines, open)
}

// words breaks a text between words; a word that is too long stays whole.
func words(s string, width int) []string {
	var lines []string
	open := ""
	for _, word := range strings.Split(s, " ") {
		switch {
		case open == "":
			open = word
		case length(open)+1+length(word) <= width:
			open += " " + word
		default:
			lines = append(lines, open)
			open = word
		}
	}
	return append(lines, open)
}
