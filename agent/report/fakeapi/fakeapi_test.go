package fakeapi

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
)

// The examples of RFC 7386, appendix A, as far as the target is an object.
func TestMerge(t *testing.T) {
	for _, c := range []struct{ target, patch, want string }{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`{"a":"b"}`, `["c"]`, `["c"]`},
		{`{"e":null}`, `{"a":1}`, `{"a":1,"e":null}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
	} {
		var target, patch any
		if err := json.Unmarshal([]byte(c.target), &target); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(c.patch), &patch); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, string(encode(merge(target, patch)))); diff != "" {
			t.Errorf("%s on %s (-want +got)\n%s", c.patch, c.target, diff)
		}
		if diff := cmp.Diff(c.target, string(encode(target))); diff != "" {
			t.Errorf("the target has changed (-want +got)\n%s", diff)
		}
	}
}

func TestRole(t *testing.T) {
	a := &Account{Namespace: "acme", Name: "dc1", rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{"ina"}, Verbs: []string{"get"}},
		{APIGroups: []string{"g"}, Resources: []string{"peers/status"}, Verbs: []string{"get", "patch"}},
	}}
	ok := Request{Verb: "get", Resource: "secrets", Namespace: "acme", Name: "ina"}
	for sentence, c := range map[string]struct {
		change func(*Request)
		want   bool
	}{
		"what is granted":                 {func(*Request) {}, true},
		"another name":                    {func(r *Request) { r.Name = "bob" }, false},
		"no name":                         {func(r *Request) { r.Name, r.Verb = "", "list" }, false},
		"another verb":                    {func(r *Request) { r.Verb = "patch" }, false},
		"another group":                   {func(r *Request) { r.Group = "g" }, false},
		"another namespace":               {func(r *Request) { r.Namespace = "globex" }, false},
		"a rule without names":            {func(r *Request) { r.Group, r.Resource, r.Verb = "g", "peers/status", "patch" }, true},
		"a resource, not its subresource": {func(r *Request) { r.Group, r.Resource = "g", "peers" }, false},
	} {
		r := ok
		if c.change(&r); a.may(r) != c.want {
			t.Errorf("%s: granted %v", sentence, !c.want)
		}
	}
}
