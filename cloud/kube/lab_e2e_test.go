//go:build e2e

package kube_test

import (
	"context"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/vpnctl/vpnctl/cloud/kube/lab"
	worlds "github.com/vpnctl/vpnctl/cloud/reconcile/world"
	"github.com/vpnctl/vpnctl/crds"
)

// TestKubeProperties: what holds on the simulated API server holds on the real one.
func TestKubeProperties(t *testing.T) {
	var nodes []string
	for _, n := range worlds.Nodes(t) {
		nodes = append(nodes, n.Name+"=openstack:///"+n.ServerID)
	}
	t.Setenv("VPNCTL_KUBELAB", "") // a lab of its own, with these nodes and no others
	t.Setenv("VPNCTL_KUBELAB_NODES", strings.Join(nodes, " "))
	l := lab.Start(t)
	l.Apply(t, crds.YAML())
	for kind, version := range versions { // a CRD is served some time after it is there
		lab.Await(t, time.Minute, func(ctx context.Context) string {
			if _, err := l.Objects(t, version, kind, "").List(ctx, metav1.ListOptions{}); err != nil {
				return kind + ": " + err.Error()
			}
			return ""
		})
	}
	for _, property := range []struct {
		name  string
		holds func(*testing.T, opening)
	}{
		{"what was applied plans empty", plansEmpty},
		{"foreign objects stay", foreignStays},
		{"other managers keep their fields", othersKeepFields},
		{"keys are made", keysAreMade},
		{"keys of others stay", keysOfOthers},
		{"a key stays with its gateway", keyStays},
		{"copies of a key stay", copiesStay},
		{"an operator's objects are taken over", adopts},
		{"statuses and finalizers are recorded", records},
		{"happenings are few events", eventsAreFew},
		{"changes are told", changesAreTold},
		{"answers are as the simulated server gives them", answers},
	} {
		t.Run(property.name, func(t *testing.T) {
			property.holds(t, func(t testing.TB) *world {
				r := &realCluster{lab: l, t: t}
				r.empty()
				return &world{t: t, sim: newCloud(t), on: r}
			})
		})
	}
}

// realCluster is the lab as another hand uses it.
type realCluster struct {
	lab *lab.Lab
	t   testing.TB
}

// versions are the API versions of the kinds that matter here.
var versions = map[string]string{
	"Secret": "v1", "Event": "v1", "ConfigMap": "v1", "ServiceAccount": "v1", "Role": "rbac.authorization.k8s.io/v1", "RoleBinding": "rbac.authorization.k8s.io/v1",
	"NetworkPolicy": "networking.k8s.io/v1", "Deployment": "apps/v1", "NetworkAttachmentDefinition": "k8s.cni.cncf.io/v1",
	"Node": "v1", "PodMonitor": "monitoring.coreos.com/v1", "PrometheusRule": "monitoring.coreos.com/v1",
	"VPNGateway": "vpn.bnerd.net/v1alpha1", "VPNPeer": "vpn.bnerd.net/v1alpha1", "IPsecGateway": "ipsec.bnerd.net/v1alpha1",
}

var inOrder = []string{"Secret", "ConfigMap", "ServiceAccount", "Role", "RoleBinding", "NetworkPolicy", "Deployment",
	"NetworkAttachmentDefinition", "PodMonitor", "PrometheusRule", "VPNGateway", "VPNPeer", "IPsecGateway"}

// empty leaves the customers' namespaces with nothing in them.
func (r *realCluster) empty() {
	r.t.Helper()
	for _, n := range customers {
		r.lab.Apply(r.t, []byte("apiVersion: v1\nkind: Namespace\nmetadata: {name: "+n+"}\n"))
	}
	for _, u := range r.All() {
		of := r.lab.Objects(r.t, u.GetAPIVersion(), u.GetKind(), u.GetNamespace())
		if len(u.GetFinalizers()) > 0 {
			_, _ = of.Patch(r.ctx(), u.GetName(), types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		}
		if err := of.Delete(r.ctx(), u.GetName(), metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			r.t.Fatal(err)
		}
	}
	lab.Await(r.t, time.Minute, func(context.Context) string {
		if left := r.All(); len(left) > 0 {
			return left[0].GetKind() + " " + left[0].GetName() + " is still there"
		}
		return ""
	})
}

func (r *realCluster) restart() {
	r.lab.Kill(r.t, "kube-apiserver")
	r.lab.Up(r.t)
}

func (r *realCluster) ctx() context.Context { return context.WithoutCancel(r.t.Context()) }

func (r *realCluster) Config() *rest.Config {
	c, err := clientcmd.BuildConfigFromFlags("", r.lab.Kubeconfig)
	if err != nil {
		r.t.Fatal(err)
	}
	c.QPS = -1
	return c
}

func (r *realCluster) PutAs(t testing.TB, manager string, object map[string]any) *unstructured.Unstructured {
	t.Helper()
	u := (&unstructured.Unstructured{Object: object}).DeepCopy()
	u.SetManagedFields(nil)
	of := r.lab.Objects(t, u.GetAPIVersion(), u.GetKind(), u.GetNamespace())
	for range 20 { // a controller may come between
		have, err := of.Get(r.ctx(), u.GetName(), metav1.GetOptions{})
		var got *unstructured.Unstructured
		switch {
		case apierrors.IsNotFound(err):
			u.SetResourceVersion("")
			got, err = of.Create(r.ctx(), u, metav1.CreateOptions{FieldManager: manager})
		case err == nil:
			u.SetResourceVersion(have.GetResourceVersion())
			got, err = of.Update(r.ctx(), u, metav1.UpdateOptions{FieldManager: manager})
		}
		if err == nil {
			return got
		}
		if !apierrors.IsConflict(err) {
			t.Fatalf("putting %s %s: %v", u.GetKind(), u.GetName(), err)
		}
	}
	t.Fatalf("%s %s never stood still", u.GetKind(), u.GetName())
	return nil
}

func (r *realCluster) Get(kind, namespace, name string) *unstructured.Unstructured {
	u, err := r.lab.Objects(r.t, versions[kind], kind, namespace).Get(r.ctx(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return u
}

func (r *realCluster) Remove(t testing.TB, kind, namespace, name string) {
	t.Helper()
	r.lab.Delete(t, versions[kind], kind, namespace, name)
}

// All are the objects of the customers' namespaces, but for those that every namespace
// has.
func (r *realCluster) All() []*unstructured.Unstructured {
	r.t.Helper()
	var all []*unstructured.Unstructured
	for _, kind := range inOrder {
		for _, n := range customers {
			l, err := r.lab.Objects(r.t, versions[kind], kind, n).List(r.ctx(), metav1.ListOptions{})
			if err != nil {
				r.t.Fatal(err)
			}
			for i := range l.Items {
				if u := &l.Items[i]; u.GetName() != "kube-root-ca.crt" && u.GetName() != "default" {
					all = append(all, u)
				}
			}
		}
	}
	return all
}
