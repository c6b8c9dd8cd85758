package overlay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"sigs.k8s.io/kustomize/api/filters/patchjson6902"
	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/api/resmap"
	kresource "sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/kyaml/resid"
	reader "sigs.k8s.io/yaml"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/render/yaml"
	"github.com/vpnctl/vpnctl/state"
)

// Apply returns the objects with the patches over them, in the order given. An object
// that no patch is for, or none changes, keeps its bytes. Used tells of each patch
// whether it was for an object, as the patches before it left them: one that deletes
// its object was, one for what is deleted already was not.
func (ps Patches) Apply(objects []resource.Object) (after []resource.Object, used []bool, err error) {
	used = make([]bool, len(ps))
	for i, p := range ps {
		if objects, used[i], err = p.apply(objects); err != nil {
			return nil, used, fmt.Errorf("spec.patches[%d]: %w", i, err)
		}
	}
	return objects, used, nil
}

func (p patch) apply(objects []resource.Object) (after []resource.Object, used bool, err error) {
	var chosen []resource.Object
	for _, o := range objects {
		if p.selects(o) {
			chosen = append(chosen, o)
		}
	}
	if len(chosen) == 0 {
		return objects, false, nil
	}
	patched, err := p.transform(chosen)
	if err != nil {
		return nil, true, err
	}
	for _, o := range objects {
		if !p.selects(o) {
			after = append(after, o)
			continue
		}
		data, stays := patched[id(o.APIVersion, o.Kind, o.Namespace, o.Name)]
		if !stays {
			continue // the patch deletes it
		}
		if o, err = rewrite(o, data); err != nil {
			return nil, true, fmt.Errorf("%s %s: %w", o.Kind, o.Name, err)
		}
		after = append(after, o)
	}
	return after, true, nil
}

// transform hands objects to kustomize and returns what they become, as JSON.
func (p patch) transform(objects []resource.Object) (map[resid.ResId][]byte, error) {
	factory := resmap.NewFactory(provider.NewDefaultDepProvider().GetResourceFactory())
	var all bytes.Buffer
	for _, o := range objects {
		all.WriteString(o.Content + "---\n")
	}
	m, err := factory.NewResMapFromBytes(all.Bytes())
	if err != nil {
		return nil, err
	}
	if p.operations {
		err = operate(m, p.text)
	} else {
		err = merge(m, factory, p.text)
	}
	if err != nil {
		return nil, err
	}
	m.RemoveBuildAnnotations()
	return found(m, objects)
}

// operate carries out a list of operations on each object.
func operate(m resmap.ResMap, text string) error {
	for _, r := range m.Resources() {
		if err := r.ApplyFilter(patchjson6902.Filter{Patch: text}); err != nil {
			return err
		}
	}
	return nil
}

// merge merges one document into each object.
func merge(m resmap.ResMap, factory *resmap.Factory, text string) error {
	var document map[string]any
	if err := reader.Unmarshal([]byte(text), &document); err != nil {
		return err
	}
	if document == nil {
		return errors.New("it says nothing")
	}
	if err := complete(document); err != nil {
		return err
	}
	patch, err := factory.RF().FromMap(document)
	if err != nil {
		return err
	}
	return m.ApplySmPatch(kresource.MakeIdSet(m.Resources()), patch)
}

// complete adds what kustomize wants of every patch and doesn't look at where a target
// says which objects are meant.
func complete(document map[string]any) error {
	if document["metadata"] == nil {
		document["metadata"] = map[string]any{}
	}
	metadata, ok := document["metadata"].(map[string]any)
	if !ok {
		return fmt.Errorf("its metadata is not a mapping")
	}
	if metadata["name"] == nil {
		metadata["name"] = "target"
	}
	for _, key := range []string{"apiVersion", "kind"} {
		if document[key] == nil {
			document[key] = "target"
		}
	}
	return nil
}

// found reads kustomize's result. What isn't one of the objects was renamed.
func found(m resmap.ResMap, objects []resource.Object) (map[resid.ResId][]byte, error) {
	known := map[resid.ResId]bool{}
	for _, o := range objects {
		known[id(o.APIVersion, o.Kind, o.Namespace, o.Name)] = true
	}
	patched := map[resid.ResId][]byte{}
	for _, r := range m.Resources() {
		data, err := r.MarshalJSON()
		if err != nil {
			return nil, err
		}
		var now meta
		if err := json.Unmarshal(data, &now); err != nil {
			return nil, err
		}
		key := id(now.APIVersion, now.Kind, now.Metadata.Namespace, now.Metadata.Name)
		if !known[key] {
			return nil, fmt.Errorf("it renames an object to %s", key)
		}
		patched[key] = data
	}
	return patched, nil
}

func id(apiVersion, kind, namespace, name string) resid.ResId {
	group, version := resid.ParseGroupVersion(apiVersion)
	return resid.ResId{Gvk: resid.Gvk{Group: group, Version: version, Kind: kind}, Name: name, Namespace: namespace}
}

// rewrite puts the patched object into the file, behind its marker.
func rewrite(o resource.Object, data []byte) (resource.Object, error) {
	before, err := reader.YAMLToJSON([]byte(o.Content))
	if err != nil {
		return o, err
	}
	after, err := reader.YAMLToJSON(data) // the same keys in the same order
	if err != nil || bytes.Equal(before, after) {
		return o, err
	}
	if err := owned(before, after); err != nil {
		return o, err
	}
	text, err := yaml.FromJSON(o.APIVersion, o.Kind, after)
	if err != nil {
		return o, err
	}
	marker, _, _ := strings.Cut(o.Content, "\n")
	o.Content = marker + "\n" + text
	return o, nil
}

// owned wants the labels and the annotation by which the object is found to be ours.
func owned(before, after []byte) error {
	var was, now meta
	if err := json.Unmarshal(before, &was); err != nil {
		return err
	}
	if err := json.Unmarshal(after, &now); err != nil {
		return err
	}
	for _, label := range []string{state.LabelManagedBy, state.LabelEstate, state.LabelGateway} {
		if was.Metadata.Labels[label] != now.Metadata.Labels[label] {
			return fmt.Errorf("the patch takes the ownership label %s", label)
		}
	}
	if was.Metadata.Annotations[resource.OwnerAnnotation] != now.Metadata.Annotations[resource.OwnerAnnotation] {
		return fmt.Errorf("the patch takes the ownership annotation %s", resource.OwnerAnnotation)
	}
	return nil
}
