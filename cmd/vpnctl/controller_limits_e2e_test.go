//go:build e2e

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/vpnctl/vpnctl/cloud/kube/lab"
	"github.com/vpnctl/vpnctl/render/controller"
)

// account talks to the API server as the controller's.
func (i *installed) account() dynamic.Interface {
	i.t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", i.as)
	if err != nil {
		i.t.Fatal(err)
	}
	config.QPS = -1
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		i.t.Fatal(err)
	}
	return client
}

// gives tries to write a Role with one right, as the account, without storing it.
func (i *installed) gives(as dynamic.Interface, group, resource, verb string) error {
	role := &rbacv1.Role{
		TypeMeta: metav1.TypeMeta{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "Role"}, ObjectMeta: metav1.ObjectMeta{Name: "x", Namespace: i.namespace},
		Rules: []rbacv1.PolicyRule{{APIGroups: []string{group}, Resources: []string{resource}, ResourceNames: []string{"dc1"}, Verbs: []string{verb}}},
	}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(role)
	if err != nil {
		i.t.Fatal(err)
	}
	roles := schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "roles"}
	_, err = as.Resource(roles).Namespace(i.namespace).Create(i.t.Context(), &unstructured.Unstructured{Object: object}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

// without puts the rights in force, all but one.
func (i *installed) without(group, resource, verb string) {
	var rules []any
	for _, r := range controller.Rights() {
		for _, of := range r.Resources {
			verbs := []any{}
			for _, v := range r.Verbs {
				if r.Group+" "+of+" "+v != group+" "+resource+" "+verb {
					verbs = append(verbs, v)
				}
			}
			if len(verbs) > 0 {
				rules = append(rules, map[string]any{"apiGroups": []any{r.Group}, "resources": []any{of}, "verbs": verbs})
			}
		}
	}
	roles := i.lab.Objects(i.t, "rbac.authorization.k8s.io/v1", "ClusterRole", "")
	have, err := roles.Get(i.t.Context(), controller.Name, metav1.GetOptions{})
	if err != nil {
		i.t.Fatal(err)
	}
	have.Object["rules"] = rules
	if _, err := roles.Update(i.t.Context(), have, metav1.UpdateOptions{}); err != nil {
		i.t.Fatal(err)
	}
}

// TestKubeControllerHandsOn takes away, one by one, what the account holds only to hand it
// on: the Role of a gateway is refused then, and the refusal names the right.
func TestKubeControllerHandsOn(t *testing.T) {
	i := install(t, "")
	as := i.account()
	for _, right := range append([]string{" secrets get", "vpn.bnerd.net vpnpeers/status patch"}, handedOn...) {
		part := strings.SplitN(right, " ", 3)
		group, resource, verb := part[0], part[1], part[2]
		i.without("", "", "")
		lab.Await(t, time.Minute, func(context.Context) string {
			if err := i.gives(as, group, resource, verb); err != nil {
				return "with all rights: " + err.Error()
			}
			return ""
		})
		i.without(group, resource, verb)
		lab.Await(t, time.Minute, func(context.Context) string {
			err := i.gives(as, group, resource, verb)
			if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), fmt.Sprintf("Resources:[%q], ResourceNames:[\"dc1\"], Verbs:[%q]", resource, verb)) {
				return fmt.Sprintf("without %s: %v", right, err)
			}
			return ""
		})
	}
}

// mayNot are what somebody with the account's token would like to do. The namespace is
// that of gateways where it says g, the controller's own where it says c.
var mayNot = []string{
	"delete namespaces", "create namespaces", "list namespaces", "get pods g", "create pods g", "create pods/exec g", "get pods/log g", "create pods/portforward g",
	"create serviceaccounts/token g", "create serviceaccounts/token c", "impersonate serviceaccounts g", "impersonate users", "impersonate groups",
	"escalate roles.rbac.authorization.k8s.io g", "bind roles.rbac.authorization.k8s.io g", "update roles.rbac.authorization.k8s.io g",
	"create clusterroles.rbac.authorization.k8s.io", "patch clusterroles.rbac.authorization.k8s.io", "bind clusterroles.rbac.authorization.k8s.io",
	"create clusterrolebindings.rbac.authorization.k8s.io",
	"update secrets g", "deletecollection secrets g", "deletecollection deployments.apps g", "update deployments.apps g", "patch deployments.apps/scale g",
	"create daemonsets.apps g", "create statefulsets.apps g", "create jobs.batch g", "create services g",
	"create vpngateways.vpn.bnerd.net g", "delete vpngateways.vpn.bnerd.net g", "update vpngateways.vpn.bnerd.net g", "patch vpnpeers.vpn.bnerd.net g", "delete vpnpeers.vpn.bnerd.net g",
	"patch nodes", "update nodes", "delete nodes", "patch nodes/status", "create nodes/proxy", "get persistentvolumes",
	"get leases.coordination.k8s.io g", "watch leases.coordination.k8s.io", "delete leases.coordination.k8s.io c", "update leases.coordination.k8s.io c",
	"patch customresourcedefinitions.apiextensions.k8s.io", "create mutatingwebhookconfigurations.admissionregistration.k8s.io", "create certificatesigningrequests.certificates.k8s.io",
}

// TestKubeControllerLimits asks the API server as the account.
func TestKubeControllerLimits(t *testing.T) {
	i := install(t, "")
	as := i.account()
	for _, right := range i.held() {
		part := strings.SplitN(right, " ", 3)
		of := strings.TrimSuffix(part[1]+"."+part[0], ".")
		if at, below, sub := strings.Cut(part[1], "/"); sub {
			of = strings.TrimSuffix(at+"."+part[0], ".") + "/" + below
		}
		if part[1] != "leases" && !i.may(as, part[2]+" "+of+" g") { // or the questions below would prove nothing
			t.Errorf("may not %s %s, though it is held", part[2], of)
		}
	}
	for _, question := range mayNot {
		if i.may(as, question) {
			t.Errorf("may %s", question)
		}
	}
	for _, right := range [][3]string{{"", "pods/exec", "create"}, {"", "secrets", "update"}, {"", "nodes", "patch"}, {"vpn.bnerd.net", "vpngateways", "delete"}} {
		if err := i.gives(as, right[0], right[1], right[2]); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "not currently held") {
			t.Errorf("giving %v: %v", right, err)
		}
	}
	if err := as.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).Delete(t.Context(), i.namespace, metav1.DeleteOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("deleting a namespace: %v", err)
	}
}

// may asks whether the account may do something: "VERB RESOURCE.GROUP/SUBRESOURCE g|c".
func (i *installed) may(as dynamic.Interface, question string) bool {
	i.t.Helper()
	words := strings.Fields(question)
	resource, sub, _ := strings.Cut(words[1], "/")
	resource, group, _ := strings.Cut(resource, ".")
	asked := map[string]any{"verb": words[0], "group": group, "resource": resource, "subresource": sub, "name": "x"}
	if resource == "customresourcedefinitions" { // held by name alone
		asked["name"] = "vpngateways.vpn.bnerd.net"
	}
	if slices.Contains(words, "g") {
		asked["namespace"] = i.namespace
	} else if slices.Contains(words, "c") {
		asked["namespace"] = i.home
	}
	review := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": map[string]any{"resourceAttributes": asked},
	}}
	at := schema.GroupVersionResource{Group: "authorization.k8s.io", Version: "v1", Resource: "selfsubjectaccessreviews"}
	answer, err := as.Resource(at).Create(i.t.Context(), review, metav1.CreateOptions{})
	if err != nil {
		i.t.Fatal(err)
	}
	allowed, _, _ := unstructured.NestedBool(answer.Object, "status", "allowed")
	return allowed
}
