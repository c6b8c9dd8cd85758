package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/vpnctl/vpnctl/plan/resource"
)

const (
	kindVPNPeer   = resource.Kind("kubernetes.vpnpeer")
	kindConfigMap = resource.Kind("kubernetes.configmap")
)

// part is a part of a gateway that a change of its manifests can move.
type part string

const (
	partTunnels part = "tunnels" // what the gateway's protocol and the agent read
	partRuleset part = "ruleset" // the ConfigMap with the ruleset
	partRights  part = "rights"  // which Secrets the pod may read
	partRest    part = "rest"    // anything else
)

// cause is what moved in the manifests, in words, and the parts that it can move;
// none: any part.
type cause struct {
	words string
	moves []part
}

// causes are what moved in the manifests that stand beside what was rendered from
// them. Without manifests on the observed side there are none.
func (p *party) causes() []cause {
	var all []cause
	for _, x := range p.differs {
		switch {
		case x.want.Object == nil || !x.want.ID.Kind.Manifest():
		case x.have != nil && x.have.Object != nil:
			all = append(all, edited(x.want.ID, x.have.Object.Content, x.want.Object.Content)...)
		case x.have == nil && x.want.ID.Kind == kindVPNPeer:
			all = append(all, cause{words: "peer " + x.want.ID.Name + " added"})
		}
	}
	for _, have := range p.extra {
		if have.ID.Kind == kindVPNPeer {
			all = append(all, cause{words: "peer " + have.ID.Name + " removed"})
		}
	}
	return all
}

// edited are the differences of two texts of one manifest.
func edited(id resource.ID, before, after string) []cause {
	var a, b struct {
		Spec map[string]any `json:"spec"`
	}
	if yaml.Unmarshal([]byte(before), &a) != nil || yaml.Unmarshal([]byte(after), &b) != nil {
		return nil
	}
	var all []cause
	for _, f := range fields(nil, a.Spec, b.Spec) {
		if id.Kind == kindVPNPeer {
			all = append(all, f.ofPeer(id.Name, f.path))
		} else {
			all = append(all, f.ofGateway())
		}
	}
	return all
}

// field is a difference of two trees of values; what is missing is nil.
type field struct {
	path          []string
	before, after any
}

// fields finds the differences below a path. The items of a list that have names are
// told apart by them; any other list is one value.
func fields(path []string, before, after any) []field {
	a, b := named(before), named(after)
	if a == nil || b == nil {
		if fmt.Sprint(before) == fmt.Sprint(after) {
			return nil
		}
		return []field{{path, before, after}}
	}
	var all []field
	keys := maps.Clone(a)
	maps.Copy(keys, b)
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		all = append(all, fields(append(slices.Clone(path), k), a[k], b[k])...)
	}
	return all
}

// named is a value as a map by names; nil where it has none.
func named(v any) map[string]any {
	switch v := v.(type) {
	case map[string]any:
		return v
	case []any:
		all := map[string]any{}
		for _, item := range v {
			m, _ := item.(map[string]any)
			name, ok := m["name"].(string)
			if !ok {
				return nil
			}
			all[name] = m
		}
		return all
	}
	return nil
}

// partOf is the part that an object belongs to.
func partOf(c *Change) part {
	switch {
	case c.ID.Kind == kindConfigMap && strings.HasSuffix(c.ID.Name, rulesSuffix):
		return partRuleset
	case c.ID.Kind == kindConfigMap:
		return partTunnels
	case c.ID.Kind == "kubernetes.role":
		return partRights
	}
	return partRest
}

// rewritten names the fields of an object that differ; empty where it can't be told.
func rewritten(c *Change) string {
	var a, b map[string]any
	if yaml.Unmarshal([]byte(c.Before.Object.Content), &a) != nil || yaml.Unmarshal([]byte(c.After.Object.Content), &b) != nil {
		return ""
	}
	var all []cause
	for _, f := range fields(nil, a, b) {
		if len(f.path) > 0 {
			all = append(all, cause{words: f.path[len(f.path)-1]})
		}
	}
	return told(all, partRest)
}

// told joins the causes that can move a part, or of all where none is given; empty
// where there are none.
func told(causes []cause, of part) string {
	var words []string
	for _, c := range causes {
		if (len(c.moves) == 0 || of == "" || slices.Contains(c.moves, of)) && !slices.Contains(words, c.words) {
			words = append(words, c.words)
		}
	}
	if n := len(words) - causesTold; n > 1 {
		words = append(words[:causesTold:causesTold], fmt.Sprintf("%d more", n))
	}
	return strings.Join(words, ", ")
}

// causesTold is how many causes a reason names.
const causesTold = 3
