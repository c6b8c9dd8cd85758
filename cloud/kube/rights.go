package kube

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/vpnctl/vpnctl/plan"
)

var reviews = gvr("authorization.k8s.io", "v1", "selfsubjectaccessreviews")

// right is one that a plan needs.
type right struct {
	verb        string
	resource    schema.GroupResource
	subresource string
	namespace   string
	names       []string // of the objects that it is needed for
}

// key is what one question is about.
func (r right) key() string {
	return strings.Join([]string{r.verb, r.resource.String(), r.subresource, r.namespace}, " ")
}

func (r right) String() string {
	what := r.resource.String()
	if r.subresource != "" {
		what = r.resource.Resource + "/" + r.subresource + strings.TrimPrefix(what, r.resource.Resource)
	}
	return r.verb + " " + what
}

// Lacking names what a plan writes to the cluster that this account may not, each right
// with the namespaces where it is missing. It asks the server about each right for all
// namespaces at once, then for one after the other, and at last object by object: an
// account may be limited to some. A server that doesn't answer such questions refuses
// nothing here.
func (d *Driver) Lacking(ctx context.Context, changes []plan.Change) ([]string, error) {
	needed := needs(changes)
	everywhere := map[string]right{}
	for _, r := range needed {
		r.namespace, r.names = "", nil
		everywhere[r.key()] = r
	}
	general, err := d.denied(ctx, slices.Collect(maps.Values(everywhere)))
	if err != nil {
		return nil, err
	}
	barred := map[string]bool{}
	for _, r := range general {
		barred[r.String()] = true
	}
	lacking, err := d.denied(ctx, slices.DeleteFunc(needed, func(r right) bool { return !barred[r.String()] }))
	if err != nil {
		return nil, err
	}
	where := map[string][]string{}
	for _, r := range lacking {
		where[r.String()] = append(where[r.String()], r.namespace)
	}
	var texts []string
	for _, what := range slices.Sorted(maps.Keys(where)) {
		texts = append(texts, what+" in "+several(slices.Sorted(slices.Values(where[what]))))
	}
	return texts, nil
}

// several names the first of many namespaces.
func several(all []string) string {
	if len(all) > 3 {
		return fmt.Sprintf("%s and %d more namespaces", strings.Join(all[:3], ", "), len(all)-3)
	}
	return strings.Join(all, ", ")
}

// needs are the rights that changes need, sorted. A server-side apply is a patch, and where
// nothing stands a create besides; what stands is looked at before. Of a Secret no plan
// says whether it is written at all.
func needs(changes []plan.Change) []right {
	all := map[string]right{}
	for _, c := range changes {
		o := c.After
		if o == nil || o.Object == nil {
			o = c.Before
		}
		if o == nil || o.Object == nil {
			continue
		}
		k, known := kindOf(o.Object.Kind)
		if !known || k.secret {
			continue
		}
		add := func(verb, subresource string) {
			r := right{verb: verb, resource: k.resource.GroupResource(), subresource: subresource, namespace: o.ID.Namespace}
			r.names = append(all[r.key()].names, o.ID.Name)
			all[r.key()] = r
		}
		add("get", "")
		switch c.Action {
		case plan.Delete:
			add("delete", "")
			continue
		case plan.Create, plan.Replace:
			add("create", "")
		}
		add("patch", "")
		if k.manifest {
			add("patch", "status")
		}
	}
	return slices.SortedFunc(maps.Values(all), func(a, b right) int { return cmp.Compare(a.key(), b.key()) })
}

// denied are those of some rights that the account doesn't have.
func (d *Driver) denied(ctx context.Context, rights []right) ([]right, error) {
	refused, errs := make([]bool, len(rights)), make([]error, len(rights))
	slots := make(chan struct{}, 8)
	var wait sync.WaitGroup
	for i, r := range rights {
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			refused[i], errs[i] = d.refused(ctx, r)
		})
	}
	wait.Wait()
	var all []right
	for i, r := range rights {
		if errs[i] != nil {
			return nil, fmt.Errorf("asking what this account may do: %w", errs[i])
		}
		if refused[i] {
			all = append(all, r)
		}
	}
	return all, nil
}

// refused tells whether a right is missing for some of the objects that it is needed for;
// without any, for all that there may be.
func (d *Driver) refused(ctx context.Context, r right) (bool, error) {
	allowed, err := d.review(ctx, r, "")
	if allowed || err != nil {
		return false, err
	}
	for _, name := range r.names {
		if allowed, err = d.review(ctx, r, name); !allowed || err != nil {
			return err == nil, err
		}
	}
	return len(r.names) == 0, nil
}

// review asks the server. One that knows no such question, or lets nobody ask, allows.
func (d *Driver) review(ctx context.Context, r right, name string) (bool, error) {
	ask := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": reviews.GroupVersion().String(), "kind": "SelfSubjectAccessReview",
		"spec": map[string]any{"resourceAttributes": map[string]any{
			"verb": r.verb, "group": r.resource.Group, "resource": r.resource.Resource, "subresource": r.subresource, "namespace": r.namespace, "name": name,
		}},
	}}
	answer, err := d.api.Resource(reviews).Create(ctx, ask, metav1.CreateOptions{})
	switch {
	case apierrors.IsNotFound(err), apierrors.IsForbidden(err), apierrors.IsMethodNotSupported(err):
		return true, nil
	case err != nil:
		return false, err
	}
	allowed, _, _ := unstructured.NestedBool(answer.Object, "status", "allowed")
	return allowed, nil
}
