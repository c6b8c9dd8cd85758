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
	for range attempts {
		have, err := d.look(ctx, k, before.Namespace, before.Name)
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := removable(c, have); err != nil {
			return err
		}
		switch done, err := d.delete(ctx, k, have); {
		case err != nil:
			return err
		case done:
			return d.gone(ctx, k, have)
		}
	}
	return errBusy
}

// errBusy: an object never stood still for as long as it takes to read and write it.
var errBusy = fmt.Errorf("%w: others write to it all the time", cloud.ErrConflict)

// removable tells why an object is not to be removed as it is now.
func removable(c plan.Change, have *unstructured.Unstructured) error {
	seen := c.Before.Object.Live
	switch {
	case seen == nil && have.GetLabels()[state.LabelManagedBy] != "vpnctl":
		return fmt.Errorf("%w: it no longer carries the estate's labels", cloud.ErrConflict)
	case seen == nil:
		return nil
	case seen.UID != string(have.GetUID()):
		return fmt.Errorf("%w: another object stands there by now", cloud.ErrConflict)
	case marksOf(&unstructured.Unstructured{Object: seen.Value()}) != marksOf(have):
		return fmt.Errorf("%w: the labels or the annotation that say whose it is were changed since the plan was made", cloud.ErrConflict)
	}
	return nil
}

// delete deletes an object exactly as it was read, without our finalizer. Nothing is done
// where it was changed meanwhile: whose it is has to be looked at again.
func (d *Driver) delete(ctx context.Context, k kind, have *unstructured.Unstructured) (done bool, err error) {
	if held(k, have) {
		err := d.unhold(ctx, k, have)
		return false, unlessChanged(err)
	}
	if have.GetDeletionTimestamp() != nil {
		return true, nil
	}
	uid, version, propagation := have.GetUID(), have.GetResourceVersion(), propagation(k)
	err = d.objects(k, have.GetNamespace()).Delete(ctx, have.GetName(), metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &version}, PropagationPolicy: &propagation,
	})
	if apierrors.IsConflict(err) {
		return false, nil
	}
	return err == nil || apierrors.IsNotFound(err), explained(ignoreGone(err))
}

// unlessChanged is an error other than that an object was changed, or replaced.
func unlessChanged(err error) error {
	if errors.Is(err, cloud.ErrConflict) {
		return nil
	}
	return err
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
	if !held(k, have) {
		return nil
	}
	kept := slices.DeleteFunc(have.GetFinalizers(), func(f string) bool { return f == finalizers[k.name] })
	return explained(ignoreGone(d.setFinalizers(ctx, k, have, kept)))
}

// held tells whether a manifest has our finalizer.
func held(k kind, have *unstructured.Unstructured) bool {
	return finalizers[k.name] != "" && slices.Contains(have.GetFinalizers(), finalizers[k.name])
}

// gone waits until an object is no longer there: most are at once, or soon.
func (d *Driver) gone(ctx context.Context, k kind, have *unstructured.Unstructured) error {
	late := time.NewTimer(d.options.Gone)
	defer late.Stop()
	for pause := d.options.Poll / 10; ; pause = min(2*pause, d.options.Poll) {
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
		case <-time.After(pause):
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
