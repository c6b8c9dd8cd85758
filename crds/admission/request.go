package admission

import (
	"context"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/api/operation"
	metadata "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
)

// Request answers a request with strict field validation, which kubectl asks for: to
// create obj where old is nil, else to update old. It says what is stored, or all
// reasons against that, as "<field>: <sentence>", each as the API server words it.
// The numbers in obj are int64 and float64, as k8s.io/apimachinery/pkg/util/json
// reads them. Kinds without a definition are stored as they are.
func (s Server) Request(obj, old map[string]any) (stored map[string]any, refused []string) {
	of, ok := s[fmt.Sprint(obj["kind"])]
	if !ok {
		return obj, nil
	}
	stored = runtime.DeepCopyJSON(obj)
	if old != nil {
		old = runtime.DeepCopyJSON(old)
		versioned(old)
		versioned(stored)
	}
	unknown := pruning.PruneWithOptions(stored, of.structural, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	for _, path := range unknown {
		refused = append(refused, fmt.Sprintf("unknown field %q", path))
	}
	if len(refused) > 0 {
		return nil, refused
	}
	delete(stored, "status") // a resource of its own
	defaulting.PruneNonNullableNullsWithoutDefaults(stored, of.structural)
	defaulting.Default(stored, of.structural)
	for _, e := range of.judge(stored, old) {
		refused = append(refused, e.Field+": "+e.ErrorBody())
	}
	if len(refused) > 0 {
		return nil, refused
	}
	return stored, nil
}

// versioned gives an object the version that one in a cluster has.
func versioned(obj map[string]any) {
	if m, ok := obj["metadata"].(map[string]any); ok {
		m["resourceVersion"] = "1"
	}
}

// judge asks everything at once, but rules only of objects whose types and sizes are
// as they should be. What was wrong before and stays as it was is let through.
func (r rules) judge(obj, old map[string]any) field.ErrorList {
	op, was := operation.Create, (*metav1.ObjectMeta)(nil)
	var schemaOptions []validation.ValidationOption
	var celOptions []cel.Option
	var previous any
	if old != nil {
		op, was, previous = operation.Update, meta(old), old
		same := common.NewCorrelatedObject(obj, old, &model.Structural{Structural: r.structural})
		schemaOptions, celOptions = append(schemaOptions, validation.WithRatcheting(same)), append(celOptions, cel.WithRatcheting(same))
	}
	ctx := context.Background()
	errs := metadata.ValidateObjectMetaDeclaratively(ctx, op, meta(obj), was, r.namespaced, metadata.NameIsDNSSubdomain, field.NewPath("metadata"), true)
	if old == nil {
		errs = append(errs, validation.ValidateCustomResource(nil, obj, r.schema)...)
	} else {
		errs = append(errs, validation.ValidateCustomResourceUpdate(nil, obj, old, r.schema, schemaOptions...)...)
	}
	if old == nil || len(listtype.ValidateListSetsAndMaps(nil, r.structural, old)) == 0 {
		errs = append(errs, listtype.ValidateListSetsAndMaps(nil, r.structural, obj)...)
	}
	for _, e := range errs {
		switch e.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
			return append(errs, field.Invalid(nil, nil, "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"))
		}
	}
	broken, _ := r.cel.Validate(ctx, nil, r.structural, obj, previous, celconfig.RuntimeCELCostBudget, celOptions...)
	return append(errs, broken...)
}

// meta reads an object's metadata, as far as they can be read.
func meta(obj map[string]any) *metav1.ObjectMeta {
	out := &metav1.ObjectMeta{}
	if m, ok := obj["metadata"].(map[string]any); ok {
		_ = runtime.DefaultUnstructuredConverter.FromUnstructured(m, out)
	}
	return out
}
