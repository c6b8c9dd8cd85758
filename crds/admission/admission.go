// Package admission answers as an API server does that has vpnctl's definitions,
// by the API server's own code: schema, list types and CEL rules. Tests use it
// to hold definitions and validation to each other; the binary doesn't.
package admission

import (
	"context"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	"github.com/vpnctl/vpnctl/crds"
)

// Server checks objects by their kind.
type Server map[string]rules

// rules are those of one kind.
type rules struct {
	structural *schema.Structural
	schema     validation.SchemaValidator
	cel        *cel.Validator
	namespaced bool
}

// New reads the definitions that the binary carries.
func New() (Server, error) {
	s := Server{}
	for _, file := range crds.Names() {
		var wire apiextensionsv1.CustomResourceDefinition
		if err := yaml.UnmarshalStrict(crds.File(file), &wire); err != nil {
			return nil, err
		}
		of, err := read(wire.Spec.Versions[0].Schema.OpenAPIV3Schema)
		if err != nil {
			return nil, err
		}
		of.namespaced = wire.Spec.Scope == apiextensionsv1.NamespaceScoped
		s[wire.Spec.Names.Kind] = of
	}
	return s, nil
}

func read(wire *apiextensionsv1.JSONSchemaProps) (rules, error) {
	var props apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(wire, &props, nil); err != nil {
		return rules{}, err
	}
	structural, err := schema.NewStructural(&props)
	if err != nil {
		return rules{}, err
	}
	validator, _, err := validation.NewSchemaValidator(&props)
	return rules{structural: structural, schema: validator, cel: cel.NewValidator(structural, true, celconfig.PerCallLimit)}, err
}

// Check says why an object is refused: as a new one where old is nil, else as a
// change of old. Kinds without a definition are never refused. Unknown fields
// are no reason: an API server drops them.
func (s Server) Check(obj, old map[string]any) field.ErrorList {
	kind, _ := obj["kind"].(string)
	of, ok := s[kind]
	if !ok {
		return nil
	}
	errs := validation.ValidateCustomResource(nil, obj, of.schema)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, of.structural, obj)...)
	if len(errs) > 0 { // rules see sound objects only
		return errs
	}
	var previous any
	if old != nil {
		previous = old
	}
	broken, _ := of.cel.Validate(context.Background(), nil, of.structural, obj, previous, celconfig.RuntimeCELCostBudget)
	return broken
}
