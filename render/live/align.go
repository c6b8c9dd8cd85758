package live

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"

	"github.com/vpnctl/vpnctl/plan/manifest"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/render/yaml"
)

// Manager is the field manager that vpnctl writes as.
const Manager = "vpnctl"

// Align returns the observed graph with a content for every live object: what of it
// stands against the desired object of the same ID. One that nobody wants has all of
// its own content. Other resources stay as they are; neither graph is changed.
func Align(desired, observed resource.Graph) resource.Graph {
	var nothing Memory
	return nothing.Align(desired, observed)
}

// Align is the function of that name, and compares nothing that was compared before.
func (m *Memory) Align(desired, observed resource.Graph) resource.Graph {
	aligned, equal := make(resource.Graph, len(observed)), make(map[resource.ID]pair, len(observed))
	for id, have := range observed {
		if have.Object != nil && have.Object.Live != nil {
			o := *have.Object
			if want, ok := desired[id]; ok && want.Object != nil {
				if now := pairOf(want.Object, o.Live); m.knows(id, now) || align(*want.Object, &o) {
					o.Path, o.Content, equal[id] = want.Object.Path, want.Object.Content, now
				}
			} else {
				whole(id, have.Owner, &o)
			}
			have.Object = &o
		}
		aligned[id] = have
	}
	m.equal = equal
	return aligned
}

// align gives a live object its content, unless it is as it is desired.
func align(want resource.Object, have *resource.Object) (equal bool) {
	have.Path = want.Path
	marker, _, _ := strings.Cut(want.Content, "\n")
	var doc yamlv3.Node
	if err := yamlv3.Unmarshal([]byte(want.Content), &doc); err != nil || len(doc.Content) != 1 {
		have.Content = marker + "\n" // what is wanted can't be read: everything differs
		return false
	}
	c := comparison{live: have.Live}
	value := have.Live.Value()
	if resource.KubernetesKind(have.Kind).Manifest() {
		value = manifest.Unordered(value)
	}
	c.value(doc.Content[0], value, have.Live.Owned(Manager), nil)
	if len(c.differing) == 0 && have.APIVersion == want.APIVersion {
		return true
	}
	have.ChangedBy = c.changedBy()
	text, err := yaml.FromJSON(have.APIVersion, have.Kind, c.out.Bytes())
	if err != nil {
		text = ""
	}
	have.Content = marker + "\n" + text
	return false
}

// whole is the content of an object that nobody wants any more.
func whole(id resource.ID, folder string, have *resource.Object) {
	_, place, _ := strings.Cut(folder, "/")
	have.Path = resource.TreePath(place, id)
	if text, err := yaml.FromJSON(have.APIVersion, have.Kind, have.Live.JSON); err == nil {
		have.Content = text
	}
}

// comparison writes what of a live object stands against the desired one, as JSON in
// the desired object's order.
type comparison struct {
	live      *resource.Live
	out       bytes.Buffer
	differing [][]string // paths, in the words of FieldsV1
}

func (c *comparison) differ(path []string) {
	c.differing = append(c.differing, slices.Clone(path))
}

// raw writes a live value as it is.
func (c *comparison) raw(v any) {
	data, err := json.Marshal(v)
	if err != nil {
		data = []byte("null")
	}
	c.out.Write(data)
}

// changedBy are the other managers of the fields that differ.
func (c *comparison) changedBy() []string {
	var names []string
	for _, m := range c.live.Managers {
		if m.Name == Manager {
			continue
		}
		fields := m.Fields()
		if slices.ContainsFunc(c.differing, func(path []string) bool { return owns(fields, path) }) {
			names = append(names, m.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// owns tells whether a set of fields holds a path, or an atomic value above it.
func owns(fields map[string]any, path []string) bool {
	for _, step := range path {
		child, ok := fields[step].(map[string]any)
		if !ok {
			return false
		}
		if len(child) == 0 {
			return true
		}
		fields = child
	}
	return true
}
