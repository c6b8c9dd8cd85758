package live

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/api/resource"
)

// value writes the live value that stands against a desired one.
//
//	desired    live                 written
//	scalar     the same             it
//	scalar     another              the live one
//	empty      not there            the desired one: the server leaves such fields out
//	anything   not there            nothing
//	map, list  the same kind        field by field, item by item
//	map, list  something else       the live one
func (c *comparison) value(want *yamlv3.Node, have any, owned map[string]any, path []string) {
	if want.Kind == yamlv3.AliasNode {
		want = want.Alias
	}
	switch h := have.(type) {
	case map[string]any:
		if want.Kind == yamlv3.MappingNode {
			c.fields(want, h, owned, path)
			return
		}
	case []any:
		if want.Kind == yamlv3.SequenceNode {
			c.items(want, h, owned, path)
			return
		}
	default:
		if want.Kind == yamlv3.ScalarNode && equal(scalar(want), have, path) {
			c.raw(scalar(want))
			return
		}
	}
	c.differ(path)
	c.raw(have)
}

// fields writes those of a map: the desired ones, then what vpnctl wrote once and no
// longer wants.
func (c *comparison) fields(want *yamlv3.Node, have, owned map[string]any, path []string) {
	first := true
	key := func(name string) {
		if !first {
			c.out.WriteByte(',')
		}
		first = false
		c.raw(name)
		c.out.WriteByte(':')
	}
	c.out.WriteByte('{')
	wanted := make(map[string]bool, len(want.Content)/2)
	for i := 0; i+1 < len(want.Content); i += 2 {
		name := want.Content[i].Value
		wanted[name] = true
		if len(path) == 0 && ours[name] {
			continue
		}
		step := append(slices.Clip(path), "f:"+name)
		below, _ := owned["f:"+name].(map[string]any)
		switch v, there := have[name]; {
		case there:
			key(name)
			c.value(want.Content[i+1], v, below, step)
		case empty(want.Content[i+1]):
			key(name)
			c.blank(want.Content[i+1])
		default:
			c.differ(step)
		}
	}
	for _, step := range slices.Sorted(maps.Keys(owned)) {
		name, field := strings.CutPrefix(step, "f:")
		v, there := have[name]
		if !field || !there || wanted[name] || len(path) == 0 && ours[name] {
			continue
		}
		c.differ(append(slices.Clip(path), step))
		key(name)
		c.raw(v)
	}
	c.out.WriteByte('}')
}

// ours are fields of the document that say what it is, and the part that is never
// desired.
var ours = map[string]bool{"apiVersion": true, "kind": true, "status": true}

// empty tells whether a desired value is one that the server need not keep.
func empty(n *yamlv3.Node) bool {
	switch n.Kind {
	case yamlv3.MappingNode, yamlv3.SequenceNode:
		return len(n.Content) == 0
	case yamlv3.ScalarNode:
		switch v := scalar(n).(type) {
		case nil:
			return true
		case string:
			return v == ""
		case bool:
			return !v
		case json.Number:
			return v == "0"
		}
	}
	return false
}

func (c *comparison) blank(n *yamlv3.Node) {
	switch n.Kind {
	case yamlv3.MappingNode:
		c.out.WriteString("{}")
	case yamlv3.SequenceNode:
		c.out.WriteString("[]")
	default:
		c.raw(scalar(n))
	}
}

// scalar is a value of the desired text as JSON has it.
func scalar(n *yamlv3.Node) any {
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		var b bool
		if n.Decode(&b) == nil {
			return b
		}
	case "!!int":
		var i int64
		if n.Decode(&i) == nil {
			return json.Number(strconv.FormatInt(i, 10))
		}
	case "!!float":
		var f float64
		if n.Decode(&f) == nil {
			return json.Number(strconv.FormatFloat(f, 'g', -1, 64))
		}
	}
	return n.Value
}

// equal compares two scalars, quantities by what they amount to.
func equal(want, have any, path []string) bool {
	if plain(want) == plain(have) && isText(want) == isText(have) {
		return true
	}
	if !quantity(path) {
		return false
	}
	a, err := resource.ParseQuantity(plain(want))
	if err != nil {
		return false
	}
	b, err := resource.ParseQuantity(plain(have))
	return err == nil && a.Cmp(b) == 0
}

func isText(v any) bool {
	_, is := v.(string)
	return is
}

// plain is a scalar's text.
func plain(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	}
	return "null"
}

// quantity tells whether a path leads to a quantity, which the server writes its own
// way: 1000m is 1 there.
func quantity(path []string) bool {
	if len(path) < 2 {
		return false
	}
	switch path[len(path)-2] {
	case "f:limits", "f:requests":
		return true
	}
	return path[len(path)-1] == "f:sizeLimit"
}
