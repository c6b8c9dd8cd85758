package decode

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// clean prepares bytes for the YAML reader: a byte order mark is dropped, and
// text that isn't UTF-8 or holds control characters is refused where it stands.
func clean(data []byte) ([]byte, *Problem) {
	if bytes.HasPrefix(data, []byte{0xff, 0xfe}) || bytes.HasPrefix(data, []byte{0xfe, 0xff}) {
		return nil, &Problem{Line: 1, Column: 1, Message: "the file is UTF-16", Hint: "save it as UTF-8"}
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	line, column := 1, 1
	for i := 0; i < len(data); {
		c := data[i]
		if c == '\n' {
			line, column, i = line+1, 1, i+1
			continue
		}
		size := 1
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRune(data[i:])
			if r == utf8.RuneError && n == 1 {
				return nil, &Problem{Line: line, Column: column, Message: fmt.Sprintf("byte 0x%02x is not UTF-8", c), Hint: "save the file as UTF-8"}
			}
			if message := forbidden(r); message != "" {
				return nil, &Problem{Line: line, Column: column, Message: message}
			}
			size = n
		} else if message := forbidden(rune(c)); message != "" {
			return nil, &Problem{Line: line, Column: column, Message: message}
		}
		column, i = column+1, i+size
	}
	return data, nil
}

// forbidden says why a character may not stand in a manifest.
func forbidden(r rune) string {
	switch {
	case r == 0:
		return "a NUL byte: this is not a text file"
	case r == '\t' || r == '\r':
		return ""
	case r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0 && r != 0x85:
		return fmt.Sprintf("control character U+%04X", r)
	case r == 0xfeff:
		return "a byte order mark inside the text"
	case r == 0xfffe || r == 0xffff:
		return fmt.Sprintf("character U+%04X, which is not one", r)
	}
	return ""
}

// chunk is one YAML document of a stream and the line that it starts on.
type chunk struct {
	text []byte
	line int // lines before it
}

// split cuts a stream at its document separators. A line that starts with ---
// can be nothing else: scalars that span lines are indented, or end before it.
// Cutting first keeps one broken document from hiding the next.
func split(data []byte) []chunk {
	var out []chunk
	start, startLine, line := 0, 0, 0
	for pos := 0; pos < len(data); line++ {
		end := bytes.IndexByte(data[pos:], '\n')
		next := len(data)
		if end >= 0 {
			next = pos + end + 1
		}
		if pos > start && separator(data[pos:next]) {
			out = append(out, chunk{data[start:pos], startLine})
			start, startLine = pos, line
		}
		pos = next
	}
	return append(out, chunk{data[start:], startLine})
}

// separator tells whether a line starts a document.
func separator(line []byte) bool {
	if !bytes.HasPrefix(line, []byte("---")) {
		return false
	}
	return len(line) == 3 || bytes.IndexByte([]byte(" \t\r\n"), line[3]) >= 0
}
