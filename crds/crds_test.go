package crds_test

import (
	"context"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"sigs.k8s.io/yaml"

	"github.com/vpnctl/vpnctl/crds"
)

// definition reads one generated file the way an API server does.
func definition(t *testing.T, file string) *apiextensions.CustomResourceDefinition {
	t.Helper()
	var wire apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(crds.File(file), &wire); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	apiextensionsv1.SetDefaults_CustomResourceDefinition(&wire)
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&wire.Spec)
	var crd apiextensions.CustomResourceDefinition
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&wire, &crd, nil); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	crd.Status.StoredVersions = []string{"v1alpha1"}
	return &crd
}

// The API server refuses a definition whose rules don't compile or could cost
// too much; this is its own check.
func TestAPIServerAcceptsDefinitions(t *testing.T) {
	if got := len(crds.Names()); got != 4 {
		t.Fatalf("%d definitions, want 4", got)
	}
	for _, file := range crds.Names() {
		for _, err := range validation.ValidateCustomResourceDefinition(context.Background(), definition(t, file)) {
			t.Errorf("%s: %v", file, err)
		}
	}
}
