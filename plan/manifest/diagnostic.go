package manifest

import (
	"cmp"
	"fmt"
	"slices"
)

// Severity of a diagnostic.
type Severity string

// The severities. A note is about something that was left out on purpose.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Note    Severity = "note"
)

// Position is a place in a manifest. Line and Column count from 1; both are 0
// for a whole file, and where a kustomization has made the object what it is.
type Position struct {
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

// String writes file:line:column, or the file alone.
func (p Position) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// compare orders positions by file, line and column.
func (p Position) compare(q Position) int {
	return cmp.Or(cmp.Compare(p.File, q.File), cmp.Compare(p.Line, q.Line), cmp.Compare(p.Column, q.Column))
}

// Diagnostic is one thing to tell about one place of a manifest.
type Diagnostic struct {
	File     string     `json:"file"`
	Line     int        `json:"line,omitempty"`
	Column   int        `json:"column,omitempty"`
	Document int        `json:"document,omitempty"` // of the file, from 1
	Object   string     `json:"object,omitempty"`   // Kind namespace/name
	Field    string     `json:"field,omitempty"`    // spec.tunnels[0].peer.id
	Message  string     `json:"message"`
	Hint     string     `json:"hint,omitempty"`
	Severity Severity   `json:"severity"`
	Related  []Position `json:"related,omitempty"` // other places that the message speaks of
}

// Position of the diagnostic.
func (d Diagnostic) Position() Position { return Position{d.File, d.Line, d.Column} }

// Diagnostics are everything to tell about one reading.
type Diagnostics []Diagnostic

// Errors counts the errors: with any, nothing else of the reading may be used.
func (d Diagnostics) Errors() int { return d.count(Error) }

// Warnings counts the warnings.
func (d Diagnostics) Warnings() int { return d.count(Warning) }

func (d Diagnostics) count(s Severity) int {
	n := 0
	for i := range d {
		if d[i].Severity == s {
			n++
		}
	}
	return n
}

// Summary counts errors and warnings in words.
func (d Diagnostics) Summary(files int) string {
	return fmt.Sprintf("%s, %s in %s", counted(d.Errors(), "error"), counted(d.Warnings(), "warning"), counted(files, "file"))
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// sort puts diagnostics in the order of their places and drops repetitions.
func (d Diagnostics) sort() Diagnostics {
	slices.SortStableFunc(d, func(a, b Diagnostic) int {
		return cmp.Or(a.Position().compare(b.Position()), cmp.Compare(a.Document, b.Document),
			cmp.Compare(a.Object, b.Object), cmp.Compare(a.Field, b.Field), cmp.Compare(a.Message, b.Message))
	})
	type sentence struct {
		at                     Position
		object, field, message string
	}
	told := map[sentence]bool{}
	return slices.DeleteFunc(d, func(x Diagnostic) bool {
		s := sentence{x.Position(), x.Object, x.Field, x.Message}
		if x.Line > 0 { // two objects built from one place have one mistake
			s.object = ""
		}
		again := told[s]
		told[s] = true
		return again
	})
}
