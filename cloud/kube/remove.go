package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/state"
)

// remove deletes an object and waits until it is gone, with all that it has made: a
// gateway's port must not be taken from under its pod.
func (d *Driver) remove(ctx context.Context, c plan.Change) error {
	if c.Before == nil || c.Before.Object == nil {
		return errors.New("there is nothing to remove")
	}
	before := *c.Before.Object
	k, known := kindOf(before.Kind)
	if !known {
		return fmt.Errorf("objects of kind %s can't be removed", before.Kind)
	}
	objects := d.objects(k, before.Namespace)
	have, err := d.look(ctx, k, before.Namespace, before.Name)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	case before.Live != nil && before.Live.UID != string(have.GetUID()):
		return fmt.Errorf("%w: another object stands there by now", cloud.ErrConflict)
	case k.manifest && c.Before.Proof == cloud.Kin && have.GetLabels()[state.LabelEstate] == "":
	case have.GetLabels()[state.LabelManagedBy] != "vpnctl":
		return fmt.Errorf("%w: it no longer carries the estate's labels", cloud.ErrConflict)
	}
	if err := d.unhold(ctx, k, have); err != nil {
		return err
	}
	uid, propagation := have.GetUID(), propagation(k)
	if have.GetDeletionTimestamp() == nil {
		err := objects.Delete(ctx, before.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}, PropagationPolicy: &propagation})
		if err != nil && !apierrors.IsNotFound(err) {
			return explained(err)
		}
	}
	return d.gone(ctx, k, have)
}

// propagation is how an object is deleted: a Deployment is there until its pod is gone,
// and what nothing hangs from goes at once.
func propagation(k kind) metav1.DeletionPropagation {
	if k.name == kindDeployment {
		return metav1.DeletePropagationForeground
	}
	return metav1.DeletePropagationBackground
}

// unhold takes our own finalizer off a manifest: whoever removes it through here
// removes the cloud side as well.
func (d *Driver) unhold(ctx context.Context, k kind, have *unstructured.Unstructured) error {
	kept := slices.DeleteFunc(have.GetFinalizers(), func(f string) bool { return f == finalizers[k.name] })
	if finalizers[k.name] == "" || len(kept) == len(have.GetFinalizers()) {
		return nil
	}
	return explained(ignoreGone(d.setFinalizers(ctx, k, have, kept)))
}

// gone waits until an object is no longer there.
func (d *Driver) gone(ctx context.Context, k kind, have *unstructured.Unstructured) error {
	late := time.NewTimer(d.options.Gone)
	defer late.Stop()
	tick := time.NewTicker(d.options.Poll)
	defer tick.Stop()
	for {
		now, err := d.look(ctx, k, have.GetNamespace(), have.GetName())
		switch {
		case apierrors.IsNotFound(err), err == nil && now.GetUID() != have.GetUID():
			return nil
		case err != nil && !passing(err):
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-d.options.Stop:
			return fmt.Errorf("stopped while waiting for it to go: %s", waiting(now))
		case <-late.C:
			return fmt.Errorf("still there after %s: %s", d.options.Gone, waiting(now))
		case <-tick.C:
		}
	}
}

// waiting says what a deleted object waits for.
func waiting(have *unstructured.Unstructured) string {
	if have == nil || len(have.GetFinalizers()) == 0 {
		return "the cluster hasn't removed it yet"
	}
	return fmt.Sprintf("it waits for %v", have.GetFinalizers())
}

// passing tells whether a failed read is worth another look.
func passing(err error) bool {
	return apierrors.IsServerTimeout(err) || apierrors.IsTooManyRequests(err) || apierrors.IsTimeout(err) ||
		apierrors.IsServiceUnavailable(err) || apierrors.IsInternalError(err)
}
