package manifest

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/vpnctl/vpnctl/plan/manifest/decode"
)

// object is one manifest: a document, or an item of a List.
type object struct {
	file      string
	document  int
	placeless bool // built by a kustomization: lines mean nothing
	root      *decode.Value
	base      *object // what it was built from; without a root where only its file is known

	apiVersion, kind, namespace, name string

	broken []string // fields that could not be read
	bad    bool     // an error was reported
}

// position of a field, or of the object for "".
func (o *object) position(field string) Position {
	if o.placeless {
		return o.origin(field)
	}
	line, column := o.root.At(field)
	return Position{o.file, line, column}
}

// documentAt is the number of the object's document in the file of a position.
func (o *object) documentAt(at Position) int {
	if o.base != nil && at.File == o.base.file {
		return o.base.document
	}
	return o.document
}

// path is namespace/name, or the name of a cluster-scoped object.
func (o *object) path() string {
	if o.namespace == "" {
		return o.name
	}
	return o.namespace + "/" + o.name
}

// String names the object in a diagnostic.
func (o *object) String() string {
	return strings.TrimSpace(o.kind + " " + o.path())
}

// check collects what is wrong with one object.
type check struct {
	*object
	found *Diagnostics
}

// refusal is why a value isn't accepted, and what to do if that is known.
type refusal struct {
	message, hint string
}

func refuse(format string, args ...any) *refusal {
	return &refusal{message: fmt.Sprintf(format, args...)}
}

// with adds a hint.
func (r *refusal) with(format string, args ...any) *refusal {
	r.hint = fmt.Sprintf(format, args...)
	return r
}

// fail reports an error at a field.
func (c check) fail(field string, r *refusal, related ...Position) {
	c.report(Error, field, r, related)
}

// warn reports something that has another effect than its author may think.
func (c check) warn(field string, r *refusal, related ...Position) {
	c.report(Warning, field, r, related)
}

// report leaves out what follows from a field that could not be read.
func (c check) report(s Severity, field string, r *refusal, related []Position) {
	for _, b := range c.broken {
		if within(field, b) || within(b, field) {
			return
		}
	}
	c.bad = c.bad || s == Error
	at := c.position(field)
	*c.found = append(*c.found, Diagnostic{
		File: at.File, Line: at.Line, Column: at.Column, Document: c.documentAt(at),
		Object: c.String(), Field: field, Message: r.message, Hint: r.hint, Severity: s, Related: related,
	})
}

// has tells whether a field was written, whatever its value.
func (c check) has(field string) bool {
	v := c.root.Find(field)
	return v != nil && v.Kind != decode.Null
}

// unreadable reports what the decoder found, and remembers where.
func (c check) unreadable(problems []decode.Problem) {
	for _, p := range problems {
		p.Hint = cmp.Or(c.meant(p), p.Hint)
		if quantity(p.Message) {
			p.Message = quoted(c.root.Find(p.Field).Text) + " is not a quantity"
		}
		at := Position{c.file, p.Line, p.Column}
		if c.placeless {
			at = c.origin(p.Field)
		}
		*c.found = append(*c.found, Diagnostic{
			File: at.File, Line: at.Line, Column: at.Column, Document: c.documentAt(at),
			Object: c.String(), Field: p.Field, Message: p.Message, Hint: p.Hint, Severity: Error,
		})
		c.broken, c.bad = append(c.broken, p.Field), true
	}
}

// empty refuses a text that was written and says nothing, where admission would.
func (c check) empty(field string) {
	if c.has(field) {
		c.fail(field, refuse("an empty text").with("remove the field for the default"))
	}
}

// within tells whether a field path is another one or lies below it.
func within(field, above string) bool {
	rest, ok := strings.CutPrefix(field, above)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// read parses the text of a field that is optional. A refusal is reported, and
// both that and empty text give the zero value.
func read[S ~string, T any](c check, field string, text S, parse func(string) (T, *refusal)) T {
	var zero T
	if text == "" {
		return zero
	}
	v, no := parse(string(text))
	if no != nil {
		c.fail(field, no)
		return zero
	}
	return v
}

// quoted shows a value in a message, shortened.
func quoted[S ~string](s S) string {
	text := string(s)
	if len(text) > 80 {
		text = strings.ToValidUTF8(text[:80], "") + "…"
	}
	return strconv.Quote(text)
}

// did turns a near miss into a hint.
func (r *refusal) did(name string, candidates []string) *refusal {
	if near := decode.Nearest(name, candidates); near != "" {
		r.hint = near + "?"
	}
	return r
}
