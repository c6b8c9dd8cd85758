package decode

import (
	"slices"
	"strconv"
	"strings"
)

// Kind is the shape of a Value.
type Kind int

// The shapes. Number covers integers and fractions as they are written.
const (
	Null Kind = iota
	Bool
	Number
	String
	List
	Map
)

// String names the kind as a reader of a manifest would.
func (k Kind) String() string {
	return [...]string{"nothing", "a boolean", "a number", "a string", "a list", "a mapping"}[k]
}

// Value is one node of a document, with aliases and merge keys resolved.
type Value struct {
	Kind   Kind
	Text   string // of a scalar, as written
	Plain  bool   // a scalar without quotes
	Line   int    // from 1
	Column int    // from 1, in characters
	Items  []*Value
	Fields []Field // in the order written, names unique
}

// Field is one entry of a mapping.
type Field struct {
	Name   string
	Line   int
	Column int
	Value  *Value
}

// Problem is what is wrong at one place of a document. Field is empty where no
// field can be named, as with text that isn't YAML.
type Problem struct {
	Line    int
	Column  int
	Field   string
	Message string
	Hint    string
}

// Get returns the value of a field of a mapping, or nil.
func (v *Value) Get(name string) *Value {
	if v == nil {
		return nil
	}
	for i := range v.Fields {
		if v.Fields[i].Name == name {
			return v.Fields[i].Value
		}
	}
	return nil
}

// Without returns the mapping without some of its fields. Other kinds are
// returned as they are.
func (v *Value) Without(names ...string) *Value {
	if v == nil || v.Kind != Map {
		return v
	}
	out := *v
	out.Fields = nil
	for _, f := range v.Fields {
		if !slices.Contains(names, f.Name) {
			out.Fields = append(out.Fields, f)
		}
	}
	return &out
}

// At finds the place of a field path such as spec.tunnels[0].peer.id: the key
// of a mapping's entry, or an item of a list. Where the path ends early it is
// the place of the last part that exists.
func (v *Value) At(path string) (line, column int) {
	line, column = v.Line, v.Column
	for path != "" && v != nil {
		name, rest := step(path)
		next := v.child(name)
		if next == nil {
			return line, column
		}
		v, line, column, path = next.Value, next.Line, next.Column, rest
	}
	return line, column
}

// Find returns the value at a field path, or nil.
func (v *Value) Find(path string) *Value {
	for path != "" && v != nil {
		name, rest := step(path)
		next := v.child(name)
		if next == nil {
			return nil
		}
		v, path = next.Value, rest
	}
	return v
}

// Equal tells whether two values say the same, wherever and however they are
// written. The order of a mapping's entries says nothing.
func (v *Value) Equal(o *Value) bool {
	if v == nil || o == nil {
		return v == o
	}
	if v.Kind != o.Kind || v.Text != o.Text || len(v.Fields) != len(o.Fields) {
		return false
	}
	for _, f := range v.Fields {
		if other := o.Get(f.Name); other == nil || !f.Value.Equal(other) {
			return false
		}
	}
	return slices.EqualFunc(v.Items, o.Items, (*Value).Equal)
}

// child finds an entry by its name, or an item by its index in brackets.
func (v *Value) child(name string) *Field {
	if v.Kind == List {
		i, ok := index(name)
		if !ok || i >= len(v.Items) {
			return nil
		}
		item := v.Items[i]
		return &Field{Name: name, Line: item.Line, Column: item.Column, Value: item}
	}
	for i := range v.Fields {
		if v.Fields[i].Name == name {
			return &v.Fields[i]
		}
	}
	return nil
}

// step cuts the first part off a path: a.b, a[0].b, [0].b and ["x.y"].b lose
// a, a, [0] and x.y.
func step(path string) (name, rest string) {
	path = strings.TrimPrefix(path, ".")
	if quoted, err := strconv.QuotedPrefix(strings.TrimPrefix(path, "[")); err == nil && path[0] == '[' {
		name, _ = strconv.Unquote(quoted)
		return name, strings.TrimPrefix(path[1+len(quoted):], "]")
	}
	if strings.HasPrefix(path, "[") {
		end := strings.IndexByte(path, ']')
		if end < 0 {
			return path, ""
		}
		return path[:end+1], path[end+1:]
	}
	if end := strings.IndexAny(path, ".["); end >= 0 {
		return path[:end], path[end:]
	}
	return path, ""
}

// index reads [12].
func index(name string) (int, bool) {
	if len(name) < 3 || name[0] != '[' || len(name) > 11 {
		return 0, false
	}
	n := 0
	for _, c := range name[1 : len(name)-1] {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}
