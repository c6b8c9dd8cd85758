package kube

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/vpnctl/vpnctl/plan"
)

// right is one that a plan needs.
type right struct {
	verb        string
	resource    schema.GroupResource
	subresource string
	namespace   string
	names       []string // of the objects that it is needed for
	all         bool     // it is needed for whatever there is
	instead     *right   // it is needed to grant it, and this one does as well
}

// key is what one right is about.
func (r right) key() string {
	parts := []string{r.verb, r.resource.String(), r.subresource, r.namespace}
	if r.instead != nil {
		parts = append(parts, r.instead.exactly())
	}
	return strings.Join(parts, " ")
}

// exactly is the key with the objects.
func (r right) exactly() string { return r.key() + " " + strings.Join(r.names, " ") }

func (r right) String() string {
	what := r.resource.String()
	if r.subresource != "" {
		what = r.resource.Resource + "/" + r.subresource + strings.TrimPrefix(what, r.resource.Resource)
	}
	return r.verb + " " + what
}

// Lacking names what carrying out changes takes in the cluster and this account may not,
// each right with the namespaces where it is missing. It asks the server about each right
// for all namespaces at once; for what an account may not everywhere, what it may in each
// namespace; and where that answer isn't whole, object by object. A server that doesn't
// answer such questions refuses nothing here. The error is that of asking.
func (d *Driver) Lacking(ctx context.Context, changes []plan.Change) ([]string, error) {
	var unread error
	needed := needsOf(changes, func(namespace, role string) []rbacv1.PolicyRule {
		rules, err := d.rules(ctx, namespace, role)
		if err != nil {
			unread = err
		}
		return rules
	})
	if unread != nil {
		return nil, unread
	}
	lacking, err := d.lacks(ctx, needed.sorted())
	if err != nil {
		return nil, err
	}
	others := map[string]right{}
	for _, r := range lacking {
		if r.instead != nil {
			others[r.instead.exactly()] = *r.instead
		}
	}
	barred, err := d.lacks(ctx, slices.Collect(maps.Values(others)))
	if err != nil {
		return nil, err
	}
	return named(slices.DeleteFunc(lacking, func(r right) bool {
		return r.instead != nil && !slices.ContainsFunc(barred, func(b right) bool { return b.exactly() == r.instead.exactly() })
	})), nil
}

// rules are what a Role grants that stands; none where it can't be seen.
func (d *Driver) rules(ctx context.Context, namespace, name string) ([]rbacv1.PolicyRule, error) {
	k, _ := kindOf(kindRole)
	u, err := d.objects(k, namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err), apierrors.IsForbidden(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading Role %s/%s: %w", namespace, name, err)
	}
	var role rbacv1.Role
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &role); err != nil {
		return nil, fmt.Errorf("reading Role %s/%s: %w", namespace, name, err)
	}
	return role.Rules, nil
}

// named tells of rights, each with the namespaces where it is missing.
func named(rights []right) []string {
	where := map[string][]string{}
	for _, r := range rights {
		what := r.String()
		if r.instead != nil {
			what = "grant " + what
		}
		where[what] = append(where[what], r.namespace)
	}
	var texts []string
	for _, what := range slices.Sorted(maps.Keys(where)) {
		if spaces := slices.Compact(slices.Sorted(slices.Values(where[what]))); spaces[0] == "" { // of a kind that is in none
			texts = append(texts, what)
		} else {
			texts = append(texts, what+" in "+several(spaces))
		}
	}
	return texts
}

// several names the first of many namespaces.
func several(all []string) string {
	if len(all) > 3 {
		return fmt.Sprintf("%s and %d more namespaces", strings.Join(all[:3], ", "), len(all)-3)
	}
	return strings.Join(all, ", ")
}
