package loop_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/kube"
	"github.com/vpnctl/vpnctl/cloud/kube/fakeapi"
	"github.com/vpnctl/vpnctl/cloud/reconcile/loop"
	"github.com/vpnctl/vpnctl/cloud/reconcile/world"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/crds"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// apiField is a cloud, and an API server with the real driver.
type apiField struct {
	*world.World
	api *fakeapi.Server
	c   *loop.Controller
}

func newFieldOverAPI(t *testing.T) *apiField {
	f := &apiField{World: world.New(t, simulator.Options{}), api: world.API(t, "acme", "globex", "initech")}
	f.put(definitions()...)
	file := filepath.Join(t.TempDir(), "vpnctl.yaml")
	(&field{World: f.World, file: file}).estateFile(clusterEstate)
	driver, err := kube.Over(f.api.Config(), kube.Options{Gone: 10 * time.Second, Poll: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	operator, err := f.Connect(t.Context(), "operator")
	if err != nil {
		t.Fatal(err)
	}
	f.c = &loop.Controller{
		EstateFile: file, Cluster: driver, Herald: driver, Drivers: []cloud.Driver{operator, driver}, Locker: operator, Holder: "test",
		Missing: driver.Missing, PublicKey: driver.PublicKey, Definition: driver.Definition,
	}
	return f
}

func (f *apiField) turns(n int) {
	for range n {
		f.c.Round(f.T.Context())
	}
}

// put writes manifests.
func (f *apiField) put(all ...vpn.Manifest) {
	f.T.Helper()
	for _, m := range all {
		var object map[string]any
		if err := json.Unmarshal([]byte(m.JSON), &object); err != nil {
			f.T.Fatal(err)
		}
		f.api.Put(f.T, object)
	}
}

// definitions are the CRDs.
func definitions() []vpn.Manifest {
	var all []vpn.Manifest
	for _, file := range crds.Names() {
		text, err := yaml.YAMLToJSON(crds.File(file))
		if err != nil {
			panic(err)
		}
		all = append(all, vpn.Manifest{JSON: string(text)})
	}
	return all
}

// said is a condition of a manifest.
func (f *apiField) said(kind, namespace, name, condition string) string {
	u := f.api.Get(kind, namespace, name)
	if u == nil {
		return "not there"
	}
	list, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, x := range list {
		if c := x.(map[string]any); c["type"] == condition {
			return strings.TrimSuffix(fmt.Sprintf("%s %s: %s", c["status"], c["reason"], c["message"]), ": ")
		}
	}
	return "nothing said"
}

// TestAControllerOverAnAPIServer goes through the real driver of a cluster: manifests
// come, are made, rest, and go, and other hands' work on them stays.
func TestAControllerOverAnAPIServer(t *testing.T) {
	f := newFieldOverAPI(t)
	api, w, turns := f.api, f.World, f.turns
	f.put(manifestsOf(t, "acme/dc1")...)
	turns(2)
	gateway := func() *unstructured.Unstructured { return api.Get("VPNGateway", "acme", "dc1") }
	ready := func() string { return f.said("VPNGateway", "acme", "dc1", vpnv1alpha1.ConditionReady) }
	if got := gateway().GetFinalizers(); len(got) != 1 || got[0] != vpnv1alpha1.Finalizer {
		t.Errorf("finalizers %v", got)
	}
	status, _ := json.Marshal(gateway().Object["status"])
	for _, part := range []string{`"serviceCIDR":"100.64.0.0/24"`, `"floatingIP":"203.0.113.`, `"nodeName":"worker-`, `"type":"PortReady"`, fmt.Sprintf(`"observedGeneration":%d,`, gateway().GetGeneration())} {
		if !strings.Contains(string(status), part) {
			t.Errorf("no %s in the status %s", part, status)
		}
	}
	deployment := api.Get("Deployment", "acme", "dc1")
	if deployment == nil {
		t.Fatalf("no Deployment was made; the status is %s", status)
	}
	deployment.Object["status"] = map[string]any{"availableReplicas": int64(1), "readyReplicas": int64(1), "replicas": int64(1), "updatedReplicas": int64(1),
		"observedGeneration": deployment.GetGeneration(), "conditions": []any{map[string]any{"type": "Available", "status": "True"}}}
	api.PutAs(t, "kube-controller-manager", deployment.Object)
	turns(1)
	if got := ready(); got != "False PeerSecretMissing: DeploymentReady: no Secret plant1-psk (key psk)" {
		t.Errorf("without the peer's Secret: %s", got)
	}
	api.Put(t, map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"namespace": "acme", "name": "plant1-psk"}, "data": map[string]any{"other": "eA=="}})
	turns(1)
	if got := ready(); got != "False PeerSecretMissing: DeploymentReady: no Secret plant1-psk (key psk)" {
		t.Errorf("with a Secret without its key: %s", got)
	}
	api.Put(t, map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"namespace": "acme", "name": "plant1-psk"}, "data": map[string]any{"psk": "eA=="}})
	turns(1)
	if got := ready(); got != "True Ready" {
		t.Errorf("with all: %s", got)
	}

	api.Forget()
	w.Sim.Reset()
	turns(1)
	for _, call := range api.Calls() {
		if call.Writes() {
			t.Errorf("a round with nothing to do: %s %s %s/%s %s", call.Verb, call.Resource, call.Namespace, call.Name, call.Subresource)
		}
	}
	if tally := simulator.Count(w.Sim.Calls()); tally.Writes > 0 {
		t.Errorf("a round with nothing to do: %v", tally.By)
	}
	t.Logf("a round with nothing to do: %d calls to the API server, %d to the cloud", len(api.Calls()), len(w.Sim.Calls()))

	api.Remove(t, "VPNGateway", "acme", "dc1")
	api.Remove(t, "VPNPeer", "acme", "plant1")
	turns(3)
	if gateway() != nil {
		status, _ := json.Marshal(gateway().Object["status"])
		t.Errorf("deleted, it still stands: %s", status)
	}
	for _, o := range api.All() {
		if o.GetLabels()["app.kubernetes.io/managed-by"] == "vpnctl" {
			t.Errorf("%s %s/%s was left", o.GetKind(), o.GetNamespace(), o.GetName())
		}
	}
	if strings.Contains(w.Look(), "vpnctl-") {
		t.Error("something was left in the cloud")
	}
}

// TestADeletedGatewayWithoutMarks: its manifest is let go only once its Deployment is
// gone too, and nothing in the cloud is taken from under a pod that can't be told to be
// its.
func TestADeletedGatewayWithoutMarks(t *testing.T) {
	for name, c := range map[string]struct {
		strip   func(*unstructured.Unstructured)
		refused bool
	}{
		"without labels":      {func(u *unstructured.Unstructured) { u.SetLabels(nil) }, false},
		"without annotations": {func(u *unstructured.Unstructured) { u.SetAnnotations(nil) }, false},
		"without any":         {func(u *unstructured.Unstructured) { u.SetLabels(nil); u.SetAnnotations(nil) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFieldOverAPI(t)
			f.put(manifestsOf(t, "acme/dc1")...)
			f.turns(2)
			d := f.api.Get("Deployment", "acme", "dc1")
			if d == nil {
				t.Fatal("no Deployment was made")
			}
			c.strip(d)
			f.api.Put(t, d.Object)
			f.api.Remove(t, "VPNGateway", "acme", "dc1")
			before := f.Look()
			f.turns(3)
			gone := f.api.Get("VPNGateway", "acme", "dc1") == nil
			left := f.api.Get("Deployment", "acme", "dc1") != nil
			if !c.refused {
				if !gone || left || strings.Contains(f.Look(), "vpnctl-") {
					t.Errorf("manifest gone %t, Deployment left %t, cloud:\n%s", gone, left, f.Look())
				}
				return
			}
			if gone || !left || f.Look() != before {
				t.Errorf("manifest gone %t, Deployment left %t, cloud:\n%s", gone, left, f.Look())
			}
			if got := f.said("VPNGateway", "acme", "dc1", vpnv1alpha1.ConditionReady); !strings.Contains(got, "no longer says whose it is") {
				t.Errorf("its status doesn't tell: %s", got)
			}
			f.api.Remove(t, "Deployment", "acme", "dc1") // as the hint says
			f.turns(3)
			if f.api.Get("VPNGateway", "acme", "dc1") != nil || strings.Contains(f.Look(), "vpnctl-") {
				t.Errorf("something was left:\n%s", f.Look())
			}
		})
	}
}
