package kube_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud/kube/fakeapi"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
)

// TestLacking: what an account may not do of a plan is named before anything is done.
func TestLacking(t *testing.T) {
	change := func(action plan.Action, kind, namespace, name string) plan.Change {
		r := &resource.Resource{ID: resource.ID{Kind: resource.KubernetesKind(kind), Namespace: namespace, Name: name}, Object: &resource.Object{Kind: kind}}
		if action == plan.Delete {
			return plan.Change{ID: r.ID, Action: action, Before: r}
		}
		return plan.Change{ID: r.ID, Action: action, After: r}
	}
	changes := []plan.Change{
		change(plan.Create, "VPNGateway", "acme", "dc1"), change(plan.Create, "Deployment", "acme", "dc1"), change(plan.Update, "ConfigMap", "acme", "dc1-nat"),
		change(plan.Delete, "Deployment", "globex", "old"), change(plan.Delete, "Deployment", "globex", "older"), change(plan.Create, "Secret", "acme", "dc1-key"),
		{ID: resource.ID{Kind: resource.KindPort, Namespace: "acme", Name: "dc1"}, Action: plan.Create},
	}
	for sentence, tt := range map[string]struct {
		deny func(fakeapi.Call) bool
		want []string
	}{
		"all is allowed": {nil, nil},
		"only what is looked at": {func(c fakeapi.Call) bool { return c.Writes() }, []string{
			"create deployments.apps in acme", "create secrets in acme", "create vpngateways.vpn.bnerd.net in acme", "delete deployments.apps in globex", "patch configmaps in acme",
			"patch deployments.apps in acme", "patch vpngateways.vpn.bnerd.net in acme", "patch vpngateways/status.vpn.bnerd.net in acme",
		}},
		"in two namespaces only": {func(c fakeapi.Call) bool { return c.Namespace != "acme" && c.Namespace != "globex" }, nil},
		"in one namespace only":  {func(c fakeapi.Call) bool { return c.Namespace != "acme" }, []string{"delete deployments.apps in globex", "get deployments.apps in globex"}},
		"no Deployments":         {func(c fakeapi.Call) bool { return c.Resource == "deployments" && c.Verb == "create" }, []string{"create deployments.apps in acme"}},
		"those that are named":   {func(c fakeapi.Call) bool { return c.Verb == "delete" && c.Name != "old" && c.Name != "older" }, nil},
		"all but one of them":    {func(c fakeapi.Call) bool { return c.Verb == "delete" && c.Name != "old" }, []string{"delete deployments.apps in globex"}},
		"not even the statuses":  {func(c fakeapi.Call) bool { return c.Subresource == "status" }, []string{"patch vpngateways/status.vpn.bnerd.net in acme"}},
	} {
		api := fakeapi.New(t, "acme", "globex")
		for _, name := range []string{"old", "older"} {
			api.Put(t, map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"namespace": "globex", "name": name}})
		}
		api.Deny(tt.deny)
		got, err := overFake(t, api).Lacking(t.Context(), changes)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", sentence, diff)
		}
		if calls := api.Calls(); len(calls) > 0 {
			t.Errorf("%s: it was read or written: %v", sentence, calls)
		}
		api.Partial = true
		if got, err = overFake(t, api).Lacking(t.Context(), changes); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s, where rules are listed in part (-want +got)\n%s", sentence, diff)
		}
	}
}

// TestQuestions: an account that may what it needs in 50 namespaces, and there for some
// objects alone, is looked at with one question for each namespace.
func TestQuestions(t *testing.T) {
	var namespaces []string
	var changes []plan.Change
	for n := range 50 {
		namespace := fmt.Sprintf("customer-%02d", n)
		namespaces = append(namespaces, namespace)
		for _, kind := range []string{"Deployment", "ConfigMap", "ServiceAccount", "NetworkPolicy"} {
			r := &resource.Resource{ID: resource.ID{Kind: resource.KubernetesKind(kind), Namespace: namespace, Name: "dc1"}, Object: &resource.Object{Kind: kind}}
			changes = append(changes, plan.Change{ID: r.ID, Action: plan.Update, After: r})
		}
	}
	for sentence, tt := range map[string]struct {
		deny    func(fakeapi.Call) bool
		partial bool
		want    map[string]int
		lacking []string
	}{
		"in all namespaces": {nil, false, map[string]int{"SelfSubjectAccessReview": 8}, nil},
		"in each of them":   {func(c fakeapi.Call) bool { return c.Namespace == "" }, false, map[string]int{"SelfSubjectAccessReview": 8, "SelfSubjectRulesReview": 50}, nil},
		"some objects":      {func(c fakeapi.Call) bool { return c.Name != "dc1" }, false, map[string]int{"SelfSubjectAccessReview": 8, "SelfSubjectRulesReview": 50}, nil},
		"more than is told": {func(c fakeapi.Call) bool { return c.Name != "dc1" }, true, map[string]int{"SelfSubjectAccessReview": 8, "SelfSubjectRulesReview": 50}, nil},
		"all but one right": {func(c fakeapi.Call) bool { return c.Verb == "patch" && c.Resource == "configmaps" }, false, map[string]int{"SelfSubjectAccessReview": 8, "SelfSubjectRulesReview": 50},
			[]string{"patch configmaps in customer-00, customer-01, customer-02 and 47 more namespaces"}},
		"one right in one namespace, and more than is told": {func(c fakeapi.Call) bool {
			return c.Namespace == "" || c.Verb == "patch" && c.Resource == "configmaps" && c.Namespace == "customer-07"
		}, true, map[string]int{"SelfSubjectAccessReview": 8 + 2, "SelfSubjectRulesReview": 50}, []string{"patch configmaps in customer-07"}},
	} {
		api := fakeapi.New(t, namespaces...)
		for _, namespace := range namespaces {
			api.Put(t, map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"namespace": namespace, "name": "dc1"}})
		}
		api.Partial = tt.partial
		api.Deny(tt.deny)
		got, err := overFake(t, api).Lacking(t.Context(), changes)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.lacking, got); diff != "" {
			t.Errorf("%s: lacking (-want +got)\n%s", sentence, diff)
		}
		if diff := cmp.Diff(tt.want, api.Reviews()); diff != "" {
			t.Errorf("%s: questions (-want +got)\n%s", sentence, diff)
		}
	}
}
