package fakeapi

import (
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
)

// fields keeps the managedFields of what is written.
func (w write) fields() (*managedfields.FieldManager, error) {
	version := w.kind.gvk.GroupVersion()
	if w.kind.custom {
		return managedfields.NewDefaultCRDFieldManager(w.kind.types(), asIs{}, asIs{}, asIs{}, w.kind.gvk, version, w.subresource, nil)
	}
	return managedfields.NewDefaultFieldManager(w.kind.types(), asIs{}, asIs{}, asIs{}, w.kind.gvk, version, w.subresource, nil)
}

// updated is an object after a write that isn't an apply.
func (w write) updated(have, u *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	f, err := w.fields()
	if err != nil {
		return nil, err
	}
	return asObject(f.Update(have.DeepCopy(), u, w.manager))
}

// applied is what stands, with what is applied merged into it.
func (w write) applied(have, u *unstructured.Unstructured, force bool) (*unstructured.Unstructured, error) {
	f, err := w.fields()
	if err != nil {
		return nil, err
	}
	return asObject(f.Apply(have.DeepCopy(), u, w.manager, force))
}

func asObject(o runtime.Object, err error) (*unstructured.Unstructured, error) {
	if err != nil {
		return nil, err
	}
	u, ok := o.(*unstructured.Unstructured)
	if !ok {
		return nil, errors.New("an object of another type came back")
	}
	return u, nil
}

// asIs leaves objects as they are: each kind has one version here.
type asIs struct{}

func (asIs) Convert(_, _, _ any) error { return errors.New("there is one version of each kind") }

func (asIs) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return in, nil
}

func (asIs) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

func (asIs) Default(runtime.Object) {}

func (asIs) New(of schema.GroupVersionKind) (runtime.Object, error) {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetGroupVersionKind(of)
	return u, nil
}
