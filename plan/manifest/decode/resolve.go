package decode

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Bounds on one document. Nothing that people write comes near them.
const (
	maxDepth   = 100
	maxAliased = 50_000 // values that aliases stand for
	maxValues  = 200_000
)

// resolver turns YAML nodes into values: aliases are replaced by what they stand
// for, merge keys are merged, and duplicate or odd keys are problems.
type resolver struct {
	offset   int
	outer    *yaml.Node // the first alias that the current value is reached through
	aliased  int        // values made through aliases so far
	values   int        // made so far
	full     bool
	problems []Problem
}

func (r *resolver) add(n *yaml.Node, path, message, hint string) {
	r.problems = append(r.problems, Problem{Line: n.Line + r.offset, Column: n.Column, Field: path, Message: message, Hint: hint})
}

// value resolves one node. After the first breach of a bound it returns nil for
// all that follows, so that the breach is reported once.
func (r *resolver) value(n *yaml.Node, path string, depth int) *Value {
	if r.full {
		return nil
	}
	r.values++
	if r.outer != nil {
		r.aliased++
	}
	if r.values > maxValues {
		r.full = true
		r.add(n, "", fmt.Sprintf("a document of more than %d values", maxValues), "write several documents")
		return nil
	}
	if depth > maxDepth || r.aliased > maxAliased {
		r.full = true
		r.add(cmp.Or(r.outer, n), "", "nested or repeated by aliases beyond all measure", "write it out")
		return nil
	}
	v := &Value{Line: n.Line + r.offset, Column: n.Column}
	switch n.Kind {
	case yaml.AliasNode:
		return r.alias(n, v, path, depth)
	case yaml.SequenceNode:
		r.list(n, v, path, depth)
	case yaml.MappingNode:
		r.mapping(n, v, path, depth)
	default:
		r.scalar(n, v, path)
	}
	return v
}

// alias gives what the anchor holds the place of the alias: that is what a
// reader has to look at.
func (r *resolver) alias(n *yaml.Node, v *Value, path string, depth int) *Value {
	if r.outer == nil {
		r.outer = n
		defer func() { r.outer = nil }()
	}
	target := r.value(n.Alias, path, depth+1)
	if target == nil {
		return nil
	}
	out := *target
	out.Line, out.Column = v.Line, v.Column
	return &out
}

func (r *resolver) list(n *yaml.Node, v *Value, path string, depth int) {
	r.tag(n, path, "!!seq")
	v.Kind = List
	for i, item := range n.Content {
		if got := r.value(item, fmt.Sprintf("%s[%d]", path, i), depth+1); got != nil {
			v.Items = append(v.Items, got)
		}
	}
}

// mapping reads the entries of a mapping. Those of a merge key count where the
// mapping has no entry of its own, and the first merge of several wins.
func (r *resolver) mapping(n *yaml.Node, v *Value, path string, depth int) {
	r.tag(n, path, "!!map")
	v.Kind = Map
	seen := make(map[string]int, len(n.Content)/2)
	var joined bool
	var twice []Problem
	var merges []*Value
	for i := 0; i+1 < len(n.Content) && !r.full; i += 2 {
		key, node := n.Content[i], n.Content[i+1]
		if key.Kind == yaml.ScalarNode && key.ShortTag() == "!!merge" {
			merges = append(merges, r.merge(node, path, depth)...)
			continue
		}
		name, ok := r.key(key, path)
		if !ok {
			continue
		}
		at := join(path, name)
		if first, dup := seen[name]; dup {
			joined = joined || path == "" && (name == "apiVersion" || name == "kind")
			twice = append(twice, Problem{
				Line: key.Line + r.offset, Column: key.Column, Field: at, Message: fmt.Sprintf("given twice, first in line %d", v.Fields[first].Line),
			})
			continue
		}
		if got := r.value(node, at, depth+1); got != nil {
			seen[name] = len(v.Fields)
			v.Fields = append(v.Fields, Field{Name: name, Line: key.Line + r.offset, Column: key.Column, Value: got})
		}
	}
	if joined { // what else is given twice belongs to the second manifest too
		twice = twice[:1]
		twice[0].Hint = "a new document? separate them with ---"
	}
	r.problems = append(r.problems, twice...)
	for _, m := range merges {
		for _, f := range m.Fields {
			if _, own := seen[f.Name]; !own {
				seen[f.Name] = len(v.Fields)
				v.Fields = append(v.Fields, f)
			}
		}
	}
}

// merge resolves the value of a merge key: a mapping, or a list of them.
func (r *resolver) merge(n *yaml.Node, path string, depth int) []*Value {
	v := r.value(n, path, depth+1)
	switch {
	case v == nil:
		return nil
	case v.Kind == Map:
		return []*Value{v}
	case v.Kind == List:
		for _, item := range v.Items {
			if item.Kind != Map {
				r.add(n, path, "a merge key needs mappings", "")
				return nil
			}
		}
		return v.Items
	}
	r.add(n, path, "a merge key needs a mapping", "")
	return nil
}

// key reads the name of an entry.
func (r *resolver) key(n *yaml.Node, path string) (string, bool) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.ScalarNode {
		r.add(n, path, "a key must be a string", "")
		return "", false
	}
	v := &Value{}
	r.scalar(n, v, path)
	if v.Kind == String && !(v.Plain && ambiguous(v.Text)) {
		return v.Text, true
	}
	r.add(n, path, fmt.Sprintf("key %s must be a string, but YAML reads it as %s", n.Value, reading(v)), "quote it")
	return "", false
}

// scalar takes the kind from the YAML reader, which follows YAML 1.2; what YAML
// 1.1 reads differently is left to whoever knows which kind is wanted.
func (r *resolver) scalar(n *yaml.Node, v *Value, path string) {
	v.Text = n.Value
	v.Plain = n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
	if n.Style&yaml.TaggedStyle != 0 {
		v.Plain = false
		r.tag(n, path, "!!str")
		v.Kind = String
		return
	}
	switch n.ShortTag() {
	case "!!null":
		v.Kind = Null
	case "!!bool":
		v.Kind = Bool
	case "!!int", "!!float":
		v.Kind = Number
	default:
		v.Kind = String
	}
}

// tag refuses tags that change what a value is.
func (r *resolver) tag(n *yaml.Node, path, want string) {
	if n.Style&yaml.TaggedStyle != 0 && n.ShortTag() != want {
		r.add(n, path, fmt.Sprintf("the tag %s is not supported", n.Tag), "")
	}
}

// join extends a field path by a name, in quotes where it would look like two.
func join(path, name string) string {
	switch {
	case name == "" || strings.ContainsFunc(name, odd):
		return path + "[" + strconv.Quote(name) + "]"
	case path == "":
		return name
	}
	return path + "." + name
}

// odd tells whether a character is none of a field name.
func odd(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' || r == '$')
}

// ambiguous tells whether an unquoted word is a string in YAML 1.2 and a boolean
// or a date for other readers.
func ambiguous(s string) bool {
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off":
		return true
	}
	return len(s) == 10 && s[4] == '-' && s[7] == '-' && strings.Trim(s, "0123456789-") == ""
}

// reading says what a scalar is taken for.
func reading(v *Value) string {
	if v.Kind == String {
		if v.Text != "" && v.Text[0] >= '0' && v.Text[0] <= '9' {
			return "a date"
		}
		return "a boolean"
	}
	return v.Kind.String()
}
