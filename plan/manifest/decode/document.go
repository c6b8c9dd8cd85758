package decode

import (
	"bytes"
	"errors"
	"io"

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
