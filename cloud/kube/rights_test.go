package kube_test

import (
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
			"create deployments.apps in acme", "create vpngateways.vpn.bnerd.net in acme", "delete deployments.apps in globex", "patch configmaps in acme",
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
		api.Deny = tt.deny
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
	}
}
