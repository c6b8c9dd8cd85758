package kube

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var definitions = gvr("apiextensions.k8s.io", "v1", "customresourcedefinitions")

// Definition is the UID of the CRD of a kind of manifests; empty: it is being deleted, or
// gone, and the server deletes every manifest of the kind then, whatever people think of
// each. One that was made anew has another UID. Only the CRD's metadata are read. An
// error that wraps cloud.ErrForbidden says that the account may not.
func (d *Driver) Definition(ctx context.Context, kind string) (uid string, err error) {
	k, known := kindOf(kind)
	if !known || !k.manifest {
		return "", fmt.Errorf("a %s is no manifest", kind)
	}
	name := k.resource.GroupResource().String()
	switch crd, err := d.meta.Resource(definitions).Get(ctx, name, metav1.GetOptions{}); {
	case apierrors.IsNotFound(err):
		return "", nil
	case apierrors.IsForbidden(err):
		return "", fmt.Errorf("reading the CRD %s: %w", name, forbidden{err})
	case err != nil:
		return "", fmt.Errorf("reading the CRD %s: %w", name, err)
	case crd.DeletionTimestamp != nil:
		return "", nil
	default:
		return string(crd.UID), nil
	}
}
