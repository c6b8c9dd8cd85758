package view

import (
	"fmt"
	"strings"
)

// prose makes a string safe in running markdown and in table cells: no
// character of it can start markup, a link, a mention, a reference or HTML.
func prose(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune("&<>|`*_[]{}#@~\\!^$", r) {
			fmt.Fprintf(&b, "&#%d;", r)
		} else {
			b.WriteRune(r)
		}
	}
	return links.Replace(b.String())
}

// links would become links without any markup.
var links = strings.NewReplacer("://", "&#58;//", "www.", "www&#46;", "WWW.", "WWW&#46;")

// html is prose for the inside of an HTML element, where markdown is not read.
func html(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

// fenceFor is a fence longer than any run of backticks in the lines.
func fenceFor(lines []string) string {
	longest := 2
	for _, line := range lines {
		run := 0
		for _, r := range line {
			if r != '`' {
				run = 0
				continue
			}
			run++
			longest = max(longest, run)
		}
	}
	return strings.Repeat("`", longest+1)
}
