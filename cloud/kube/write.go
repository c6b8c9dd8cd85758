package kube

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// write applies an object.
//
//	in the cluster             create            update, adopt
//	nothing                    apply             conflict
//	ours                       apply             apply, if it is as the plan saw it
//	ours, without its labels   apply             conflict
//	somebody else's            conflict          adopt: apply; update: conflict
//	being deleted              conflict          conflict; replace: apply once it is gone
//
// What another manager holds is taken back where the object is ours, or was the
// operator's, and named where it isn't.
func (d *Driver) write(ctx context.Context, c plan.Change) error {
	if c.After == nil || c.After.Object == nil {
		return errors.New("there is nothing to write")
	}
	after := *c.After.Object
	if len(after.Unknown) > 0 {
		return fmt.Errorf("the content still waits for %s", strings.Join(after.Unknown, ", "))
	}
	k, known := kindOf(after.Kind)
	if !known {
		return fmt.Errorf("objects of kind %s can't be written", after.Kind)
	}
	if k.secret {
		return d.writeKey(ctx, k, c)
	}
	want, err := document(c.After)
	if err != nil {
		return err
	}
	have, err := d.objects(k, after.Namespace).Get(ctx, after.Name, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	there := err == nil
	if c.Action == plan.Replace {
		return d.writeAnew(ctx, k, c, have, there, want)
	}
	if err := guard(c, have, there, want.GetLabels()[state.LabelEstate]); err != nil {
		return err
	}
	adopts := there && c.Action == plan.Adopt && c.Before.Adopt == cloud.OperatorMade
	if adopts {
		if have, err = d.takeOver(ctx, k, have, want); err != nil {
			return err
		}
		there = have != nil
	}
	if there {
		want.SetUID(have.GetUID()) // and nothing that came in its place
	}
	force := there && (c.Action != plan.Adopt || adopts)
	got, err := d.objects(k, after.Namespace).Apply(ctx, after.Name, want, metav1.ApplyOptions{FieldManager: Manager, Force: force})
	if err == nil && adopts && there {
		return d.disclaim(ctx, k, got)
	}
	return explained(err)
}

// writeAnew waits for an object that is being deleted to go, and makes it again, unless
// another one came in its place. Of a manifest our own finalizer is taken off: nothing of
// its gateway is to go.
func (d *Driver) writeAnew(ctx context.Context, k kind, c plan.Change, have *unstructured.Unstructured, there bool, want *unstructured.Unstructured) error {
	if there {
		seen := c.Before.Object.Live
		if seen == nil || seen.UID != string(have.GetUID()) || have.GetDeletionTimestamp() == nil {
			return fmt.Errorf("%w: another object stands there by now", cloud.ErrConflict)
		}
		if err := d.unhold(ctx, k, have); err != nil {
			return err
		}
		if err := d.gone(ctx, k, have); err != nil {
			return err
		}
		now, err := d.look(ctx, k, want.GetNamespace(), want.GetName())
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
		c.Before = nil // what the plan saw is gone: from here on it is a create
		if err := guard(c, now, err == nil, want.GetLabels()[state.LabelEstate]); err != nil {
			return err
		}
		if err == nil {
			want.SetUID(now.GetUID())
		}
	}
	_, err := d.objects(k, want.GetNamespace()).Apply(ctx, want.GetName(), want, metav1.ApplyOptions{FieldManager: Manager})
	return explained(err)
}

// document is a desired object as it is sent.
func document(r *resource.Resource) (*unstructured.Unstructured, error) {
	var object map[string]any
	if err := yaml.Unmarshal([]byte(r.Object.Content), &object); err != nil {
		return nil, fmt.Errorf("reading what is to be written: %w", err)
	}
	delete(object, "status")
	u := &unstructured.Unstructured{Object: object}
	return u, nil
}

// guard compares what is in the cluster with what the plan saw.
func guard(c plan.Change, have *unstructured.Unstructured, there bool, estate string) error {
	before := c.Before
	create := before == nil || before.Object == nil
	switch {
	case !there && create:
		return nil
	case !there:
		return fmt.Errorf("%w: the object is gone", cloud.ErrConflict)
	case have.GetDeletionTimestamp() != nil:
		return fmt.Errorf("%w: it is being deleted", cloud.ErrConflict)
	}
	owner, marked := ours(have, estate)
	switch {
	case create && marked && (owner == vpn.Owner{} || owner.String() == c.Owner.String()):
		return nil // this very create, whose answer was lost
	case create && bereft(have, estate, c.Owner.String()):
		return nil
	case create:
		return fmt.Errorf("%w: an object that the plan didn't see stands there", cloud.ErrConflict)
	case !marked && c.Action != plan.Adopt:
		return fmt.Errorf("%w: it no longer carries the estate's labels", cloud.ErrConflict)
	case before.Object.Live != nil && !asSeen(before.Object.Live, have):
		return fmt.Errorf("%w: it was changed since the plan was made", cloud.ErrConflict)
	}
	return nil
}

// asSeen tells whether an object still says what the plan saw.
func asSeen(l *resource.Live, have *unstructured.Unstructured) bool {
	return l.UID == string(have.GetUID()) && (l.Version == have.GetResourceVersion() || bytes.Equal(l.JSON, packed(have.Object)))
}

// explained says of a conflict who holds which field, and what else helps.
func explained(err error) error {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return err
	}
	details := status.Status().Details
	switch {
	case apierrors.IsConflict(err) && details != nil && len(details.Causes) > 0:
		var held []string
		for _, cause := range details.Causes {
			held = append(held, fmt.Sprintf("%s (%s)", cause.Field, cause.Message))
		}
		return fmt.Errorf("%w: others hold %s", cloud.ErrConflict, strings.Join(held, ", "))
	case apierrors.IsConflict(err):
		return fmt.Errorf("%w: %w", cloud.ErrConflict, err)
	case otherUID(details):
		return fmt.Errorf("%w: another object stands there by now", cloud.ErrConflict)
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return fmt.Errorf("%w: %w", cloud.ErrRejected, err)
	case apierrors.IsNotFound(err) && details != nil && details.Kind == "namespaces":
		return fmt.Errorf("%w: namespace %s is not there: vpnctl makes no namespaces", cloud.ErrUnresolved, details.Name)
	}
	return err
}

// otherUID tells whether an API server refused a write because it was meant for an object
// that isn't there any more.
func otherUID(details *metav1.StatusDetails) bool {
	return details != nil && slices.ContainsFunc(details.Causes, func(c metav1.StatusCause) bool { return c.Field == "metadata.uid" })
}
