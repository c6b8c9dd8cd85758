package fakeapi

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
)

// Fault is what becomes of a call.
type Fault struct {
	Code int  // answer with this HTTP status and do nothing; 0: do it
	Drop bool // do it (or, with a code, nothing) and cut the connection without an answer
	Hang bool // never answer, until the client gives up

	Then func() // called when it is done, or not done, before the answer
}

// Call is one request.
type Call struct {
	Verb        string // get, list, watch, create, update, patch, apply, delete
	Resource    string // plural, "deployments"
	Subresource string
	Namespace   string
	Name        string
	Query       string
	Metadata    bool // of the metadata alone
}

// Writes tells whether the call is meant to change something.
func (c Call) Writes() bool { return c.Verb != "get" && c.Verb != "list" && c.Verb != "watch" }

// A Server holds objects.
type Server struct {
	// Guarded refuses a Role, and a binding of one, that grants what Deny forbids, unless
	// Deny lets the account escalate it, or bind it. Meanwhile the server does nothing else.
	Guarded bool
	// Partial makes an answer about rights in a namespace say that there may be more.
	Partial bool

	http  *httptest.Server
	mu    sync.Mutex
	wake  *sync.Cond // something changed, or the server closes
	store store
	calls []Call

	intercept func(n int, c Call) Fault // nil: no faults
	deny      func(c Call) bool         // nil: nothing is forbidden

	asked map[string]int
	quit  chan struct{}
}

// New starts a server with the namespaces that are given; it ends with the test.
func New(t testing.TB, namespaces ...string) *Server {
	t.Helper()
	s := &Server{store: newStore(), asked: map[string]int{}, quit: make(chan struct{})}
	s.wake = sync.NewCond(&s.mu)
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.close)
	for _, n := range namespaces {
		s.Put(t, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": n}})
	}
	return s
}

func (s *Server) close() {
	close(s.quit)
	s.wake.Broadcast()
	s.http.CloseClientConnections()
	s.http.Close()
}

// Config reaches the server, with no limit on the rate of calls.
func (s *Server) Config() *rest.Config {
	return &rest.Config{Host: s.http.URL, QPS: -1, UserAgent: "test", Timeout: 30 * time.Second}
}

// Calls are the requests so far.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Call(nil), s.calls...)
}

// Reviews are how often an account has asked what it may do, by the kind of review.
func (s *Server) Reviews() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.asked)
}

// Intercept has the fault of the n-th call, counted from 1, chosen from now on. Nil: no faults.
func (s *Server) Intercept(choose func(n int, c Call) Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.intercept = choose
}

// Deny has it judged from now on whether a call is forbidden. Nil: none is.
func (s *Server) Deny(forbids func(c Call) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deny = forbids
}

// Forget drops the record of calls, so that Calls and the count of Intercept begin anew.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = nil
}

// Expire makes every continue token, and every watch from before now, too old.
func (s *Server) Expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store.expire()
	s.wake.Broadcast()
}

// Disconnect ends all watches and connections, as a restart of the server does.
func (s *Server) Disconnect() { s.http.CloseClientConnections() }

// Copy is another server with the same objects, which doesn't share them.
func (s *Server) Copy(t testing.TB) *Server {
	t.Helper()
	c := New(t)
	s.mu.Lock()
	defer s.mu.Unlock()
	c.store = s.store.copy()
	return c
}

// Put creates or replaces an object as another hand does, field manager "kubectl". The
// object is not changed.
func (s *Server) Put(t testing.TB, object map[string]any) *unstructured.Unstructured {
	t.Helper()
	return s.PutAs(t, "kubectl", object)
}

// PutAs is Put as some field manager.
func (s *Server) PutAs(t testing.TB, manager string, object map[string]any) *unstructured.Unstructured {
	t.Helper()
	u := (&unstructured.Unstructured{Object: object}).DeepCopy()
	k, known := kindNamed(u.GroupVersionKind())
	if !known {
		t.Fatalf("the server knows no %s", u.GroupVersionKind())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w := write{kind: k, namespace: u.GetNamespace(), name: u.GetName(), manager: manager}
	have := s.store.get(k, u.GetNamespace(), u.GetName())
	var got *unstructured.Unstructured
	var err error
	if have == nil {
		got, err = s.create(w, u)
	} else {
		u.SetResourceVersion("")
		u.SetManagedFields(nil)
		got, err = s.replace(w, have, u)
	}
	if err == nil && u.Object["status"] != nil && k.status {
		w.subresource = "status"
		stated := got.DeepCopy()
		stated.Object["status"] = u.DeepCopy().Object["status"]
		got, err = s.replace(w, got, stated)
	}
	if err != nil {
		t.Fatalf("putting %s %s/%s: %v", k.gvk.Kind, u.GetNamespace(), u.GetName(), err)
	}
	return got.DeepCopy()
}

// Get is an object as it stands, nil where there is none. It counts as no call.
func (s *Server) Get(kindName, namespace, name string) *unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range kinds {
		if k.gvk.Kind == kindName {
			if u := s.store.get(k, namespace, name); u != nil {
				return u.DeepCopy()
			}
		}
	}
	return nil
}

// Stands tells whether what a call is about is there.
func (s *Server) Stands(c Call) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(kinds, func(k kind) bool { return k.plural == c.Resource && s.store.get(k, c.Namespace, c.Name) != nil })
}

// All are all objects, by kind, namespace and name.
func (s *Server) All() []*unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*unstructured.Unstructured
	for _, k := range kinds {
		for _, u := range s.store.list(k, "") {
			all = append(all, u.DeepCopy())
		}
	}
	return all
}

// Remove takes an object away as another hand does, in the background.
func (s *Server) Remove(t testing.TB, kindName, namespace, name string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range kinds {
		if k.gvk.Kind == kindName {
			if u := s.store.get(k, namespace, name); u != nil {
				s.delete(k, u, "Background")
				return
			}
		}
	}
	t.Fatalf("there is no %s %s/%s", kindName, namespace, name)
}
