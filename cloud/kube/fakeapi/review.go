package fakeapi

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// reviews is below which path an account asks what it may do.
const reviews = "/apis/authorization.k8s.io/v1/"

// review answers what Deny lets through. It is no call itself: nothing is read or written.
func (s *Server) review(w http.ResponseWriter, r *http.Request) {
	var ask struct {
		Kind string
		Spec struct {
			Namespace          string
			ResourceAttributes struct{ Verb, Resource, Subresource, Namespace, Name string }
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
		refuse(w, err)
		return
	}
	s.mu.Lock()
	s.asked[ask.Kind]++
	deny := s.deny
	s.mu.Unlock()
	if deny == nil {
		deny = func(Call) bool { return false }
	}
	var status map[string]any
	switch a := ask.Spec.ResourceAttributes; strings.TrimPrefix(r.URL.Path, reviews) {
	case "selfsubjectaccessreviews": // what is asked about any namespace or name is denied where a call without one is
		status = map[string]any{"allowed": !deny(Call{Verb: a.Verb, Resource: a.Resource, Subresource: a.Subresource, Namespace: a.Namespace, Name: a.Name})}
	case "selfsubjectrulesreviews":
		status = map[string]any{"resourceRules": s.rules(ask.Spec.Namespace, deny), "nonResourceRules": []any{}, "incomplete": s.Partial}
	default:
		refuse(w, apierrors.NewNotFound(schema.GroupResource{}, r.URL.Path))
		return
	}
	reply(w, http.StatusCreated, map[string]any{"apiVersion": "authorization.k8s.io/v1", "kind": ask.Kind, "status": status})
}

// rules are what Deny lets through in a namespace: for whatever there is, or for those of
// the names of objects that stand there.
func (s *Server) rules(namespace string, deny func(Call) bool) []any {
	names := s.names(namespace)
	var all []any
	for _, k := range kinds {
		for _, sub := range []string{"", "status"} {
			for _, verb := range []string{"get", "list", "watch", "create", "update", "patch", "delete", "bind", "escalate"} {
				c := Call{Verb: verb, Resource: k.plural, Subresource: sub, Namespace: namespace}
				rule := map[string]any{"verbs": []any{verb}, "apiGroups": []any{k.gvk.Group}, "resources": []any{strings.TrimSuffix(k.plural+"/"+sub, "/")}}
				if deny(c) {
					named := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
						c.Name = name
						return deny(c)
					})
					if len(named) == 0 {
						continue
					}
					rule["resourceNames"] = named
				}
				all = append(all, rule)
			}
		}
	}
	return all
}

// names are those of all that stands in a namespace.
func (s *Server) names(namespace string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for _, k := range kinds {
		for _, u := range s.store.list(k, namespace) {
			all = append(all, u.GetName())
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
