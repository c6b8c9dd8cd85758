package decode

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Document is one YAML or JSON document of a stream, at its place in it.
type Document struct {
	Index int // from 1, empty documents counted
	Root  *Value
}

// Documents reads a stream of YAML documents, or one JSON text. Empty documents
// are left out. A document that can't be read is a problem; the others are
// still returned.
func Documents(data []byte) ([]Document, []Problem) {
	data, problem := clean(data)
	if problem != nil {
		return nil, []Problem{*problem}
	}
	var docs []Document
	var problems []Problem
	for i, c := range split(data) {
		root, found := parse(c)
		problems = append(problems, found...)
		if root != nil && root.Kind != Null && len(found) == 0 {
			docs = append(docs, Document{Index: i + 1, Root: root})
		}
	}
	return docs, problems
}

// parse reads one document; a nil value without a problem is an empty one.
func parse(c chunk) (*Value, []Problem) {
	var node yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(c.text))
	switch err := dec.Decode(&node); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, []Problem{syntax(c, err)}
	}
	var more yaml.Node
	switch err := dec.Decode(&more); {
	case errors.Is(err, io.EOF):
	case err != nil:
		return nil, []Problem{syntax(c, err)}
	default:
		return nil, []Problem{{Line: more.Line + c.line, Column: more.Column, Message: "a second document without --- before it"}}
	}
	if len(node.Content) == 0 {
		return nil, nil
	}
	r := resolver{offset: c.line}
	return r.value(node.Content[0], "", 0), r.problems
}

// yamlLine is how the YAML reader names a line in its errors.
var yamlLine = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?`)

// fromZero matches the errors whose line counts from 0: those of the YAML
// reader's parser, as against its scanner.
var fromZero = regexp.MustCompile(`^did not find expected (<|node content|key|'-' indicator|',' or)`)

// syntax turns an error of the YAML reader into a problem. It gives a line at
// best, so the column is where text starts.
func syntax(c chunk, err error) Problem {
	text := err.Error()
	line := 1
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1])
		text = text[len(m[0]):]
	}
	if fromZero.MatchString(text) {
		line++
	}
	lines := bytes.Split(c.text, []byte("\n"))
	line = min(max(line, 1), len(lines))
	p := Problem{Line: line + c.line, Message: fmt.Sprintf("not YAML: %s", text)}
	if tab := tabbed(lines, line); tab > 0 {
		p.Line, p.Column = tab+c.line, 1
		p.Message = "not YAML: a tab used for indentation"
		p.Hint = "indent with spaces"
		return p
	}
	p.Column = 1 + len(lines[line-1]) - len(bytes.TrimLeft(lines[line-1], " "))
	if strings.Contains(text, "unexpected end") || strings.Contains(text, "end of stream") {
		p.Hint = "the file ends too early"
	}
	return p
}

// tabbed finds a line indented by a tab at or next to the one given.
func tabbed(lines [][]byte, line int) int {
	for _, n := range []int{line, line + 1, line - 1} {
		if n < 1 || n > len(lines) {
			continue
		}
		text := bytes.TrimLeft(lines[n-1], " ")
		if bytes.HasPrefix(text, []byte("\t")) {
			return n
		}
	}
	return 0
}
