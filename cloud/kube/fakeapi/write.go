package fakeapi

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

// write is who writes what.
type write struct {
	kind            kind
	namespace, name string
	subresource     string
	manager         string
	asked           bool // by a call, which Deny judges
}

// create makes an object.
func (s *Server) create(w write, u *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if s.store.get(w.kind, w.namespace, w.name) != nil {
		return nil, apierrors.NewAlreadyExists(resourceOf(w.kind), w.name)
	}
	if err := s.place(w); err != nil {
		return nil, err
	}
	u = u.DeepCopy()
	if w.kind.status {
		delete(u.Object, "status")
	}
	u, err := complete(w.kind, u) // before it is noted down who wrote what
	if err != nil {
		return nil, err
	}
	empty := &unstructured.Unstructured{Object: map[string]any{}}
	empty.SetGroupVersionKind(w.kind.gvk)
	if u, err = w.updated(empty, u); err != nil {
		return nil, err
	}
	return s.begin(w, u)
}

// begin takes a new object in.
func (s *Server) begin(w write, u *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if u.GetName() == "" {
		return nil, apierrors.NewInvalid(w.kind.gvk.GroupKind(), "", field.ErrorList{field.Required(field.NewPath("metadata", "name"), "")})
	}
	u, err := complete(w.kind, u)
	if err != nil {
		return nil, err
	}
	if err := s.grants(w, u); err != nil {
		return nil, err
	}
	s.store.made++
	u.SetUID(types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", s.store.made)))
	u.SetCreationTimestamp(metav1.NewTime(time.Now().UTC().Truncate(time.Second)))
	if w.kind.generation {
		u.SetGeneration(1)
	}
	s.store.put(w.kind, u)
	s.wake.Broadcast()
	return u, nil
}

// place refuses what is to lie in a namespace that isn't there, or goes.
func (s *Server) place(w write) error {
	if w.kind.cluster {
		return nil
	}
	namespaces, _ := kindNamed(gvk("", "v1", "Namespace"))
	n := s.store.get(namespaces, "", w.namespace)
	if n == nil {
		return apierrors.NewNotFound(resourceOf(namespaces), w.namespace)
	}
	if n.GetDeletionTimestamp() != nil {
		err := apierrors.NewForbidden(resourceOf(w.kind), w.name, fmt.Errorf("unable to create new content in namespace %s because it is being terminated", w.namespace))
		err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: "NamespaceTerminating", Message: "namespace " + w.namespace + " is being terminated", Field: "metadata.namespace"}}
		return err
	}
	return nil
}

// edited is an object after a merge patch or an update.
func (q *request) edited(have *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if q.call.Verb == "update" {
		return q.object()
	}
	if t := q.Header.Get("Content-Type"); t != string(types.MergePatchType) {
		return nil, apierrors.NewGenericServerResponse(415, "patch", resourceOf(q.kind), q.call.Name, "patches of type "+t, 0, true)
	}
	before, err := json.Marshal(have.Object)
	if err != nil {
		return nil, err
	}
	after, err := jsonpatch.MergePatch(before, q.body)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	u := &unstructured.Unstructured{}
	return u, u.UnmarshalJSON(after)
}

// replace puts an object in the place of what stands there.
func (s *Server) replace(w write, have, u *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if err := same(w, have, u); err != nil {
		return nil, err
	}
	u = u.DeepCopy()
	if w.subresource == "status" { // all else stays
		status, there := u.Object["status"]
		fields := u.GetManagedFields()
		u = have.DeepCopy()
		u.SetManagedFields(fields)
		if u.Object["status"] = status; !there {
			delete(u.Object, "status")
		}
	} else if w.kind.status {
		if u.Object["status"] = have.DeepCopy().Object["status"]; u.Object["status"] == nil {
			delete(u.Object, "status")
		}
	}
	u, err := complete(w.kind, u)
	if err != nil {
		return nil, err
	}
	if u, err = w.updated(have, u); err != nil {
		return nil, err
	}
	return s.settle(w, have, u)
}

// same refuses a write that is meant for another object, or for another state of it. Of
// a status the uid doesn't count.
func same(w write, have, u *unstructured.Unstructured) error {
	k := w.kind
	if uid := u.GetUID(); uid != "" && uid != have.GetUID() && w.subresource == "" {
		return apierrors.NewInvalid(k.gvk.GroupKind(), u.GetName(), field.ErrorList{
			field.Invalid(field.NewPath("metadata", "uid"), string(uid), "field is immutable"),
		})
	}
	if v := u.GetResourceVersion(); v != "" && v != have.GetResourceVersion() {
		return apierrors.NewConflict(resourceOf(k), u.GetName(), fmt.Errorf("the object has been modified; please apply your changes to the latest version and try again"))
	}
	return nil
}

// apply is a server-side apply.
func (s *Server) apply(q *request, w write, have *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(q.body, &u.Object); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if u.GroupVersionKind() != w.kind.gvk || u.GetName() != "" && u.GetName() != w.name {
		return nil, apierrors.NewBadRequest("the object is not that of the URL")
	}
	u.SetName(w.name)
	if !w.kind.cluster {
		u.SetNamespace(w.namespace)
	}
	if w.kind.status && w.subresource == "" {
		delete(u.Object, "status")
	}
	live := have
	if have == nil {
		if u.GetUID() != "" {
			return nil, apierrors.NewConflict(resourceOf(w.kind), w.name, fmt.Errorf("uid mismatch: the provided object specified uid %s, and no existing object was found", u.GetUID()))
		}
		if err := s.place(w); err != nil {
			return nil, err
		}
		live = &unstructured.Unstructured{Object: map[string]any{}}
		live.SetGroupVersionKind(w.kind.gvk)
	} else if err := same(w, have, u); err != nil {
		return nil, err
	}
	u.SetResourceVersion("")
	merged, err := w.applied(live, u, q.URL.Query().Get("force") == "true")
	if err != nil {
		return nil, err
	}
	if have == nil {
		return s.begin(w, merged)
	}
	return s.settle(w, have, merged)
}

// settle takes a changed object in, if it is changed, and lets it go if nothing holds it
// any more.
func (s *Server) settle(w write, have, u *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	u, err := complete(w.kind, u)
	if err != nil {
		return nil, err
	}
	if err := unchangeable(w.kind, have, u); err != nil {
		return nil, err
	}
	keep(have, u)
	if reflect.DeepEqual(have.Object, u.Object) {
		return have, nil
	}
	if err := s.grants(w, u); err != nil {
		return nil, err
	}
	if w.kind.generation && w.subresource == "" && !reflect.DeepEqual(intent(have), intent(u)) {
		u.SetGeneration(have.GetGeneration() + 1)
	}
	s.store.put(w.kind, u)
	if u.GetDeletionTimestamp() != nil && len(u.GetFinalizers()) == 0 {
		s.gone(w.kind, u)
	}
	s.wake.Broadcast()
	return u, nil
}

// keep is what only the server writes.
func keep(have, u *unstructured.Unstructured) {
	u.SetUID(have.GetUID())
	u.SetResourceVersion(have.GetResourceVersion())
	u.SetCreationTimestamp(have.GetCreationTimestamp())
	u.SetDeletionTimestamp(have.GetDeletionTimestamp())
	if have.GetGeneration() != 0 {
		u.SetGeneration(have.GetGeneration())
	}
}

// intent is an object without metadata and status.
func intent(u *unstructured.Unstructured) map[string]any {
	of := map[string]any{}
	for name, v := range u.Object {
		if name != "metadata" && name != "status" {
			of[name] = v
		}
	}
	return of
}
