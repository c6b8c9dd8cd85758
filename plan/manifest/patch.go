package manifest

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/kustomize/api/types"

	estatev1alpha1 "github.com/vpnctl/vpnctl/crds/estate/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/manifest/decode"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// attachment is a template of the CNI configuration. It is tried with values as
// they will come, so that a slip shows here and not in a pod that doesn't start.
func attachment(s string) (string, *refusal) {
	try := vpn.ExpectedPort{MAC: "fa:16:3e:00:00:01", Address: "192.0.2.10", Subnet: "192.0.2.0/24", Gateway: "192.0.2.1"}
	if _, err := try.Attachment(s); err != nil {
		return "", refuse("%v", err).with("there are .MAC, .Address, .Subnet and .Gateway")
	}
	return s, nil
}

// patches reads the kustomize patches over rendered objects, those in files too.
func (c check) patches(list []estatev1alpha1.Patch) []vpn.Patch {
	var out []vpn.Patch
	for i, w := range list {
		at := fmt.Sprintf("spec.patches[%d]", i)
		text, ok := c.patchText(at, w)
		if !ok || !c.patchForm(at, text, w.Target != nil) {
			continue
		}
		p := vpn.Patch{Patch: text}
		if w.Target != nil {
			p.Target = raw(w.Target, "") // an empty one is there, and selects all
			c.selector(at+".target", *w.Target)
		}
		out = append(out, p)
	}
	return out
}

// patchText returns the patch, from its file where it has one.
func (c check) patchText(at string, w estatev1alpha1.Patch) (string, bool) {
	switch {
	case (w.Patch == "") == (w.Path == ""):
		c.fail(at, refuse("exactly one of patch and path must be set"))
		return "", false
	case w.Path == "":
		return w.Patch, true
	}
	data, err := beside(filepath.Dir(c.file), w.Path)
	if err != nil {
		c.fail(at+".path", refuse("%s can't be read: %v", quoted(w.Path), reason(err)).
			with("paths are relative to the Estate's file and stay in its folder"))
		return "", false
	}
	return string(data), true
}

// patchForm holds a patch to one of the two forms: an object that is merged, or a
// list of operations, which need a target.
func (c check) patchForm(at, text string, target bool) bool {
	docs, problems := decode.Documents([]byte(text))
	switch {
	case len(problems) > 0:
		c.fail(at, refuse("line %d of the patch: %s", problems[0].Line, problems[0].Message))
	case len(docs) != 1:
		c.fail(at, refuse("the patch has %d documents; it must be one", len(docs)))
	case docs[0].Root.Kind == decode.List && !target:
		c.fail(at, refuse("operations need a target"))
	case docs[0].Root.Kind == decode.List:
		return c.operations(at, docs[0].Root)
	case docs[0].Root.Kind != decode.Map:
		c.fail(at, refuse("a patch is a mapping or a list of operations, not %s", docs[0].Root.Kind))
	case !target && (docs[0].Root.Get("kind") == nil || docs[0].Root.Find("metadata.name") == nil):
		c.fail(at, refuse("neither the patch nor a target says which object is meant").with("add target, or apiVersion, kind and metadata.name to the patch"))
	default:
		return true
	}
	return false
}

// operation is one step of a JSON patch.
type operation struct {
	Op    string          `json:"op"`
	Path  string          `json:"path"`
	From  string          `json:"from,omitempty"`
	Value json.RawMessage `json:"value,omitempty"`
}

func (c check) operations(at string, list *decode.Value) bool {
	for i, item := range list.Items {
		var op operation
		problems := new(decode.Decoder).Into(item, &op)
		if len(problems) > 0 {
			c.fail(at, refuse("operation %d: %s: %s", i+1, problems[0].Field, problems[0].Message))
			return false
		}
		if _, no := one("add", "remove", "replace", "move", "copy", "test")(op.Op); no != nil {
			c.fail(at, refuse("operation %d: %s", i+1, no.message))
			return false
		}
	}
	return true
}

// selector tries the target's regular expressions and label selectors.
func (c check) selector(at string, w estatev1alpha1.PatchTarget) {
	s := types.Selector{LabelSelector: w.LabelSelector, AnnotationSelector: w.AnnotationSelector}
	s.Group, s.Version, s.Kind, s.Name, s.Namespace = w.Group, w.Version, w.Kind, w.Name, w.Namespace
	if _, err := types.NewSelectorRegex(&s); err != nil {
		c.fail(at, refuse("%v", err))
	}
	for field, text := range map[string]string{"labelSelector": w.LabelSelector, "annotationSelector": w.AnnotationSelector} {
		if _, err := labels.Parse(text); err != nil {
			c.fail(at+"."+field, refuse("%s: %v", quoted(text), err))
		}
	}
}
