package fakeapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// deleteBy deletes as a request asks for it.
func (s *Server) deleteBy(q *request, have *unstructured.Unstructured) (any, int, error) {
	var o metav1.DeleteOptions
	if len(q.body) > 0 {
		if err := json.Unmarshal(q.body, &o); err != nil {
			return nil, 0, apierrors.NewBadRequest(err.Error())
		}
	}
	if p := o.Preconditions; p != nil {
		if p.UID != nil && *p.UID != have.GetUID() {
			return nil, 0, apierrors.NewConflict(resourceOf(q.kind), q.call.Name, fmt.Errorf("the UID in the precondition (%s) does not match the UID in record (%s)", *p.UID, have.GetUID()))
		}
		if p.ResourceVersion != nil && *p.ResourceVersion != have.GetResourceVersion() {
			return nil, 0, apierrors.NewConflict(resourceOf(q.kind), q.call.Name, fmt.Errorf("the ResourceVersion in the precondition does not match"))
		}
	}
	policy := metav1.DeletePropagationBackground
	if o.PropagationPolicy != nil {
		policy = *o.PropagationPolicy
	}
	s.delete(q.kind, have, policy)
	return metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess}, http.StatusOK, nil
}

// delete lets an object go, once nothing holds it any more. Its dependents go as well:
// at foreground before it.
func (s *Server) delete(k kind, have *unstructured.Unstructured, policy metav1.DeletionPropagation) {
	defer s.wake.Broadcast()
	u := have.DeepCopy()
	if u.GetDeletionTimestamp() == nil {
		now := metav1.NewTime(time.Now().UTC().Truncate(time.Second))
		u.SetDeletionTimestamp(&now)
		zero := int64(0)
		u.SetDeletionGracePeriodSeconds(&zero)
		if k.generation {
			u.SetGeneration(u.GetGeneration() + 1)
		}
	}
	if policy == metav1.DeletePropagationForeground && !slices.Contains(u.GetFinalizers(), metav1.FinalizerDeleteDependents) {
		u.SetFinalizers(append(u.GetFinalizers(), metav1.FinalizerDeleteDependents))
	}
	if len(u.GetFinalizers()) == 0 {
		s.gone(k, u)
		return
	}
	s.store.put(k, u)
	if policy == metav1.DeletePropagationForeground {
		s.collect(k, u)
	}
}

// gone removes an object, and lets its dependents go.
func (s *Server) gone(k kind, u *unstructured.Unstructured) {
	s.store.remove(k, u)
	for _, d := range s.dependents(u) {
		s.delete(d.kind, d.object, metav1.DeletePropagationBackground)
	}
	for _, ref := range u.GetOwnerReferences() { // whose deletion may have waited for it
		for _, k := range kinds {
			for _, owner := range s.store.list(k, "") {
				if owner.GetUID() == ref.UID {
					s.collect(k, owner)
				}
			}
		}
	}
}

// collect deletes the dependents of what is being deleted in the foreground, and takes
// its finalizer off once there are none.
func (s *Server) collect(k kind, u *unstructured.Unstructured) {
	if u.GetDeletionTimestamp() == nil || !slices.Contains(u.GetFinalizers(), metav1.FinalizerDeleteDependents) {
		return
	}
	for _, d := range s.dependents(u) {
		if d.object.GetDeletionTimestamp() == nil {
			s.delete(d.kind, d.object, metav1.DeletePropagationForeground)
		}
	}
	now := s.store.get(k, u.GetNamespace(), u.GetName())
	if now == nil || now.GetUID() != u.GetUID() || len(s.dependents(u)) > 0 {
		return
	}
	now = now.DeepCopy()
	now.SetFinalizers(slices.DeleteFunc(now.GetFinalizers(), func(f string) bool { return f == metav1.FinalizerDeleteDependents }))
	if len(now.GetFinalizers()) == 0 {
		s.gone(k, now)
		return
	}
	s.store.put(k, now)
}

type dependent struct {
	kind   kind
	object *unstructured.Unstructured
}

func (s *Server) dependents(of *unstructured.Unstructured) []dependent {
	var all []dependent
	for _, k := range kinds {
		for _, u := range s.store.list(k, of.GetNamespace()) {
			if slices.ContainsFunc(u.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == of.GetUID() }) {
				all = append(all, dependent{k, u})
			}
		}
	}
	return all
}
