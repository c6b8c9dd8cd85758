package manifest

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

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

// Unordered is an object of ours as a cluster holds it, with lists whose order means
// nothing sorted as those of a manifest are that was read: however somebody wrote them,
// the same wish compares equal. The object itself stays as it is.
func Unordered(object map[string]any) map[string]any {
	sorted := maps.Clone(object)
	if spec, is := object["spec"].(map[string]any); is {
		sorted["spec"] = runtime.DeepCopyJSON(spec)
		unordered(sorted)
	}
	return sorted
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

// number is that of a manifest, or as a cluster has it; empty: it is none.
func number(v any) json.Number {
	switch n := v.(type) {
	case json.Number:
		return n
	case int64:
		return json.Number(strconv.FormatInt(n, 10))
	}
	return ""
}

// compareScalars orders numbers by value and all else by its text.
func compareScalars(a, b any) int {
	x, y := number(a), number(b)
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
