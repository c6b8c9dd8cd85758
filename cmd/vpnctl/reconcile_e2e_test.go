//go:build e2e

package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/vpnctl/vpnctl/cloud/kube/lab"
	"github.com/vpnctl/vpnctl/crds"
)

// controlled is a controller beside a real cluster and a simulated cloud.
type controlled struct {
	t              testing.TB
	lab            *lab.Lab
	dir, namespace string
	as, leases     string // the controller's kubeconfig and the Lease's namespace; empty: an administrator's, and the test's
	log            diary
	running        *exec.Cmd
}

// diary is what several processes say, one after the other.
type diary struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (d *diary) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text.Write(p)
}

func (d *diary) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text.String()
}

// TestKubeReconcile goes through a gateway's life with vpnctl reconcile as a process:
// made, ready, tampered with, its controller killed, its node lost, deleted.
func TestKubeReconcile(t *testing.T) {
	t.Parallel()
	c := &controlled{t: t, lab: lab.Start(t), dir: t.TempDir()}
	c.lab.Apply(t, crds.YAML())
	c.namespace = c.lab.Namespace(t)
	c.cloud()
	c.file("vpnctl.yaml", estateOf(c.namespace, "target: cluster"))
	c.start()
	c.write("gateway.yaml", "plant1.yaml")
	c.await("PeerSecretMissing")
	c.lab.Apply(t, []byte("apiVersion: v1\nkind: Secret\nmetadata: {name: plant1-psk, namespace: "+c.namespace+"}\nstringData: {psk: a-long-one}\n"))
	c.await("True Ready")

	configs := c.lab.Objects(t, "v1", "ConfigMap", c.namespace)
	before := c.lab.Get(t, "v1", "ConfigMap", c.namespace, "dc1-swanctl").GetUID()
	if err := configs.Delete(t.Context(), "dc1-swanctl", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	lab.Await(t, 30*time.Second, func(context.Context) string {
		if now := c.lab.Get(t, "v1", "ConfigMap", c.namespace, "dc1-swanctl"); now == nil || now.GetUID() == before {
			return "the ConfigMap that was deleted is not back"
		}
		return ""
	})
	c.await("True Ready")
	written := func(during time.Duration) []lab.Request {
		mark := c.lab.Mark(t)
		time.Sleep(during)
		return slices.DeleteFunc(c.lab.Writes(t, mark), func(w lab.Request) bool {
			return w.Namespace != c.namespace || w.Group != "vpn.bnerd.net"
		})
	}
	lab.Await(t, time.Minute, func(context.Context) string { // what it has seen may be told a moment later
		return strings.Trim(fmt.Sprint(written(2*time.Second)), "[]")
	})
	for _, w := range written(8 * time.Second) {
		t.Errorf("with nothing to do: %s", w)
	}

	first := c.running
	c.start() // another replica, which stands by until the first one is no more
	_ = first.Process.Kill()
	_ = first.Wait()
	node := c.text("nodeName")
	c.lab.NotReady(t, node)
	lab.Await(t, 2*time.Minute, func(context.Context) string {
		if now := c.text("nodeName"); now == node {
			return "the gateway is still on " + node
		}
		return ""
	})
	c.lab.Ready(t, node) // until then its pod can't end, and the new one can't begin
	c.await("True Ready")

	c.lab.Delete(t, "vpn.bnerd.net/v1alpha1", "VPNPeer", c.namespace, "plant1")
	c.lab.Delete(t, "vpn.bnerd.net/v1alpha1", "VPNGateway", c.namespace, "dc1")
	c.empty()
	c.stop()
}

func estateOf(name, kubernetes string) string {
	return "apiVersion: vpnctl.bnerd.net/v1alpha1\nkind: Estate\nmetadata: {name: " + name + "}\nspec:\n" +
		"  openstack: {cloud: operator, network: vpn-transit, router: gateway-router, floatingIPPool: public}\n" +
		"  kubernetes: {" + kubernetes + "}\n  gatewayPod: {image: images.example.org/vpnctl:1}\n  internalSourceCIDRs: [10.254.0.0/24]\n"
}

// seed writes the Estate that a simulated cloud is made for, whose servers are the
// cluster's nodes.
func (c *controlled) seed() {
	list, err := c.lab.Objects(c.t, "v1", "Node", "").List(c.t.Context(), metav1.ListOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	var nodes []string
	for _, n := range list.Items {
		id, _, _ := unstructured.NestedString(n.Object, "spec", "providerID")
		nodes = append(nodes, fmt.Sprintf("{name: %s, serverID: %s}", n.GetName(), id[strings.LastIndex(id, "/")+1:]))
	}
	c.file("seed/vpnctl.yaml", estateOf(c.namespace, "target: directory, directory: deploy, nodes: ["+strings.Join(nodes, ", ")+"]"))
}

// cloud serves a simulated one.
func (c *controlled) cloud() {
	c.seed()
	cmd := exec.Command("vpnctl", "simulator", "serve", "--estate", filepath.Join(c.dir, "seed/vpnctl.yaml"), "--clouds", filepath.Join(c.dir, "clouds.yaml"))
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	lab.Await(c.t, time.Minute, func(context.Context) string {
		if _, err := os.Stat(filepath.Join(c.dir, "clouds.yaml")); err != nil {
			return err.Error()
		}
		return ""
	})
}

// start starts a controller.
func (c *controlled) start(more ...string) *exec.Cmd {
	c.t.Helper()
	c.running = c.controller(more...)
	c.begin(c.running)
	return c.running
}

// controller is one that is still to be started.
func (c *controlled) controller(more ...string) *exec.Cmd {
	args := []string{"reconcile", "--estate", filepath.Join(c.dir, "vpnctl.yaml"), "--kubeconfig", cmp.Or(c.as, c.lab.Kubeconfig),
		"--leader-elect-namespace", cmp.Or(c.leases, c.namespace), "--listen", "127.0.0.1:0"}
	cmd := exec.Command("vpnctl", append(args, more...)...)
	cmd.Env = append(os.Environ(), "OS_CLIENT_CONFIG_FILE="+filepath.Join(c.dir, "clouds.yaml"))
	cmd.Stderr = &c.log
	return cmd
}

func (c *controlled) begin(cmd *exec.Cmd) {
	c.t.Helper()
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		if c.t.Failed() {
			c.t.Logf("the controller's log:\n%s", c.log.String())
		}
	})
}

// stop asks it to end, which it does at once and well.
func (c *controlled) stop() {
	began := time.Now()
	_ = c.running.Process.Signal(syscall.SIGTERM)
	if err := c.running.Wait(); err != nil || time.Since(began) > time.Minute {
		c.t.Errorf("told to stop, it took %s: %v", time.Since(began), err)
	}
}

// write applies example manifests in the test's namespace.
func (c *controlled) write(files ...string) {
	for _, f := range files {
		c.lab.Apply(c.t, []byte(strings.ReplaceAll(read(c.t, "examples/acme/"+f), "namespace: acme", "namespace: "+c.namespace)))
	}
}

// await waits for what Ready says.
func (c *controlled) await(want string) {
	c.t.Helper()
	lab.Await(c.t, 3*time.Minute, func(context.Context) string {
		u := c.lab.Get(c.t, "vpn.bnerd.net/v1alpha1", "VPNGateway", c.namespace, "dc1")
		ready := lab.ConditionOf(u, "Ready")
		if got := fmt.Sprintf("%s %s: %s", ready.Status, ready.Reason, ready.Message); !strings.Contains(got, want) {
			return "the gateway is " + got + ", want " + want
		}
		return ""
	})
}

// text is a field of the gateway's status.
func (c *controlled) text(name string) string {
	status, _ := c.lab.Get(c.t, "vpn.bnerd.net/v1alpha1", "VPNGateway", c.namespace, "dc1").Object["status"].(map[string]any)
	value, _ := status[name].(string)
	return value
}

// empty wants nothing of ours in the namespace or the cloud.
func (c *controlled) empty() {
	for _, k := range [][2]string{{"v1", "ConfigMap"}, {"v1", "ServiceAccount"}, {"apps/v1", "Deployment"}, {"networking.k8s.io/v1", "NetworkPolicy"},
		{"rbac.authorization.k8s.io/v1", "Role"}, {"rbac.authorization.k8s.io/v1", "RoleBinding"}, {"k8s.cni.cncf.io/v1", "NetworkAttachmentDefinition"}} {
		list, err := c.lab.Objects(c.t, k[0], k[1], c.namespace).List(c.t.Context(), metav1.ListOptions{LabelSelector: "app.kubernetes.io/managed-by=vpnctl"})
		if err != nil {
			c.t.Fatal(err)
		}
		for _, o := range list.Items {
			c.t.Errorf("%s %s was left", k[1], o.GetName())
		}
	}
	real, err := realCloud(filepath.Join(c.dir, "clouds.yaml"), "operator")
	if err != nil {
		c.t.Fatal(err)
	}
	emptied(c.t, real, c.namespace)
}

// emptied waits until nothing of an estate is left in a cloud. Its lock goes after the last
// manifest: with the round that has let that one go.
func emptied(t testing.TB, cloud *openStack, estate string) {
	t.Helper()
	lab.Await(t, time.Minute, func(context.Context) string {
		left, err := cloud.of(estate)
		if err == nil && len(left) == 0 {
			return ""
		}
		return fmt.Sprintf("in the cloud was left: %v %v", left, err)
	})
}

func (c *controlled) file(name, text string) {
	path := filepath.Join(c.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		c.t.Fatal(err)
	}
}

func read(t testing.TB, path string) string {
	text, err := os.ReadFile(root + path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
