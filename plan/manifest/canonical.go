package manifest

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

// serverOwned are fields of metadata that a cluster writes, in exported objects.
var serverOwned = []string{
	"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp",
	"deletionGracePeriodSeconds", "managedFields", "ownerReferences", "finalizers", "selfLink",
}

// manifest writes an object as its author did, without what a cluster adds, and
// with lists whose order means nothing sorted: the same wish gives the same
// bytes.
func (o *object) manifest() (vpn.Manifest, error) {
	tree, err := o.root.Without("status").Any()
	if err != nil {
		return vpn.Manifest{}, err
	}
	root, _ := tree.(map[string]any)
	meta, _ := root["metadata"].(map[string]any)
	for _, field := range serverOwned {
		delete(meta, field)
	}
	if annotations, ok := meta["annotations"].(map[string]any); ok {
		delete(annotations, lastApplied)
		if len(annotations) == 0 {
			delete(meta, "annotations")
		}
	}
	if o.namespace != "" {
		meta["namespace"] = o.namespace
	}
	unordered(root)
	text, err := json.Marshal(root)
	return vpn.Manifest{APIVersion: o.apiVersion, Kind: o.kind, Namespace: o.namespace, Name: o.name, JSON: string(text)}, err
}

// unordered sorts the lists of a spec whose order means nothing. Proposals are
// not among them.
func unordered(root map[string]any) {
	spec, _ := root["spec"].(map[string]any)
	for _, list := range []string{"exposures", "reverseExposures", "tunnels"} {
		items, _ := spec[list].([]any)
		sortBy(items, func(v any) any { return field(v, "name") })
		for _, item := range items {
			sortBy(field(item, "remoteSubnets"), same)
			sortBy(field(field(item, "target"), "ports"), same)
			sortBy(field(field(item, "target"), "portRanges"), same)
		}
	}
	sortBy(field(spec["ipsec"], "remoteSubnets"), same)
	sortBy(field(spec["wireguard"], "subnets"), same)
	sortBy(field(spec["authorization"], "exposures"), same)
	sortBy(field(spec["authorization"], "reverseExposures"), same)
}

func same(v any) any { return v }

// field returns a field of a mapping, or nil.
func field(v any, name string) any {
	m, _ := v.(map[string]any)
	return m[name]
}

// sortBy sorts a list by a scalar of its items.
func sortBy(list any, key func(any) any) {
	items, _ := list.([]any)
	slices.SortStableFunc(items, func(a, b any) int { return compareScalars(key(a), key(b)) })
}

// compareScalars orders numbers by value and all else by its text.
func compareScalars(a, b any) int {
	x, _ := a.(json.Number)
	y, _ := b.(json.Number)
	if len(x) != len(y) { // numbers here are ports: longer is larger
		return len(x) - len(y)
	}
	if x != "" {
		return strings.Compare(string(x), string(y))
	}
	s, _ := a.(string)
	t, _ := b.(string)
	return strings.Compare(s, t)
}
