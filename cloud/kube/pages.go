package kube

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/vpnctl/vpnctl/cloud"
)

// page is how many objects one answer holds: decoded they are ten times as large, and
// several lists are read side by side.
const page = 250

// together is how many lists are read at once.
const together = 4

// reading is what is taken of a list. An object is not kept unless take keeps it: of a
// large list only a page is there at any time.
type reading[T any] struct {
	take func(*T)
	anew func() // what was taken so far doesn't count: the list is read once more
}

// collecting is a reading that keeps all objects.
func collecting[T any](all *[]T) reading[T] {
	return reading[T]{take: func(one *T) { *all = append(*all, *one) }, anew: func() { *all = nil }}
}

// read reads all pages of a list. One that ended early is read once more, as a whole.
func (r reading[T]) read(selector string, list func(metav1.ListOptions) (items []T, next string, err error)) error {
	o := metav1.ListOptions{LabelSelector: selector, Limit: page}
	for {
		items, next, err := list(o)
		if apierrors.IsResourceExpired(err) && o.Continue != "" {
			r.anew()
			o = metav1.ListOptions{LabelSelector: selector}
			continue
		}
		if err != nil {
			return err
		}
		for i := range items {
			r.take(&items[i])
		}
		if o.Continue = next; next == "" {
			return nil
		}
	}
}

// each reads a list of objects, in one namespace or in all.
func (d *Driver) each(ctx context.Context, r schema.GroupVersionResource, namespace, selector string, reads reading[unstructured.Unstructured]) error {
	err := reads.read(selector, func(o metav1.ListOptions) ([]unstructured.Unstructured, string, error) {
		l, err := d.api.Resource(r).Namespace(namespace).List(ctx, o)
		if err != nil {
			return nil, "", err
		}
		return l.Items, l.GetContinue(), nil
	})
	if apierrors.IsForbidden(err) {
		return fmt.Errorf("listing %s: %w: a ClusterRole with the verb list on %s, bound to this account, lets it", r.GroupResource(), forbidden{err}, r.GroupResource())
	}
	if err != nil {
		return fmt.Errorf("listing %s: %w", r.GroupResource(), err)
	}
	return nil
}

// forbidden is what the server says to an account that lacks a right.
type forbidden struct{ error }

func (e forbidden) Unwrap() error   { return e.error }
func (forbidden) Is(err error) bool { return err == cloud.ErrForbidden }

// eachPlate reads a list of objects' metadata, in one namespace or in all.
func (d *Driver) eachPlate(ctx context.Context, r schema.GroupVersionResource, namespace, selector string, reads reading[metav1.PartialObjectMetadata]) error {
	return reads.read(selector, func(o metav1.ListOptions) ([]metav1.PartialObjectMetadata, string, error) {
		l, err := d.meta.Resource(r).Namespace(namespace).List(ctx, o)
		if err != nil {
			return nil, "", err
		}
		return l.Items, l.GetContinue(), nil
	})
}

// list reads a list that is small.
func (d *Driver) list(ctx context.Context, r schema.GroupVersionResource, selector string) ([]unstructured.Unstructured, error) {
	return d.listIn(ctx, r, "", selector)
}

// listIn is list in one namespace.
func (d *Driver) listIn(ctx context.Context, r schema.GroupVersionResource, namespace, selector string) ([]unstructured.Unstructured, error) {
	var all []unstructured.Unstructured
	err := d.each(ctx, r, namespace, selector, collecting(&all))
	if err != nil {
		return nil, err
	}
	return all, nil
}

// eachOf lists what is ours of a kind, and of manifests all that there are.
func (d *Driver) eachOf(ctx context.Context, k kind, estate string, reads reading[unstructured.Unstructured]) error {
	selector := ofEstate(estate)
	if k.manifest {
		selector = ""
	}
	return notInstalled(k, d.each(ctx, k.resource, "", selector, reads))
}

// notInstalled explains that a cluster doesn't know a kind, where it has to.
func notInstalled(k kind, err error) error {
	switch {
	case apierrors.IsNotFound(err) && k.optional:
		return nil
	case apierrors.IsNotFound(err) && k.manifest:
		return fmt.Errorf("the cluster doesn't know the kind %s: install the CRDs, vpnctl crds | kubectl apply -f -", k.name)
	}
	return err
}
