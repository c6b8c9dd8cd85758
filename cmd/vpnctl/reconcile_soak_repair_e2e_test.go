//go:build e2e

package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.zx2c4.com/wireguard/wgctrl/wgtypes"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vpnctl/vpnctl/cloud/kube/lab"
	"github.com/vpnctl/vpnctl/cloud/simulator"
)

// TestKubeSoakRepairs tampers with everything that a gateway has, in the cluster and in
// the cloud, and wants it back as it was; then goes through what stands in the way, a dry
// run, a stop in the middle of a run, and the order of a removal.
func TestKubeSoakRepairs(t *testing.T) {
	s := newSoak(t, func(estate string) string { return estate + "  monitoring: {podMonitor: true, prometheusRule: true}\n" })
	all := []model{s.gateway(0, 0), s.gateway(1, 0), s.gateway(2, 0)}
	for _, m := range all {
		s.put(m)
	}
	s.start("--resync", "5s")
	s.converged(3*time.Minute, all...)
	s.ended("start")
	s.objectsAreRepaired(all)
	s.ended("objects")
	s.manifestsAreRepaired(all[0])
	s.ended("manifests")
	s.cloudIsRepaired(all)
	s.converged(time.Minute, all...)
	if lies := s.lies(true); len(lies) > 0 {
		t.Error(lies)
	}
	s.stop()
	s.ended("the cloud")
	s.othersAreRefused()
	s.ended("others' objects")
	s.aDryRunWritesNothing()
	s.ended("a dry run")
	s.aStopInTheMiddle()
	s.ended("a stop in the middle")
	s.theOrderOfARemoval(all[0])
	s.end(all...)
	s.ended("removal")
}

// tampering is what another hand does to one field of an object of a kind; "": nothing
// that would not be kept.
var tampering = map[string]string{
	"ConfigMap":                   `{"data": {"KEY": "tampered"}}`,
	"Secret":                      "",
	"ServiceAccount":              `{"automountServiceAccountToken": true}`,
	"Deployment":                  `{"spec": {"replicas": 0}}`,
	"NetworkPolicy":               `{"spec": {"ingress": [{}]}}`,
	"Role":                        `{"rules": [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["*"]}]}`,
	"RoleBinding":                 `{"subjects": []}`,
	"NetworkAttachmentDefinition": `{"spec": {"config": "{}"}}`,
	"PodMonitor":                  `{"spec": {"podMetricsEndpoints": []}}`,
	"PrometheusRule":              `{"spec": {"groups": []}}`,
}

const unlabel = `{"metadata": {"labels": {"app.kubernetes.io/managed-by": null, "vpn.bnerd.net/estate": null, "vpn.bnerd.net/gateway": null}}}`

// objectsAreRepaired edits, unlabels and deletes every object.
func (s *soak) objectsAreRepaired(all []model) {
	s.t.Helper()
	kinds := map[string]bool{}
	longest := time.Duration(0)
	for _, m := range all {
		before := s.owned(m.name)
		for _, key := range slices.Sorted(maps.Keys(before)) {
			was := before[key]
			objects := s.lab.Objects(s.t, was.GetAPIVersion(), was.GetKind(), s.namespace)
			data, _, _ := unstructured.NestedMap(was.Object, "data")
			for _, patch := range []string{tampering[was.GetKind()], unlabel, "delete"} {
				for field := range data {
					patch = strings.Replace(patch, "KEY", field, 1)
				}
				if patch == "" || kinds[was.GetKind()+patch] && was.GetKind() != "ConfigMap" {
					continue // once for every kind
				}
				kinds[was.GetKind()+patch] = true
				var err error
				if patch == "delete" {
					err = objects.Delete(s.t.Context(), was.GetName(), metav1.DeleteOptions{})
				} else {
					_, err = objects.Patch(s.t.Context(), was.GetName(), types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: "tamper"})
				}
				if err != nil {
					s.t.Fatal(err)
				}
				longest = max(longest, s.back(was, patch))
			}
		}
		if was := before["Secret "+m.name+"-wg-key"]; was != nil {
			s.publishedAnew(m, was)
		}
	}
	s.t.Logf("%d ways of tampering with %d kinds: repaired within %s each", len(kinds), len(tampering), longest.Round(100*time.Millisecond))
	for kind := range tampering {
		if !kinds[kind+"delete"] {
			s.t.Errorf("no %s was there", kind)
		}
	}
}

// back waits until an object is as it was, and says how long that took.
func (s *soak) back(was *unstructured.Unstructured, after string) time.Duration {
	s.t.Helper()
	began := time.Now()
	lab.Await(s.t, time.Minute, func(context.Context) string {
		now := s.lab.Get(s.t, was.GetAPIVersion(), was.GetKind(), s.namespace, was.GetName())
		if now == nil {
			return was.GetKind() + " " + was.GetName() + " is gone"
		}
		if after == "delete" && now.GetUID() == was.GetUID() {
			return was.GetKind() + " " + was.GetName() + " is still to go"
		}
		if diff := cmp.Diff(bareOf(was), bareOf(now)); diff != "" {
			return fmt.Sprintf("%s %s after %s (-before +now):\n%s", was.GetKind(), was.GetName(), after, diff)
		}
		return ""
	})
	return time.Since(began)
}

// bareOf is an object without what the cluster writes by itself, and without secrets.
func bareOf(u *unstructured.Unstructured) map[string]any {
	o := u.DeepCopy()
	for _, path := range [][]string{{"status"}, {"data"}, {"secrets"}} {
		if path[0] != "data" || u.GetKind() == "Secret" {
			unstructured.RemoveNestedField(o.Object, path...)
		}
	}
	for _, field := range []string{"managedFields", "resourceVersion", "uid", "generation", "creationTimestamp"} {
		unstructured.RemoveNestedField(o.Object, "metadata", field)
	}
	unstructured.RemoveNestedField(o.Object, "metadata", "annotations", "deployment.kubernetes.io/revision")
	return o.Object
}

// publishedAnew wants the status to have the public key of the Secret that was made anew.
func (s *soak) publishedAnew(m model, was *unstructured.Unstructured) {
	s.t.Helper()
	s.converged(time.Minute, append(s.othersThan(m), m)...)
	now := s.lab.Get(s.t, "v1", "Secret", s.namespace, was.GetName())
	if cmp.Equal(was.Object["data"], now.Object["data"]) {
		s.t.Error("the key that was deleted is the same")
	}
	want := ""
	lab.Await(s.t, time.Minute, func(context.Context) string {
		data, _, _ := unstructured.NestedStringMap(now.Object, "data")
		for _, value := range data {
			want = publicOf(s.t, value)
		}
		got, _, _ := unstructured.NestedString(s.manifests()[m.name].Object, "status", "wireguardPublicKey")
		if got != want {
			return "the public key is " + got + ", want " + want
		}
		return ""
	})
}

func (s *soak) othersThan(m model) []model {
	var rest []model
	for name, u := range s.manifests() {
		if name != m.name {
			rest = append(rest, model{kind: u.GetKind(), name: name})
		}
	}
	return rest
}

// manifestsAreRepaired: the finalizer comes back, and what others write beside it stays.
func (s *soak) manifestsAreRepaired(m model) {
	s.t.Helper()
	objects := s.lab.Objects(s.t, m.apiVersion(), m.kind, s.namespace)
	patch := `{"metadata": {"finalizers": null, "labels": {"team": "a"}, "annotations": {"note": "b"}}}`
	if _, err := objects.Patch(s.t.Context(), m.name, types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: "tamper"}); err != nil {
		s.t.Fatal(err)
	}
	if _, err := objects.Patch(s.t.Context(), m.name, types.MergePatchType, []byte(`{"status": {"serviceCIDR": "10.0.0.0/24", "conditions": []}}`), metav1.PatchOptions{FieldManager: "tamper"}, "status"); err != nil {
		s.t.Fatal(err)
	}
	lab.Await(s.t, time.Minute, func(context.Context) string {
		u := s.lab.Get(s.t, m.apiVersion(), m.kind, s.namespace, m.name)
		cidr, _, _ := unstructured.NestedString(u.Object, "status", "serviceCIDR")
		switch {
		case len(u.GetFinalizers()) != 1:
			return "the finalizer is not back"
		case u.GetLabels()["team"] != "a" || u.GetAnnotations()["note"] != "b":
			s.t.Fatal("what another hand wrote is gone")
		case cidr == "10.0.0.0/24" || lab.ConditionOf(u, "Ready").Status != "True":
			return "the status is not back: " + cidr
		}
		return ""
	})
}

// cloudIsRepaired takes away what gateways have in the cloud.
func (s *soak) cloudIsRepaired(all []model) {
	s.t.Helper()
	look := func() string {
		at := s.look()
		return string(at.cloud.Only(func(o simulator.Object) bool { return !strings.HasPrefix(o.Text("name"), "vpnctl-lock-") }).Normalize().Bytes())
	}
	real, at := s.clouds(), s.look()
	port := at.one("port", "name", "vpnctl-"+s.namespace+"-"+all[0].name)
	group := at.one("security-group", "name", "vpnctl-"+s.namespace+"-"+all[0].name)
	fips := at.cloud.Of("floating-ip").Only(func(o simulator.Object) bool { return o.Text("port_id") == port.ID })
	rules := at.cloud.Of("security-group-rule").Only(func(o simulator.Object) bool {
		return o.Text("security_group_id") == group.ID && o.Text("direction") == "ingress"
	})
	routes, err := real.routes()
	if err != nil || len(routes) == 0 || len(fips) != 1 || len(rules) == 0 || port.ID == "" {
		s.t.Fatalf("nothing to tamper with: %v %d %d %v", routes, len(fips), len(rules), err)
	}
	put := func(path, body string) func() error {
		return func() error { _, err := real.call(http.MethodPut, path, body); return err }
	}
	before, longest := look(), time.Duration(0)
	for _, c := range []struct {
		what string
		do   func() error
	}{
		{"its allowed pairs are taken away", put("ports/"+port.ID, `{"port": {"allowed_address_pairs": []}}`)},
		{"its port is in another group", put("ports/"+port.ID, `{"port": {"security_groups": []}}`)},
		{"its floating IP leads nowhere", put("floatingips/"+fips[0].ID, `{"floatingip": {"port_id": null}}`)},
		{"a rule is deleted", func() error {
			_, err := real.call(http.MethodDelete, "security-group-rules/"+rules[0].ID, "")
			return err
		}},
		{"a route is removed", func() error { return real.unroute(routes[0]) }},
		{"its port is detached", func() error {
			_, err := real.send(http.MethodDelete, real.compute+"servers/"+port.Text("device_id")+"/os-interface/"+port.ID, "")
			return err
		}},
	} {
		began := time.Now()
		if err := c.do(); err != nil {
			s.t.Fatal(err)
		}
		if look() == before {
			s.t.Fatalf("%s: nothing changed", c.what)
		}
		lab.Await(s.t, time.Minute, func(context.Context) string {
			return prefixed(c.what+" (-before +now):\n", cmp.Diff(before, look()))
		})
		longest = max(longest, time.Since(began))
	}
	s.t.Logf("in the cloud: repaired within %s each, with a look every 5 s", longest.Round(100*time.Millisecond))
}

func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

// othersAreRefused: an object of another hand that stands where a gateway's should is
// named, and stays as it is until that hand removes it.
func (s *soak) othersAreRefused() {
	s.t.Helper()
	m := s.gateway(3, 0)
	text := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + m.name + "-nat, namespace: " + s.namespace + "}\ndata: {mine: \"1\"}\n"
	s.lab.Apply(s.t, []byte(text))
	before := s.lab.Get(s.t, "v1", "ConfigMap", s.namespace, m.name+"-nat")
	s.put(m)
	s.start("--resync", "5s")
	lab.Await(s.t, time.Minute, func(context.Context) string {
		c := lab.ConditionOf(s.manifests()[m.name], "Ready")
		if c.Status != "False" || !strings.Contains(c.Message, "not ours") || !strings.Contains(c.Message, "made by lab") {
			return fmt.Sprintf("%+v", c)
		}
		return ""
	})
	time.Sleep(3 * time.Second)
	if now := s.lab.Get(s.t, "v1", "ConfigMap", s.namespace, m.name+"-nat"); now.GetResourceVersion() != before.GetResourceVersion() {
		s.t.Errorf("it was written: %v", now)
	}
	s.lab.Delete(s.t, "v1", "ConfigMap", s.namespace, m.name+"-nat")
	s.converged(3*time.Minute, append(s.othersThan(m), m)...)
	s.drop(m)
	lab.Await(s.t, time.Minute, func(context.Context) string {
		if s.manifests()[m.name] != nil {
			return m.name + " is still there"
		}
		return ""
	})
	s.stop()
}

// aDryRunWritesNothing, although there is something to do.
func (s *soak) aDryRunWritesNothing() {
	s.t.Helper()
	m := s.gateway(4, 0)
	s.put(m)
	mark, began := s.lab.Mark(s.t), time.Now()
	s.start("--dry-run", "--resync", "1s")
	lab.Await(s.t, time.Minute, func(context.Context) string {
		if len(s.since(began)) < 20 {
			return "it doesn't look"
		}
		return ""
	})
	s.stop()
	for _, w := range s.lab.Writes(s.t, mark) {
		if strings.HasPrefix(w.Agent, "vpnctl/") {
			s.t.Errorf("a dry run: %s", w)
		}
	}
	for _, c := range s.since(began) {
		if c.writes() {
			s.t.Errorf("a dry run: %s %s", c.method, c.path)
		}
	}
}

// aStopInTheMiddle of a run ends in good order: no lock and no lease are left, and the next
// controller goes on.
func (s *soak) aStopInTheMiddle() {
	s.t.Helper()
	more := []model{s.gateway(4, 0), s.gateway(5, 0), s.gateway(6, 0), s.gateway(7, 0)}
	for _, m := range more {
		s.put(m)
	}
	began := time.Now()
	s.disturb(func(r *http.Request) simulator.Fault {
		if r.Method == http.MethodGet {
			return simulator.Fault{}
		}
		return simulator.Fault{Do: simulator.Delay, Wait: 200 * time.Millisecond}
	})
	s.start()
	lab.Await(s.t, time.Minute, func(context.Context) string {
		if n := len(slices.DeleteFunc(s.since(began), func(c cloudCall) bool { return !c.writes() })); n < 5 {
			return "it doesn't begin"
		}
		return ""
	})
	s.stop()
	s.disturb(nil)
	for _, p := range s.look().cloud.Of("port") {
		if strings.HasPrefix(p.Text("name"), "vpnctl-lock-") {
			s.t.Errorf("port %s was left", p.Text("name"))
		}
	}
	lease := s.lab.Get(s.t, "coordination.k8s.io/v1", "Lease", s.namespace, "vpnctl-reconcile-"+s.namespace)
	if holder, _, _ := unstructured.NestedString(lease.Object, "spec", "holderIdentity"); holder != "" {
		s.t.Errorf("the lease is still that of %s", holder)
	}
	if len(s.owned(more[3].name)) > 8 {
		s.t.Error("it was not in the middle")
	}
	rest := s.othersThan(more[0])
	s.start()
	s.converged(3*time.Minute, append(rest, more[0])...)
	for _, m := range more {
		s.drop(m)
	}
	lab.Await(s.t, 2*time.Minute, func(context.Context) string {
		if n := len(s.manifests()); n != 3 {
			return fmt.Sprintf("%d gateways stand", n)
		}
		return ""
	})
}

// publicOf is the public key of a private one as a Secret holds it.
func publicOf(t testing.TB, data string) string {
	t.Helper()
	text, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		t.Fatal(err)
	}
	private, err := wgtypes.ParseKey(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return private.PublicKey().String()
}
