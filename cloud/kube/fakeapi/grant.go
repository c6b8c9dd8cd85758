package fakeapi

import (
	"fmt"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// grants refuses a Role, and a binding of one, that grants what the account may not itself,
// unless that may escalate the Role, or bind it.
func (s *Server) grants(w write, u *unstructured.Unstructured) error {
	if !w.asked || !s.Guarded || s.deny == nil {
		return nil
	}
	role, verb := u, "escalate"
	switch w.kind.gvk.Kind {
	case "RoleBinding":
		name, _, _ := unstructured.NestedString(u.Object, "roleRef", "name")
		k, _ := kindAt(rbacv1.GroupName, "v1", "roles")
		if role, verb = s.store.get(k, w.namespace, name), "bind"; role == nil {
			return apierrors.NewNotFound(resourceOf(k), name)
		}
	case "Role":
	default:
		return nil
	}
	if !s.deny(Call{Verb: verb, Resource: "roles", Namespace: w.namespace, Name: role.GetName()}) {
		return nil
	}
	var granted rbacv1.Role
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(role.Object, &granted); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	for _, c := range rights(granted.Rules, w.namespace) {
		if s.deny(c) {
			return apierrors.NewForbidden(resourceOf(w.kind), w.name, fmt.Errorf("it grants what the account may not: %s %s %s", c.Verb, c.Resource, c.Name))
		}
	}
	return nil
}

// rights are the calls that rules allow.
func rights(rules []rbacv1.PolicyRule, namespace string) []Call {
	var all []Call
	for _, r := range rules {
		names := r.ResourceNames
		if len(names) == 0 {
			names = []string{""}
		}
		for _, resource := range r.Resources {
			plural, sub, _ := strings.Cut(resource, "/")
			for _, verb := range r.Verbs {
				for _, name := range names {
					all = append(all, Call{Verb: verb, Resource: plural, Subresource: sub, Namespace: namespace, Name: name})
				}
			}
		}
	}
	return all
}
