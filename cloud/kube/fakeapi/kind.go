package fakeapi

import (
	"encoding/json"
	"sync"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/yaml"

	"github.com/vpnctl/vpnctl/crds"
)

// kind is a kind that the server knows.
type kind struct {
	gvk        schema.GroupVersionKind
	plural     string
	cluster    bool // it has no namespace
	status     bool // it has the status subresource
	generation bool // its metadata.generation counts
	custom     bool
}

func (k kind) gvr() schema.GroupVersionResource { return k.gvk.GroupVersion().WithResource(k.plural) }

var kinds = []kind{
	{gvk: gvk("", "v1", "Namespace"), plural: "namespaces", cluster: true, status: true},
	{gvk: gvk("", "v1", "Node"), plural: "nodes", cluster: true, status: true},
	{gvk: gvk("", "v1", "Secret"), plural: "secrets"},
	{gvk: gvk("", "v1", "ConfigMap"), plural: "configmaps"},
	{gvk: gvk("", "v1", "ServiceAccount"), plural: "serviceaccounts"},
	{gvk: gvk("", "v1", "Pod"), plural: "pods", status: true},
	{gvk: gvk("", "v1", "Event"), plural: "events"},
	{gvk: gvk("events.k8s.io", "v1", "Event"), plural: "events"},
	{gvk: gvk("coordination.k8s.io", "v1", "Lease"), plural: "leases"},
	{gvk: gvk("rbac.authorization.k8s.io", "v1", "Role"), plural: "roles"},
	{gvk: gvk("rbac.authorization.k8s.io", "v1", "RoleBinding"), plural: "rolebindings"},
	{gvk: gvk("networking.k8s.io", "v1", "NetworkPolicy"), plural: "networkpolicies", generation: true},
	{gvk: gvk("apps", "v1", "Deployment"), plural: "deployments", status: true, generation: true},
	{gvk: gvk("apps", "v1", "ReplicaSet"), plural: "replicasets", status: true, generation: true},
	{gvk: gvk("k8s.cni.cncf.io", "v1", "NetworkAttachmentDefinition"), plural: "network-attachment-definitions", generation: true, custom: true},
	{gvk: gvk("monitoring.coreos.com", "v1", "PodMonitor"), plural: "podmonitors", generation: true, custom: true},
	{gvk: gvk("monitoring.coreos.com", "v1", "PrometheusRule"), plural: "prometheusrules", generation: true, custom: true},
	{gvk: gvk("vpn.bnerd.net", "v1alpha1", "VPNGateway"), plural: "vpngateways", status: true, generation: true, custom: true},
	{gvk: gvk("vpn.bnerd.net", "v1alpha1", "VPNPeer"), plural: "vpnpeers", status: true, generation: true, custom: true},
	{gvk: gvk("ipsec.bnerd.net", "v1alpha1", "IPsecGateway"), plural: "ipsecgateways", status: true, generation: true, custom: true},
	{gvk: gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition"), plural: "customresourcedefinitions", cluster: true, status: true, custom: true},
	{gvk: gvk("ipsec.bnerd.net", "v1alpha1", "ClusterLink"), plural: "clusterlinks", cluster: true, status: true, generation: true, custom: true},
}

func gvk(group, version, name string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: group, Version: version, Kind: name}
}

func kindNamed(of schema.GroupVersionKind) (kind, bool) {
	for _, k := range kinds {
		if k.gvk == of {
			return k, true
		}
	}
	return kind{}, false
}

func kindAt(group, version, plural string) (kind, bool) {
	for _, k := range kinds {
		if k.gvk.Group == group && k.gvk.Version == version && k.plural == plural {
			return k, true
		}
	}
	return kind{}, false
}

// types are how values of a kind are merged: by its schema where there is one.
func (k kind) types() managedfields.TypeConverter {
	if !k.custom {
		return builtin()
	}
	if d, ok := definitions()[k.gvk.Kind]; ok {
		return d.types
	}
	return others()[k.gvk]
}

// others are the types of kinds whose definitions are somebody else's: whatever they hold
// is taken.
var others = sync.OnceValue(func() map[schema.GroupVersionKind]managedfields.TypeConverter {
	all := map[schema.GroupVersionKind]managedfields.TypeConverter{}
	for _, k := range kinds {
		if !k.custom {
			continue
		}
		anything := true
		props := &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &anything, Properties: map[string]apiextensionsv1.JSONSchemaProps{
			"spec": {Type: "object", XPreserveUnknownFields: &anything},
		}}
		types, err := managedfields.NewTypeConverter(map[string]*spec.Schema{k.gvk.Kind: openAPI(props, k.gvk)}, true)
		must(err)
		all[k.gvk] = types
	}
	return all
})

var builtin = sync.OnceValue(func() managedfields.TypeConverter { return applyconfigurations.NewTypeConverter(scheme.Scheme) })

// definition is what one of vpnctl's own definitions says.
type definition struct {
	schema *structural.Structural
	types  managedfields.TypeConverter
}

// definitions are those that the binary carries, by kind. They are sound, see package
// crds.
var definitions = sync.OnceValue(func() map[string]definition {
	all := map[string]definition{}
	for _, file := range crds.Names() {
		var wire apiextensionsv1.CustomResourceDefinition
		must(yaml.UnmarshalStrict(crds.File(file), &wire))
		version := wire.Spec.Versions[0]
		var props apiextensions.JSONSchemaProps
		must(apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(version.Schema.OpenAPIV3Schema, &props, nil))
		s, err := structural.NewStructural(&props)
		must(err)
		of := gvk(wire.Spec.Group, version.Name, wire.Spec.Names.Kind)
		types, err := managedfields.NewTypeConverter(map[string]*spec.Schema{of.Kind: openAPI(version.Schema.OpenAPIV3Schema, of)}, true)
		must(err)
		all[of.Kind] = definition{s, types}
	}
	return all
})

// openAPI is a definition's schema as managedFields are computed from, with those lists
// of the metadata that are merged.
func openAPI(props *apiextensionsv1.JSONSchemaProps, of schema.GroupVersionKind) *spec.Schema {
	data, err := json.Marshal(props)
	must(err)
	s := new(spec.Schema)
	must(json.Unmarshal(data, s))
	s.AddExtension("x-kubernetes-group-version-kind", []any{map[string]any{"group": of.Group, "version": of.Version, "kind": of.Kind}})
	var metadata spec.Schema
	must(json.Unmarshal([]byte(`{"type": "object", "properties": {
		"name": {"type": "string"}, "namespace": {"type": "string"},
		"labels": {"type": "object", "additionalProperties": {"type": "string"}},
		"annotations": {"type": "object", "additionalProperties": {"type": "string"}},
		"finalizers": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
		"ownerReferences": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["uid"], "items": {"type": "object",
			"properties": {"uid": {"type": "string"}, "name": {"type": "string"}, "kind": {"type": "string"}, "apiVersion": {"type": "string"},
			"controller": {"type": "boolean"}, "blockOwnerDeletion": {"type": "boolean"}}}}}}`), &metadata))
	s.Properties["metadata"] = metadata
	return s
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
