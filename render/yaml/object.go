package yaml

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Object writes a Kubernetes object: apiVersion and kind first, without its status.
func Object(apiVersion, kind string, object any) (string, error) {
	data, err := json.Marshal(object)
	if err != nil {
		return "", fmt.Errorf("writing %s: %w", kind, err)
	}
	return convert(apiVersion, kind, data)
}

// FromJSON writes a Kubernetes object that is there as JSON, in the order of its
// keys, with apiVersion and kind first and without its status.
func FromJSON(apiVersion, kind string, data []byte) (string, error) {
	if !json.Valid(data) {
		return "", fmt.Errorf("writing %s: not JSON", kind)
	}
	return convert(apiVersion, kind, data)
}

func convert(apiVersion, kind string, data []byte) (string, error) {
	w := &writer{in: data}
	if w.peek() != '{' {
		return "", fmt.Errorf("writing %s: not an object", kind)
	}
	w.out.Grow(2 * len(data))
	w.out.WriteString("apiVersion: " + Scalar(apiVersion) + "\nkind: " + Scalar(kind) + "\n")
	w.fields(0, false, unwritten)
	return w.out.String(), nil
}

// unwritten are keys of the document that are written before all others, or never.
var unwritten = map[string]bool{"apiVersion": true, "kind": true, "status": true}

// writer turns JSON that is well formed into YAML, in one pass.
type writer struct {
	in  []byte
	pos int
	out strings.Builder
}

// peek is the next byte that is no white space.
func (w *writer) peek() byte {
	for w.in[w.pos] == ' ' || w.in[w.pos] == '\n' || w.in[w.pos] == '\t' || w.in[w.pos] == '\r' {
		w.pos++
	}
	return w.in[w.pos]
}

// take skips the next byte when it is the given one.
func (w *writer) take(c byte) bool {
	if w.peek() != c {
		return false
	}
	w.pos++
	return true
}

// fields writes an object's fields, the first one on the current line if inline.
func (w *writer) fields(indent int, inline bool, skip map[string]bool) {
	w.take('{')
	for !w.take('}') {
		key := w.text()
		w.take(':')
		if skip[key] {
			w.skip()
		} else {
			if !inline {
				w.spaces(indent)
			}
			inline = false
			w.out.WriteString(Scalar(key))
			w.out.WriteByte(':')
			w.value(indent, false)
		}
		w.take(',')
	}
}

// items writes an array's items, the first one on the current line if inline.
func (w *writer) items(indent int, inline bool) {
	w.take('[')
	for !w.take(']') {
		if !inline {
			w.spaces(indent)
		}
		inline = false
		w.out.WriteString("-")
		w.value(indent, true)
		w.take(',')
	}
}

// value writes what stands behind a key or a dash, with its line break. The
// content of an object lies two deeper than the key or dash, an array's dashes as
// deep as the key.
func (w *writer) value(indent int, item bool) {
	switch w.peek() {
	case '{':
		if w.empty('}') {
			w.out.WriteString(" {}\n")
			return
		}
		w.open(item)
		w.fields(indent+2, item, nil)
	case '[':
		if w.empty(']') {
			w.out.WriteString(" []\n")
			return
		}
		w.open(item)
		if item {
			indent += 2
		}
		w.items(indent, item)
	case '"':
		w.string(w.text(), indent+2)
	default:
		start := w.pos
		w.skip()
		w.out.WriteString(" " + string(w.in[start:w.pos]) + "\n")
	}
}

// empty skips an object or array without content.
func (w *writer) empty(end byte) bool {
	start := w.pos
	w.pos++
	if w.take(end) {
		return true
	}
	w.pos = start
	return false
}

func (w *writer) open(item bool) {
	if item {
		w.out.WriteString(" ")
	} else {
		w.out.WriteString("\n")
	}
}

func (w *writer) spaces(n int) {
	for ; n > 0; n-- {
		w.out.WriteByte(' ')
	}
}

// text reads a string.
func (w *writer) text() string {
	w.peek()
	start := w.pos
	w.skip()
	raw := w.in[start:w.pos]
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	if s, ok := unescaped(raw[1 : len(raw)-1]); ok {
		return s
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		panic("yaml: " + err.Error()) // well-formed JSON holds no such string
	}
	return s
}

// unescaped reads the inside of a string with the escapes that files are full of. It
// reports false where there is more to it; package json then takes its time.
func unescaped(raw []byte) (string, bool) {
	if bytes.Contains(raw, []byte(`\u`)) || !utf8.Valid(raw) {
		return "", false
	}
	var s strings.Builder
	s.Grow(len(raw))
	for {
		before, after, found := bytes.Cut(raw, []byte(`\`))
		s.Write(before)
		if !found {
			return s.String(), true
		}
		switch c := after[0]; c {
		case 'n':
			s.WriteByte('\n')
		case 't':
			s.WriteByte('\t')
		case '"', '\\':
			s.WriteByte(c)
		default:
			return "", false
		}
		raw = after[1:]
	}
}

// skip passes over one value.
func (w *writer) skip() {
	depth := 0
	for {
		switch c := w.peek(); {
		case c == '"':
			for w.pos++; w.in[w.pos] != '"'; w.pos++ {
				if w.in[w.pos] == '\\' {
					w.pos++
				}
			}
			w.pos++
		case c == '{' || c == '[':
			depth++
			w.pos++
		case c == '}' || c == ']':
			depth--
			w.pos++
		case c == ',' || c == ':':
			w.pos++
			continue
		default:
			for w.pos < len(w.in) && !strings.ContainsRune(",]} \n\t\r", rune(w.in[w.pos])) {
				w.pos++
			}
		}
		if depth == 0 {
			return
		}
	}
}
