package corpus_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vpnctl/vpnctl/crds"
	"github.com/vpnctl/vpnctl/crds/corpus"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// rule is one that a definition has for a field, and how its refusals begin.
type rule struct{ kind, path, says string }

func (r rule) String() string { return r.kind + " " + r.path + ": " + r.says }

// rules lists those of all definitions, but of statuses, which are written by programs.
func rules(t *testing.T) []rule {
	t.Helper()
	var all []rule
	for _, file := range crds.Names() {
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.UnmarshalStrict(crds.File(file), &crd); err != nil {
			t.Fatal(err)
		}
		w := walk{kind: crd.Spec.Names.Kind}
		root := *crd.Spec.Versions[0].Schema.OpenAPIV3Schema
		for _, name := range []string{"apiVersion", "kind", "metadata", "status"} {
			delete(root.Properties, name)
		}
		w.schema("", root)
		all = append(all, w.found...)
	}
	return all
}

type walk struct {
	kind  string
	found []rule
}

func (w *walk) add(path, format string, args ...any) {
	w.found = append(w.found, rule{w.kind, path, fmt.Sprintf(format, args...)})
}

func (w *walk) schema(path string, s apiextensionsv1.JSONSchemaProps) {
	w.limits(path, s)
	for _, name := range s.Required {
		w.add(child(path, name), "Required value")
	}
	for _, v := range s.XValidations {
		w.add(path, "Invalid value: %s", v.Message) // between the two stands the value
	}
	for name, p := range s.Properties {
		w.schema(child(path, name), p)
	}
	if s.Items != nil {
		if s.XListType != nil && *s.XListType == "map" {
			w.add(path+"[]", "Duplicate value")
		}
		w.schema(path+"[]", *s.Items.Schema)
	}
}

func (w *walk) limits(path string, s apiextensionsv1.JSONSchemaProps) {
	if s.Pattern != "" {
		w.add(path, "Invalid value: should match '%s'", s.Pattern)
	}
	if len(s.Enum) > 0 {
		w.add(path, "Unsupported value")
	}
	if s.MinLength != nil {
		w.add(path, "Invalid value: should be at least %d chars long", *s.MinLength)
	}
	if s.MaxLength != nil {
		w.add(path, "Too long: may not be more than %d", *s.MaxLength)
	}
	if s.MinItems != nil {
		w.add(path, "Invalid value: should have at least %d items", *s.MinItems)
	}
	if s.MaxItems != nil {
		w.add(path, "Too many: must have at most %d items", *s.MaxItems)
	}
	if s.Minimum != nil {
		w.add(path, "Invalid value: should be greater than or equal to %v", *s.Minimum)
	}
	if s.Maximum != nil {
		w.add(path, "Invalid value: should be less than or equal to %v", *s.Maximum)
	}
	if path != "" {
		w.add(path, "Invalid value: must be of type %s", s.Type)
	}
}

func child(path, name string) string { return strings.TrimPrefix(path+"."+name, ".") }

var entry = regexp.MustCompile(`\[\d+\]`)

// breaks reports whether a refusal is for a rule.
func breaks(refusal string, r rule) bool {
	path, says, _ := strings.Cut(refusal, ": ")
	if path = entry.ReplaceAllString(path, "[]"); path == "<nil>" {
		path = "" // the object as a whole
	}
	if path != r.path {
		return false
	}
	head, rest, _ := strings.Cut(r.says, ": ")
	return strings.HasPrefix(says, head) && strings.Contains(says, rest)
}

// TestEveryRuleHasCases: of each rule there is an object that it refuses; and each field
// with a rule is in an object that is accepted.
func TestEveryRuleHasCases(t *testing.T) {
	cases, err := corpus.Cases()
	if err != nil {
		t.Fatal(err)
	}
	missing := rules(t)
	total := len(missing)
	accepted := map[string]bool{}
	for _, c := range cases {
		kind := c.Object["kind"].(string)
		if len(c.Refused) == 0 {
			fields(accepted, kind, c.Object)
		}
		missing = slices.DeleteFunc(missing, func(r rule) bool {
			return r.kind == kind && slices.ContainsFunc(c.Refused, func(s string) bool { return breaks(s, r) })
		})
	}
	for _, r := range missing {
		t.Errorf("nothing is refused by %s", r)
	}
	for _, r := range rules(t) {
		if !accepted[r.kind+" "+r.path] {
			t.Errorf("no object is accepted with %s %s", r.kind, r.path)
			accepted[r.kind+" "+r.path] = true
		}
	}
	t.Logf("%d cases for %d rules", len(cases), total)
}

// fields notes the paths that an object has values at.
func fields(into map[string]bool, at string, value any) {
	into[at] = true
	switch v := value.(type) {
	case map[string]any:
		into[at+" "] = true
		for name, entry := range v {
			separator := "."
			if !strings.Contains(at, " ") {
				separator = " "
			}
			fields(into, at+separator+name, entry)
		}
	case []any:
		for _, entry := range v {
			fields(into, at+"[]", entry)
		}
	}
}
