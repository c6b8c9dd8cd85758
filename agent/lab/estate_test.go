//go:build e2e

package lab

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/vpnctl/vpnctl/plan/vpn"
	renderpod "github.com/vpnctl/vpnctl/render/pod"
)

// estate is a folder of manifests, applied to a simulated cloud.
type estate struct {
	binary string // vpnctl
	dir    string
}

const estateManifest = `apiVersion: vpnctl.bnerd.net/v1alpha1
kind: Estate
metadata: {name: lab}
spec:
  openstack: {cloud: operator, network: vpn-transit, router: gateway-router, floatingIPPool: public}
  kubernetes:
    target: directory
    directory: deploy
    nodes: [{name: worker-1, serverID: c3f0ea92-3c32-4141-bf59-214fe50dcac9}]
  serviceCIDRPool: 100.64.0.0/16
  internalSourceCIDRs: [10.254.0.0/24]
  gatewayPod: {%s}
`

// newEstate writes the estate, with the settings of its gateway pods.
func newEstate(t *testing.T, settings string) *estate {
	t.Helper()
	e := &estate{binary: program(t), dir: labPath(t, "estate")}
	if err := os.MkdirAll(e.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	e.write(t, "vpnctl.yaml", fmt.Sprintf(estateManifest, settings))
	return e
}

// program is vpnctl, as the caller built it.
func program(t *testing.T) string {
	t.Helper()
	path := os.Getenv("VPNCTL")
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("VPNCTL should name the program under test: %v", err)
	}
	return path
}

// write replaces a manifest; an empty text removes it.
func (e *estate) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(e.dir, name)
	err := os.WriteFile(path, []byte(text), 0o644)
	if text == "" {
		err = os.Remove(path)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// apply carries the manifests out.
func (e *estate) apply(t *testing.T) {
	t.Helper()
	cmd := exec.Command(e.binary, "apply", "--sim", "--auto-approve", "--prune", ".")
	cmd.Dir = e.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("vpnctl apply: %v\n%s", err, out)
	}
}

// rendered is what apply wrote for one gateway.
type rendered struct {
	deployment []byte // as it was written
	template   appsv1.Deployment
	configs    map[string]corev1.ConfigMap
	rules      []rbacv1.PolicyRule
	attachment string // the CNI configuration
	expect     vpn.Expectation
}

// read takes up the objects of a gateway. A field that the API doesn't have is an
// error.
func (e *estate) read(t *testing.T, namespace, name string) rendered {
	t.Helper()
	r := rendered{configs: map[string]corev1.ConfigMap{}}
	files, err := filepath.Glob(filepath.Join(e.dir, ".vpnctl/sim/kubernetes", namespace, name, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("nothing is rendered for %s/%s: %v", namespace, name, err)
	}
	for _, file := range files {
		if err := r.add(file); err != nil {
			t.Fatalf("reading %s: %v", file, err)
		}
	}
	for _, c := range r.configs {
		if text, there := c.Data[renderpod.KeyAgent]; there {
			if r.expect, err = vpn.ParseExpectation(text); err != nil {
				t.Fatal(err)
			}
		}
	}
	return r
}

func (r *rendered) add(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	kind, _, _ := strings.Cut(filepath.Base(file), "-")
	switch kind {
	case "deployment":
		r.deployment = data
		return yaml.UnmarshalStrict(data, &r.template)
	case "configmap":
		var c corev1.ConfigMap
		err := yaml.UnmarshalStrict(data, &c)
		r.configs[c.Name] = c
		return err
	case "role":
		var role rbacv1.Role
		err := yaml.UnmarshalStrict(data, &role)
		r.rules = role.Rules
		return err
	case "networkattachmentdefinition":
		var a struct {
			metav1.TypeMeta   `json:",inline"`
			metav1.ObjectMeta `json:"metadata"`
			Spec              struct {
				Config string `json:"config"`
			} `json:"spec"`
		}
		err := yaml.UnmarshalStrict(data, &a)
		r.attachment = a.Spec.Config
		return err
	}
	return nil
}
