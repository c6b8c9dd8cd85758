package fakeapi

import (
	"encoding/json"
	"net/http"
)

// reviewPath is where an account asks what it may do.
const reviewPath = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"

// review answers whether Deny lets a call through. It is no call itself: nothing is read or
// written. What is asked about any namespace or name is denied where a call without one is.
func (s *Server) review(w http.ResponseWriter, r *http.Request) {
	var ask struct {
		Spec struct {
			ResourceAttributes struct{ Verb, Resource, Subresource, Namespace, Name string }
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
		refuse(w, err)
		return
	}
	s.mu.Lock()
	deny := s.Deny
	s.mu.Unlock()
	a := ask.Spec.ResourceAttributes
	allowed := deny == nil || !deny(Call{Verb: a.Verb, Resource: a.Resource, Subresource: a.Subresource, Namespace: a.Namespace, Name: a.Name})
	reply(w, http.StatusCreated, map[string]any{
		"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "status": map[string]any{"allowed": allowed},
	})
}
