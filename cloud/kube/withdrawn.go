package kube

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var definitions = gvr("apiextensions.k8s.io", "v1", "customresourcedefinitions")

// Withdrawn tells whether the CRD of a kind of manifests is being deleted, or gone: the
// server deletes every manifest of the kind then, whatever people think of each. Only
// the CRD's metadata are read. An error that wraps cloud.ErrForbidden says that the
// account may not.
func (d *Driver) Withdrawn(ctx context.Context, kind string) (bool, error) {
	k, known := kindOf(kind)
	if !known || !k.manifest {
		return false, fmt.Errorf("a %s is no manifest", kind)
	}
	name := k.resource.GroupResource().String()
	switch crd, err := d.meta.Resource(definitions).Get(ctx, name, metav1.GetOptions{}); {
	case apierrors.IsNotFound(err):
		return true, nil
	case apierrors.IsForbidden(err):
		return false, fmt.Errorf("reading the CRD %s: %w", name, forbidden{err})
	case err != nil:
		return false, fmt.Errorf("reading the CRD %s: %w", name, err)
	default:
		return crd.DeletionTimestamp != nil, nil
	}
}
