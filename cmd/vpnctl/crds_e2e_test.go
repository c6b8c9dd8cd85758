//go:build e2e

package main

import (
	"context"
	"errors"
	"os/exec"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/vpnctl/vpnctl/cloud/kube/lab"
	"github.com/vpnctl/vpnctl/crds/admission"
	"github.com/vpnctl/vpnctl/crds/corpus"
)

var definitions = []string{"clusterlinks.ipsec.bnerd.net", "ipsecgateways.ipsec.bnerd.net", "vpngateways.vpn.bnerd.net", "vpnpeers.vpn.bnerd.net"}

// TestKubeCRDs installs the definitions as users do, and puts the corpus before the
// server that then has them.
func TestKubeCRDs(t *testing.T) {
	t.Parallel()
	l := lab.Start(t)
	for _, name := range definitions {
		l.Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", name)
	}
	install := "vpnctl crds | kubectl apply -f -"
	for _, verb := range []string{"created", "unchanged"} {
		want := ""
		for _, name := range definitions {
			want += "customresourcedefinition.apiextensions.k8s.io/" + name + " " + verb + "\n"
		}
		if diff := cmp.Diff(want, shell(t, l, install)); diff != "" {
			t.Fatalf("%s (-want +got)\n%s", install, diff)
		}
	}
	established(t, l)
	c := cluster{t: t, lab: l, namespace: l.Namespace(t)}
	t.Cleanup(func() { l.Delete(t, "ipsec.bnerd.net/v1alpha1", "ClusterLink", "", "north") })
	t.Run("corpus", func(t *testing.T) { c.with(t).corpus() })
	t.Run("status is a resource of its own", func(t *testing.T) { c.with(t).status() })
	t.Run("columns", func(t *testing.T) { c.with(t).columns() })
}

// shell runs a line in bash that uses the lab by kubectl, and gives what it prints.
func shell(t testing.TB, l *lab.Lab, line string) string {
	t.Helper()
	cmd := exec.Command("bash", "-o", "pipefail", "-c", line)
	cmd.Env = append(cmd.Environ(), "KUBECONFIG="+l.Kubeconfig, "HOME="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return string(out)
}

func established(t *testing.T, l *lab.Lab) {
	t.Helper()
	lab.Await(t, time.Minute, func(context.Context) string {
		for _, name := range definitions {
			if lab.ConditionOf(l.Get(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", name), "Established").Status != "True" {
				return name + " is not served yet"
			}
		}
		return ""
	})
}

type cluster struct {
	t         *testing.T
	lab       *lab.Lab
	namespace string
}

func (c cluster) with(t *testing.T) cluster { c.t = t; return c }

// corpus wants the real server to say of each case what stands in it, and to store what
// its own code would here.
func (c cluster) corpus() {
	cases, err := corpus.Cases()
	if err != nil {
		c.t.Fatal(err)
	}
	server, err := admission.New()
	if err != nil {
		c.t.Fatal(err)
	}
	refused := 0
	for _, k := range cases {
		got, err := c.request(k)
		said := reasons(err)
		if diff := cmp.Diff(k.Refused, said); diff != "" {
			c.t.Errorf("%s: %s (-want +got)\n%s", k.Archive, k.Name, diff)
		}
		if err != nil {
			refused++
			continue
		}
		if want, _ := server.Request(k.Object, k.Old); !cmp.Equal(want["spec"], got.Object["spec"]) {
			c.t.Errorf("%s: %s: stored (-want +got)\n%s", k.Archive, k.Name, cmp.Diff(want["spec"], got.Object["spec"]))
		}
	}
	c.t.Logf("%d cases, %d of them refused", len(cases), refused)
}

// request asks for a case and stores nothing that stays.
func (c cluster) request(k corpus.Case) (*unstructured.Unstructured, error) {
	ctx := c.t.Context()
	o := &unstructured.Unstructured{Object: k.Object}
	c.place(o)
	of := c.lab.Objects(c.t, o.GetAPIVersion(), o.GetKind(), o.GetNamespace())
	if k.Old == nil {
		return of.Create(ctx, o, metav1.CreateOptions{DryRun: []string{"All"}, FieldValidation: "Strict"})
	}
	old := &unstructured.Unstructured{Object: k.Old}
	c.place(old)
	made, err := of.Create(ctx, old, metav1.CreateOptions{FieldValidation: "Strict"})
	if err != nil {
		c.t.Fatalf("%s: %s: what it was is refused: %v", k.Archive, k.Name, err)
	}
	defer func() { _ = of.Delete(ctx, old.GetName(), metav1.DeleteOptions{}) }()
	o.SetResourceVersion(made.GetResourceVersion())
	defer o.SetResourceVersion("")
	return of.Update(ctx, o, metav1.UpdateOptions{DryRun: []string{"All"}, FieldValidation: "Strict"})
}

func (c cluster) place(o *unstructured.Unstructured) {
	if o.GetNamespace() != "" {
		o.SetNamespace(c.namespace)
	}
}

var unknownField = regexp.MustCompile(`unknown field "[^"]+"`)

// reasons are those of a refusal, in the words of the corpus.
func reasons(err error) []string {
	if err == nil {
		return nil
	}
	if found := unknownField.FindAllString(err.Error(), -1); found != nil {
		return found
	}
	var status *apierrors.StatusError
	if !errors.As(err, &status) || status.ErrStatus.Details == nil || len(status.ErrStatus.Details.Causes) == 0 {
		return []string{err.Error()}
	}
	var all []string
	for _, cause := range status.ErrStatus.Details.Causes {
		all = append(all, cause.Field+": "+cause.Message)
	}
	return all
}
