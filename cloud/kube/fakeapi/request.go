package fakeapi

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// request is a call with what it came with.
type request struct {
	*http.Request
	call Call
	kind kind
	body []byte
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, reviews) {
		s.review(w, r)
		return
	}
	q, err := read(r)
	if err != nil {
		refuse(w, err)
		return
	}
	fault, denied := s.note(q.call)
	then := func() {
		if fault.Then != nil {
			fault.Then()
		}
	}
	if fault.Code != 0 {
		then()
	}
	switch {
	case fault.Hang:
		select {
		case <-r.Context().Done():
		case <-s.quit:
		}
		panic(http.ErrAbortHandler)
	case fault.Code != 0 && fault.Drop:
		panic(http.ErrAbortHandler)
	case fault.Code != 0:
		refuse(w, apierrors.NewGenericServerResponse(fault.Code, q.call.Verb, resourceOf(q.kind), q.call.Name, "as the test wants it", 0, true))
		return
	case denied:
		refuse(w, apierrors.NewForbidden(resourceOf(q.kind), q.call.Name, errors.New("the test forbids it")))
		return
	}
	if q.call.Verb == "watch" {
		s.watch(w, q)
		return
	}
	s.mu.Lock()
	answer, code, err := s.do(q)
	s.mu.Unlock()
	then()
	switch {
	case fault.Drop:
		panic(http.ErrAbortHandler)
	case err != nil:
		refuse(w, err)
	default:
		reply(w, code, answer)
	}
}

// note takes a call down and asks what is to become of it.
func (s *Server) note(c Call) (f Fault, denied bool) {
	s.mu.Lock()
	s.calls = append(s.calls, c)
	n, intercept, deny := len(s.calls), s.intercept, s.deny
	s.mu.Unlock()
	if intercept != nil {
		f = intercept(n, c)
	}
	return f, deny != nil && deny(c)
}

var verbs = map[string]string{http.MethodGet: "get", http.MethodPost: "create", http.MethodPut: "update", http.MethodPatch: "patch", http.MethodDelete: "delete"}

// read takes a request apart: /api/v1/… or /apis/group/version/…, then
// [namespaces/NAMESPACE/]PLURAL[/NAME[/SUBRESOURCE]].
func read(r *http.Request) (*request, error) {
	q := &request{Request: r}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	var group, version string
	switch {
	case len(parts) > 2 && parts[0] == "api":
		version, parts = parts[1], parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		group, version, parts = parts[1], parts[2], parts[3:]
	default:
		return nil, apierrors.NewGenericServerResponse(http.StatusNotFound, "get", schema.GroupResource{}, "", "", 0, true)
	}
	if len(parts) > 2 && parts[0] == "namespaces" && parts[2] != "status" && parts[2] != "finalize" {
		q.call.Namespace, parts = parts[1], parts[2:]
	}
	q.call.Resource = parts[0]
	if len(parts) > 1 {
		q.call.Name = parts[1]
	}
	if len(parts) > 2 {
		q.call.Subresource = parts[2]
	}
	k, known := kindAt(group, version, q.call.Resource)
	if !known || q.call.Subresource != "" && !(q.call.Subresource == "status" && k.status) {
		return nil, apierrors.NewGenericServerResponse(http.StatusNotFound, "get", schema.GroupResource{Group: group, Resource: parts[0]}, q.call.Name, "", 0, true)
	}
	q.kind, q.call.Query, q.call.Verb = k, r.URL.RawQuery, verbs[r.Method]
	q.call.Metadata = strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata")
	switch {
	case q.call.Verb == "get" && r.URL.Query().Get("watch") != "" && r.URL.Query().Get("watch") != "false":
		q.call.Verb = "watch"
	case q.call.Verb == "get" && q.call.Name == "":
		q.call.Verb = "list"
	case q.call.Verb == "patch" && r.Header.Get("Content-Type") == "application/apply-patch+yaml":
		q.call.Verb = "apply"
	}
	var err error
	q.body, err = io.ReadAll(r.Body)
	return q, err
}

// do carries out a call.
func (s *Server) do(q *request) (any, int, error) {
	have := s.store.get(q.kind, q.call.Namespace, q.call.Name)
	w := write{kind: q.kind, namespace: q.call.Namespace, name: q.call.Name, subresource: q.call.Subresource, manager: q.manager(), asked: true}
	var u *unstructured.Unstructured
	var err error
	code := http.StatusOK
	switch q.call.Verb {
	case "list":
		l, err := s.list(q)
		return l, code, err
	case "get":
		u, err = have, there(have, q)
	case "create":
		code = http.StatusCreated
		if u, err = q.object(); err == nil {
			w.name = u.GetName()
			u, err = s.create(w, u)
		}
	case "apply":
		if have == nil {
			code = http.StatusCreated
		}
		u, err = s.apply(q, w, have)
	case "patch", "update":
		if err = there(have, q); err == nil {
			if u, err = q.edited(have); err == nil {
				u, err = s.replace(w, have, u)
			}
		}
	case "delete":
		if err = there(have, q); err == nil {
			return s.deleteBy(q, have)
		}
	}
	if err != nil {
		return nil, 0, err
	}
	if q.call.Metadata {
		return partial(u), code, nil
	}
	return u.Object, code, nil
}

// manager is who writes.
func (q *request) manager() string {
	if m := q.URL.Query().Get("fieldManager"); m != "" {
		return m
	}
	name, _, _ := strings.Cut(q.UserAgent(), "/")
	return name
}

func (q *request) object() (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal(q.body, &u.Object); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if u.GroupVersionKind() != q.kind.gvk {
		return nil, apierrors.NewBadRequest(u.GroupVersionKind().String() + " in the place of " + q.kind.gvk.String())
	}
	if q.call.Namespace != "" && u.GetNamespace() == "" {
		u.SetNamespace(q.call.Namespace)
	}
	if u.GetNamespace() != q.call.Namespace || q.call.Name != "" && u.GetName() != q.call.Name {
		return nil, apierrors.NewBadRequest("the object's name is not that of the URL")
	}
	return u, nil
}

func there(u *unstructured.Unstructured, q *request) error {
	if u == nil {
		return apierrors.NewNotFound(resourceOf(q.kind), q.call.Name)
	}
	return nil
}

func resourceOf(k kind) schema.GroupResource { return k.gvr().GroupResource() }

func refuse(w http.ResponseWriter, err error) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		status = apierrors.NewInternalError(err)
	}
	body := status.Status()
	body.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	reply(w, int(body.Code), body)
}

func reply(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		panic(http.ErrAbortHandler)
	}
}
