package view

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Plain makes a string harmless on a terminal and keeps it on one line: every
// control character, every invisible or direction-changing character and every
// byte that is no UTF-8 becomes a visible escape such as \x1b.
func Plain(s string) string { return escape(s, false) }

// plainText is Plain for text of several lines: tabs stay.
func plainText(s string) string { return escape(s, true) }

func escape(s string, tabs bool) string {
	if harmless(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\t' && tabs:
			b.WriteByte('\t')
		case visible(r):
			b.WriteString(s[i : i+size])
		case r < 0x100:
			b.WriteString(short(r))
		default:
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
		i += size
	}
	return b.String()
}

func short(r rune) string {
	switch r {
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	}
	return fmt.Sprintf(`\x%02x`, r)
}

func harmless(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// visible tells whether a rune shows as what it is. Format characters (Cf) are
// not: they hide text or turn its direction.
func visible(r rune) bool {
	return r == ' ' || unicode.IsGraphic(r) && !unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}

// clip shortens a string to at most n characters.
func clip(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// pad fills a string with spaces up to n characters.
func pad(s string, n int) string {
	if w := utf8.RuneCountInString(s); w < n {
		return s + strings.Repeat(" ", n-w)
	}
	return s
}
