package fakeapi

import (
	"reflect"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes/scheme"
)

// complete is an object as the server keeps it: fields that its type doesn't have are
// dropped, quantities are written its way, defaults are filled in.
func complete(k kind, u *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if d, ok := definitions()[k.gvk.Kind]; ok && k.custom {
		u = u.DeepCopy()
		pruning.Prune(u.Object, d.schema, true)
		defaulting.Default(u.Object, d.schema)
		return u, nil
	}
	if k.custom {
		return u, nil
	}
	typed, err := scheme.Scheme.New(k.gvk)
	if err != nil {
		return nil, err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, typed); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	if err != nil {
		return nil, err
	}
	kept := &unstructured.Unstructured{Object: object}
	kept.SetGroupVersionKind(k.gvk)
	if meta, _ := object["metadata"].(map[string]any); meta["creationTimestamp"] == nil {
		delete(meta, "creationTimestamp")
	}
	template, _, _ := unstructured.NestedMap(object, "spec", "template", "metadata")
	if stamp, there := template["creationTimestamp"]; there && stamp == nil {
		unstructured.RemoveNestedField(object, "spec", "template", "metadata", "creationTimestamp")
	}
	if u.Object["status"] == nil {
		delete(object, "status")
	}
	if k.gvk.Kind == "Deployment" {
		deploymentDefaults(object)
	}
	return kept, nil
}

// deploymentDefaults are those that an API server fills in.
func deploymentDefaults(object map[string]any) {
	spec := below(object, "spec")
	fill(spec, map[string]any{"replicas": int64(1), "revisionHistoryLimit": int64(10), "progressDeadlineSeconds": int64(600)})
	strategy := below(spec, "strategy")
	fill(strategy, map[string]any{"type": "RollingUpdate"})
	if strategy["type"] == "RollingUpdate" {
		fill(below(strategy, "rollingUpdate"), map[string]any{"maxSurge": "25%", "maxUnavailable": "25%"})
	}
	pod := below(below(spec, "template"), "spec")
	fill(pod, map[string]any{
		"restartPolicy": "Always", "terminationGracePeriodSeconds": int64(30), "dnsPolicy": "ClusterFirst", "schedulerName": "default-scheduler",
	})
	below(pod, "securityContext")
	if name := pod["serviceAccountName"]; name != nil {
		fill(pod, map[string]any{"serviceAccount": name})
	}
	for _, list := range []string{"containers", "initContainers"} {
		containers, _ := pod[list].([]any)
		for _, c := range containers {
			container, _ := c.(map[string]any)
			fill(container, map[string]any{"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File", "imagePullPolicy": "IfNotPresent"})
			below(container, "resources")
		}
	}
}

func below(m map[string]any, name string) map[string]any {
	v, ok := m[name].(map[string]any)
	if !ok {
		v = map[string]any{}
		m[name] = v
	}
	return v
}

func fill(m, defaults map[string]any) {
	for name, v := range defaults {
		if _, there := m[name]; !there {
			m[name] = v
		}
	}
}

// unchangeable refuses changes of what the API doesn't let anybody change.
func unchangeable(k kind, have, u *unstructured.Unstructured) error {
	path := map[string][]string{"Deployment": {"spec", "selector"}, "RoleBinding": {"roleRef"}}[k.gvk.Kind]
	if path == nil {
		return nil
	}
	was, _, _ := unstructured.NestedFieldNoCopy(have.Object, path...)
	is, _, _ := unstructured.NestedFieldNoCopy(u.Object, path...)
	if reflect.DeepEqual(was, is) {
		return nil
	}
	return apierrors.NewInvalid(k.gvk.GroupKind(), u.GetName(), field.ErrorList{
		field.Invalid(field.NewPath(path[0], path[1:]...), "", "field is immutable"),
	})
}
