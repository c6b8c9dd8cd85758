package kube

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

var (
	accessReviews = gvr("authorization.k8s.io", "v1", "selfsubjectaccessreviews")
	rulesReviews  = gvr("authorization.k8s.io", "v1", "selfsubjectrulesreviews")
)

// questions is how many reviews are asked for side by side.
const questions = 8

// lacks are those of some rights that the account doesn't have.
func (d *Driver) lacks(ctx context.Context, rights []right) ([]right, error) {
	everywhere := map[string]right{}
	for _, r := range rights {
		everywhere[r.String()] = right{verb: r.verb, resource: r.resource, subresource: r.subresource, all: true}
	}
	barred, err := d.denied(ctx, slices.Collect(maps.Values(everywhere)))
	if err != nil {
		return nil, err
	}
	rights = slices.DeleteFunc(slices.Clone(rights), func(r right) bool {
		return !slices.ContainsFunc(barred, func(b right) bool { return b.String() == r.String() })
	})
	in, err := d.rulesIn(ctx, rights)
	if err != nil {
		return nil, err
	}
	var lacking, doubtful []right
	for _, r := range rights {
		switch at := in[r.namespace]; {
		case permitted(at.ResourceRules, r):
		case at.Incomplete:
			doubtful = append(doubtful, r)
		default:
			lacking = append(lacking, r)
		}
	}
	missing, err := d.denied(ctx, doubtful)
	return append(lacking, missing...), err
}

// rulesIn are the rules of this account in each of the namespaces that rights are in.
func (d *Driver) rulesIn(ctx context.Context, rights []right) (map[string]authorizationv1.SubjectRulesReviewStatus, error) {
	in := map[string]authorizationv1.SubjectRulesReviewStatus{}
	for _, r := range rights {
		in[r.namespace] = authorizationv1.SubjectRulesReviewStatus{}
	}
	all := slices.Sorted(maps.Keys(in))
	found := make([]authorizationv1.SubjectRulesReviewStatus, len(all))
	err := beside(len(all), func(i int) (err error) {
		found[i], err = d.reviewRules(ctx, all[i])
		return err
	})
	for i, namespace := range all {
		in[namespace] = found[i]
	}
	return in, err
}

// reviewRules asks the server what this account may in a namespace. Of one that knows no
// such question, or lets nobody ask, the answer isn't whole.
func (d *Driver) reviewRules(ctx context.Context, namespace string) (authorizationv1.SubjectRulesReviewStatus, error) {
	unknown := authorizationv1.SubjectRulesReviewStatus{Incomplete: true}
	if namespace == "" { // which can't be asked
		return unknown, nil
	}
	ask := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": rulesReviews.GroupVersion().String(), "kind": "SelfSubjectRulesReview", "spec": map[string]any{"namespace": namespace},
	}}
	answer, err := d.api.Resource(rulesReviews).Create(ctx, ask, metav1.CreateOptions{})
	switch {
	case unanswered(err):
		return unknown, nil
	case err != nil:
		return unknown, asking(err)
	}
	var review authorizationv1.SelfSubjectRulesReview
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(answer.Object, &review); err != nil {
		return unknown, asking(err)
	}
	return review.Status, nil
}

// permitted tells whether rules allow a right for each object that it is needed for.
func permitted(rules []authorizationv1.ResourceRule, r right) bool {
	allows := func(name string) bool {
		return slices.ContainsFunc(rules, func(rule authorizationv1.ResourceRule) bool {
			return covered(rule, r) && (len(rule.ResourceNames) == 0 || name != "" && slices.Contains(rule.ResourceNames, name))
		})
	}
	if r.all {
		return allows("")
	}
	return !slices.ContainsFunc(r.names, func(name string) bool { return !allows(name) })
}

// covered tells whether a rule speaks of a right, as RBAC reads rules.
func covered(rule authorizationv1.ResourceRule, r right) bool {
	resources := []string{"*", r.resource.Resource}
	if r.subresource != "" {
		resources = []string{"*", "*/" + r.subresource, r.resource.Resource + "/" + r.subresource}
	}
	among := func(of []string, any ...string) bool {
		return slices.ContainsFunc(of, func(s string) bool { return slices.Contains(any, s) })
	}
	return among(rule.Verbs, "*", r.verb) && among(rule.APIGroups, "*", r.resource.Group) && among(rule.Resources, resources...)
}

// denied are those of some rights of which the server says that the account doesn't have
// them.
func (d *Driver) denied(ctx context.Context, rights []right) ([]right, error) {
	refused := make([]bool, len(rights))
	err := beside(len(rights), func(i int) (err error) {
		refused[i], err = d.refused(ctx, rights[i])
		return err
	})
	if err != nil {
		return nil, err
	}
	var all []right
	for i, r := range rights {
		if refused[i] {
			all = append(all, r)
		}
	}
	return all, nil
}

// refused tells whether a right is missing for some of the objects that it is needed for.
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
	return r.all, nil
}

// review asks the server. One that knows no such question, or lets nobody ask, allows.
func (d *Driver) review(ctx context.Context, r right, name string) (bool, error) {
	ask := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": accessReviews.GroupVersion().String(), "kind": "SelfSubjectAccessReview",
		"spec": map[string]any{"resourceAttributes": map[string]any{
			"verb": r.verb, "group": r.resource.Group, "resource": r.resource.Resource, "subresource": r.subresource, "namespace": r.namespace, "name": name,
		}},
	}}
	answer, err := d.api.Resource(accessReviews).Create(ctx, ask, metav1.CreateOptions{})
	switch {
	case unanswered(err):
		return true, nil
	case err != nil:
		return false, asking(err)
	}
	allowed, _, _ := unstructured.NestedBool(answer.Object, "status", "allowed")
	return allowed, nil
}

// unanswered tells whether a server has no answer to a question about rights.
func unanswered(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsForbidden(err) || apierrors.IsMethodNotSupported(err)
}

func asking(err error) error { return fmt.Errorf("asking what this account may do: %w", err) }

// beside does n things, some side by side, and returns the first error.
func beside(n int, do func(i int) error) error {
	errs := make([]error, n)
	slots := make(chan struct{}, questions)
	var wait sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			errs[i] = do(i)
		})
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
