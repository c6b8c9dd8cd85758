package live

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
)

// items writes those of a list. What a list is the server says in the names of the
// fields that vpnctl owns; where it owns none, the field's name has to do.
//
//	a list of items with keys   item by item, wherever they stand
//	a set                       the desired ones that are there
//	any other                   as a whole, by position
func (c *comparison) items(want *yamlv3.Node, have []any, owned map[string]any, path []string) {
	keys := mergeKeys(owned, path, want)
	switch {
	case len(keys) > 0:
		c.keyed(want, have, owned, path, keys)
	case hasStep(owned, "v:"):
		c.set(want, have, owned, path)
	default:
		c.whole(want, have, path)
	}
}

// keyed compares a list whose items are found by keys.
func (c *comparison) keyed(want *yamlv3.Node, have []any, owned map[string]any, path, keys []string) {
	list := c.list()
	seen := map[string]bool{}
	for _, w := range want.Content {
		id := identity(wantedKey(w, keys))
		seen[id] = true
		step := append(slices.Clip(path), "k:"+id)
		i := slices.IndexFunc(have, func(h any) bool { return identity(liveKey(h, keys)) == id })
		if i < 0 {
			c.differ(step)
			continue
		}
		below, _ := owned["k:"+id].(map[string]any)
		list()
		c.value(w, have[i], below, step)
	}
	for _, h := range have {
		id := identity(liveKey(h, keys))
		if _, mine := owned["k:"+id]; mine && !seen[id] {
			c.differ(append(slices.Clip(path), "k:"+id))
			list()
			c.raw(h)
		}
	}
	c.out.WriteByte(']')
}

// set compares a list of scalars without order.
func (c *comparison) set(want *yamlv3.Node, have []any, owned map[string]any, path []string) {
	list := c.list()
	seen := map[string]bool{}
	for _, w := range want.Content {
		id := identity(scalar(w))
		seen[id] = true
		if !slices.ContainsFunc(have, func(h any) bool { return identity(h) == id }) {
			c.differ(append(slices.Clip(path), "v:"+id))
			continue
		}
		list()
		c.raw(scalar(w))
	}
	for _, h := range have {
		id := identity(h)
		if _, mine := owned["v:"+id]; mine && !seen[id] {
			c.differ(append(slices.Clip(path), "v:"+id))
			list()
			c.raw(h)
		}
	}
	c.out.WriteByte(']')
}

// whole compares a list that has one owner.
func (c *comparison) whole(want *yamlv3.Node, have []any, path []string) {
	list := c.list()
	if len(want.Content) != len(have) {
		c.differ(path)
	}
	for i, h := range have {
		list()
		if i < len(want.Content) {
			c.value(want.Content[i], h, nil, path)
		} else {
			c.raw(h)
		}
	}
	c.out.WriteByte(']')
}

// list begins one; what it returns is called before each item.
func (c *comparison) list() func() {
	c.out.WriteByte('[')
	first := true
	return func() {
		if !first {
			c.out.WriteByte(',')
		}
		first = false
	}
}

// mergeKeys are the fields by which a list's items are found, nil where the list is
// no such list.
func mergeKeys(owned map[string]any, path []string, want *yamlv3.Node) []string {
	for step := range owned {
		if text, ok := strings.CutPrefix(step, "k:"); ok {
			var key map[string]any
			if json.Unmarshal([]byte(text), &key) == nil {
				return slices.Sorted(maps.Keys(key))
			}
		}
	}
	if len(path) == 0 || slices.ContainsFunc(want.Content, func(n *yamlv3.Node) bool { return n.Kind != yamlv3.MappingNode }) {
		return nil
	}
	return known[path[len(path)-1]]
}

// known are the keys of lists in the pod template, where the API's schema says so
// (x-kubernetes-list-map-keys), for fields that nobody of us owns.
var known = map[string][]string{
	"f:containers": {"name"}, "f:initContainers": {"name"}, "f:env": {"name"}, "f:volumes": {"name"},
	"f:volumeMounts": {"mountPath"}, "f:imagePullSecrets": {"name"},
}

// standing are values that the server fills in where a key is left out.
var standing = map[string]any{"protocol": "TCP"}

func wantedKey(n *yamlv3.Node, keys []string) map[string]any {
	key := map[string]any{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if name := n.Content[i].Value; slices.Contains(keys, name) {
			key[name] = scalar(n.Content[i+1])
		}
	}
	return complete(key, keys)
}

func liveKey(v any, keys []string) map[string]any {
	key := map[string]any{}
	m, _ := v.(map[string]any)
	for _, name := range keys {
		if v, there := m[name]; there {
			key[name] = v
		}
	}
	return complete(key, keys)
}

func complete(key map[string]any, keys []string) map[string]any {
	for _, name := range keys {
		if _, there := key[name]; !there && standing[name] != nil {
			key[name] = standing[name]
		}
	}
	return key
}

// identity is a key or value as FieldsV1 writes it.
func identity(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(data)
}

func hasStep(owned map[string]any, prefix string) bool {
	for step := range owned {
		if strings.HasPrefix(step, prefix) {
			return true
		}
	}
	return false
}
