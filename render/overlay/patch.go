package overlay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"
	"sigs.k8s.io/yaml"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Patches are an estate's patches, in the order written.
type Patches []patch

// patch is one patch with the objects that it is for.
type patch struct {
	text       string
	operations bool // a list of operations; false: a document to merge
	target     types.Selector
	selector   *types.SelectorRegex
	labels     labels.Selector // nil: all
	notes      labels.Selector // of annotations; nil: all
}

// Parse reads an estate's patches. One without a target is for the object that it
// names itself, in any namespace unless it names that too.
func Parse(list []vpn.Patch) (Patches, error) {
	var all Patches
	for i, p := range list {
		parsed, err := parse(p)
		if err != nil {
			return nil, fmt.Errorf("spec.patches[%d]: %w", i, err)
		}
		all = append(all, parsed)
	}
	return all, nil
}

func parse(p vpn.Patch) (patch, error) {
	if err := single(p.Patch); err != nil {
		return patch{}, err
	}
	data, err := yaml.YAMLToJSON([]byte(p.Patch))
	if err != nil {
		return patch{}, err
	}
	out := patch{text: p.Patch, operations: bytes.HasPrefix(data, []byte("["))}
	if out.operations { // kustomize takes a text that starts with a bracket for JSON
		out.text = string(data)
	}
	if len(p.Target) > 0 {
		err = json.Unmarshal(p.Target, &out.target)
	} else {
		out.target, err = named(p.Patch)
	}
	if err != nil {
		return out, err
	}
	if out.selector, err = types.NewSelectorRegex(&out.target); err != nil {
		return out, fmt.Errorf("target: %w", err)
	}
	if out.labels, err = selector(out.target.LabelSelector); err != nil {
		return out, fmt.Errorf("target: %w", err)
	}
	if out.notes, err = selector(out.target.AnnotationSelector); err != nil {
		return out, fmt.Errorf("target: %w", err)
	}
	return out, nil
}

// single refuses a second document, which a reader of one would not see.
func single(text string) error {
	documents := yamlv3.NewDecoder(strings.NewReader(text))
	var node yamlv3.Node
	if err := documents.Decode(&node); err != nil {
		return err
	}
	if err := documents.Decode(&node); !errors.Is(err, io.EOF) {
		return errors.New("it has more than one document")
	}
	return nil
}

func selector(text string) (labels.Selector, error) {
	if text == "" {
		return nil, nil
	}
	return labels.Parse(text)
}

// meta is what identifies an object, and what selectors look at.
type meta struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name        string            `json:"name"`
		Namespace   string            `json:"namespace"`
		Labels      map[string]string `json:"labels"`
		Annotations map[string]string `json:"annotations"`
	} `json:"metadata"`
}

// named makes the target of a patch that names its object.
func named(text string) (types.Selector, error) {
	var m meta
	if err := yaml.Unmarshal([]byte(text), &m); err != nil {
		return types.Selector{}, err
	}
	if m.Kind == "" || m.Metadata.Name == "" {
		return types.Selector{}, fmt.Errorf("it has no target, and names no object by kind and metadata.name")
	}
	exact := regexp.QuoteMeta
	group, version := resid.ParseGroupVersion(m.APIVersion) // empty: any
	return types.Selector{ResId: resid.ResId{
		Gvk:  resid.Gvk{Group: exact(group), Version: exact(version), Kind: exact(m.Kind)},
		Name: exact(m.Metadata.Name), Namespace: exact(m.Metadata.Namespace),
	}}, nil
}

// selects tells whether the patch is for an object.
func (p patch) selects(o resource.Object) bool {
	group, version := resid.ParseGroupVersion(o.APIVersion)
	if !p.selector.MatchGvk(resid.Gvk{Group: group, Version: version, Kind: o.Kind}) ||
		!p.selector.MatchName(o.Name) || !p.selector.MatchNamespace(o.Namespace) {
		return false
	}
	if p.labels == nil && p.notes == nil {
		return true
	}
	var m meta
	if err := yaml.Unmarshal([]byte(o.Content), &m); err != nil {
		return false
	}
	return (p.labels == nil || p.labels.Matches(labels.Set(m.Metadata.Labels))) &&
		(p.notes == nil || p.notes.Matches(labels.Set(m.Metadata.Annotations)))
}
