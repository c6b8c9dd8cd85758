package yaml

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// string writes a text behind a key or dash: as a literal block where it has lines,
// else on the same line.
func (w *writer) string(s string, indent int) {
	if !isBlock(s) {
		w.out.WriteString(" " + Scalar(s) + "\n")
		return
	}
	body := strings.TrimRight(s, "\n")
	switch len(s) - len(body) {
	case 0:
		w.out.WriteString(" |-\n")
	case 1:
		w.out.WriteString(" |\n")
	default:
		w.out.WriteString(" |+\n")
		body = s[:len(s)-1]
	}
	for line := range strings.SplitSeq(body, "\n") {
		if line != "" {
			w.spaces(indent)
		}
		w.out.WriteString(line)
		w.out.WriteByte('\n')
	}
}

// isBlock tells whether a literal block gives the text back unchanged: it has
// lines, starts with something visible, and every character stands for itself.
func isBlock(s string) bool {
	if !strings.Contains(s, "\n") || s[0] == ' ' || s[0] == '\t' || s[0] == '\n' {
		return false
	}
	for _, r := range s {
		if r != '\n' && r != '\t' && !printable(r) {
			return false
		}
	}
	return true
}

// Scalar writes a text on one line, plain where no reader could mistake it.
func Scalar(s string) string {
	if isPlain(s) {
		return s
	}
	return quote(s)
}

// isPlain is deliberately narrow: a letter or slash first, then what names, paths
// and images are made of.
func isPlain(s string) bool {
	if s == "" || reserved(s) {
		return false
	}
	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		switch {
		case letter || r == '/':
		case i > 0 && (r >= '0' && r <= '9' || strings.ContainsRune("-_.@", r)):
		case i > 0 && r == ':' && i+1 < len(s): // "key:" would be a map
		default:
			return false
		}
	}
	return true
}

// reserved are the words that YAML 1.1 reads as something else than a text.
func reserved(s string) bool {
	if len(s) > 5 {
		return false
	}
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null":
		return true
	}
	return false
}

func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case printable(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// printable leaves out what YAML wants escaped, or what a reader takes for a line
// break or a byte order mark.
func printable(r rune) bool {
	return r < utf8.RuneSelf && r >= ' ' && r != 0x7f || r >= 0xa0 && unicode.IsPrint(r)
}
