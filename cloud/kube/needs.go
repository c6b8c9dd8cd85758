package kube

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

const (
	kindRole        = "Role"
	kindRoleBinding = "RoleBinding"
)

// needs are the rights that a plan needs, by key. Whoever changes what Apply calls changes
// this as well: a test takes each right away in turn.
type needs map[string]right

// needsOf are those of some changes. The rules of a Role that is bound and stays as it is
// come from standing; nil: they aren't known.
func needsOf(changes []plan.Change, standing func(namespace, role string) []rbacv1.PolicyRule) needs {
	n, roles := needs{}, map[string][]rbacv1.PolicyRule{}
	for _, c := range changes {
		if rules, is := rulesOf(c); is {
			roles[c.After.ID.Namespace+"/"+c.After.ID.Name] = rules
		}
	}
	gone := leaving(changes)
	for _, c := range changes {
		n.told(c)
		n.change(c)
		if k, known := kindOf(kindIn(c)); known && k.manifest && c.Action == plan.Delete && gone[c.Owner] { // it is told before
			n.status(k, c.ID.Namespace, c.ID.Name)
		}
		if rules, is := rulesOf(c); is {
			n.grant(c.After.ID.Namespace, rules, "escalate", c.After.ID.Name)
		}
		if role := boundBy(c); role != "" {
			rules, pending := roles[c.After.ID.Namespace+"/"+role]
			if !pending {
				rules = standing(c.After.ID.Namespace, role)
			}
			n.grant(c.After.ID.Namespace, rules, "bind", role)
		}
	}
	return n
}

// leaving are the owners whose own manifests go: of their peers it is said before that
// they do, too.
func leaving(changes []plan.Change) map[vpn.Owner]bool {
	gone := map[vpn.Owner]bool{}
	for _, c := range changes {
		if c.Action == plan.Delete && kindIn(c) == c.Owner.Kind && c.ID.Name == c.Owner.Name {
			gone[c.Owner] = true
		}
	}
	return gone
}

// kindIn is the kind of the object that a change removes; empty: it is none.
func kindIn(c plan.Change) string {
	if c.Before == nil || c.Before.Object == nil {
		return ""
	}
	return c.Before.Object.Kind
}

// sorted are the rights in a fixed order.
func (n needs) sorted() []right {
	return slices.SortedFunc(maps.Values(n), func(a, b right) int { return cmp.Compare(a.key(), b.key()) })
}

// add needs a right for some objects; without names, for whatever there is.
func (n needs) add(r right, names ...string) {
	have := n[r.key()]
	r.all = have.all || len(names) == 0
	r.names = slices.Compact(slices.Sorted(slices.Values(slices.Concat(have.names, names))))
	n[r.key()] = r
}

// change needs what carrying out a change calls.
//
//	                   get  create  patch  delete
//	create             x    x       x
//	create, a Secret   x    x
//	update             x            x
//	adopt              x            x
//	adopt, in the way  x    x       x      x
//	replace            x    x       x
//	delete             x                   x
//	delete, held       x            x      x
//
// The pods of a Deployment that goes are waited for, and listed. A manifest that is
// written gets a status.
func (n needs) change(c plan.Change) {
	o := c.After
	if o == nil || c.Action == plan.Delete {
		o = c.Before
	}
	if o == nil || o.Object == nil {
		return
	}
	k, known := kindOf(o.Object.Kind)
	if !known {
		return
	}
	need := func(verbs ...string) {
		for _, verb := range verbs {
			n.add(right{verb: verb, resource: k.resource.GroupResource(), namespace: o.ID.Namespace}, o.ID.Name)
		}
	}
	need("get")
	switch {
	case c.Action == plan.Delete:
		need("delete")
		if have := seen(c); have != nil && held(k, have) {
			need("patch")
		}
		if namespace, _, some := occupants(c); some {
			n.add(right{verb: "list", resource: pods.GroupResource(), namespace: namespace})
		}
		return
	case c.Action == plan.Create && k.secret:
		need("create")
		return
	case c.Action == plan.Create, c.Action == plan.Replace:
		need("create")
	case c.Action == plan.Adopt && c.Before != nil && c.Before.Adopt == cloud.OperatorMade:
		if want, err := document(c.After); err == nil && seen(c) != nil && inTheWay(k, seen(c), want) {
			need("delete", "create")
		}
	}
	need("patch")
	if k.manifest {
		n.status(k, o.ID.Namespace, o.ID.Name)
	}
}

// told needs what telling of a change calls: a gateway's or link's status says how it
// stands. One whose manifest is gone already has none.
func (n needs) told(c plan.Change) {
	if k, known := kindOf(c.Owner.Kind); known && !c.Owner.IsZero() && (c.Action != plan.Delete || c.ID.Kind.Manifest()) {
		n.status(k, c.Owner.Namespace, c.Owner.Name)
	}
}

func (n needs) status(k kind, namespace, name string) {
	n.add(right{verb: "patch", resource: k.resource.GroupResource(), subresource: "status", namespace: namespace}, name)
}

// grant needs what a Role's rules allow: nobody grants what he may not himself, unless he
// may escalate, or bind, the Role.
func (n needs) grant(namespace string, rules []rbacv1.PolicyRule, verb, role string) {
	k, _ := kindOf(kindRole)
	instead := &right{verb: verb, resource: k.resource.GroupResource(), namespace: namespace, names: []string{role}}
	for _, rule := range rules {
		for _, group := range rule.APIGroups {
			for _, what := range rule.Resources {
				plural, sub, _ := strings.Cut(what, "/")
				for _, verb := range rule.Verbs {
					n.add(right{verb: verb, resource: schema.GroupResource{Group: group, Resource: plural}, subresource: sub, namespace: namespace, instead: instead}, rule.ResourceNames...)
				}
			}
		}
	}
}

// rulesOf are what a Role that is to be written grants.
func rulesOf(c plan.Change) ([]rbacv1.PolicyRule, bool) {
	var role rbacv1.Role
	is := written(c, kindRole, &role)
	return role.Rules, is
}

// boundBy is the Role that a RoleBinding which is to be written binds; empty: none.
func boundBy(c plan.Change) string {
	var binding rbacv1.RoleBinding
	if !written(c, kindRoleBinding, &binding) || binding.RoleRef.Kind != kindRole {
		return ""
	}
	return binding.RoleRef.Name
}

// written reads what a change writes, where that is of a kind.
func written(c plan.Change, kind string, into any) bool {
	if c.Action == plan.Delete || c.After == nil || c.After.Object == nil || c.After.Object.Kind != kind {
		return false
	}
	want, err := document(c.After)
	return err == nil && runtime.DefaultUnstructuredConverter.FromUnstructured(want.Object, into) == nil
}

// seen is an object as the plan saw it; nil: it saw none.
func seen(c plan.Change) *unstructured.Unstructured {
	if c.Before == nil || c.Before.Object == nil || c.Before.Object.Live == nil {
		return nil
	}
	return &unstructured.Unstructured{Object: c.Before.Object.Live.Value()}
}
