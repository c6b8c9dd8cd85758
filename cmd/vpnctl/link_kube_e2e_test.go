//go:build e2e

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/vpnctl/vpnctl/cloud/kube/lab"
	"github.com/vpnctl/vpnctl/crds"
)

const linkVersion = "ipsec.bnerd.net/v1alpha1"

// linkOf is a link's manifest, named as the test's namespace: links are in none.
func (c *controlled) linkOf() string {
	return "apiVersion: " + linkVersion + "\nkind: ClusterLink\nmetadata: {name: " + c.namespace + "}\n" +
		"spec: {serviceClusterRouter: service-cluster-router, serviceClusterCIDR: 10.250.0.0/16}\n"
}

func (c *controlled) link() *unstructured.Unstructured {
	return c.lab.Get(c.t, linkVersion, "ClusterLink", "", c.namespace)
}

// linkSays waits for what the link's Ready says, and for a text in its status.
func (c *controlled) linkSays(want, part string) {
	c.t.Helper()
	lab.Await(c.t, 2*time.Minute, func(context.Context) string {
		u := c.link()
		ready := lab.ConditionOf(u, "Ready")
		if got := fmt.Sprintf("%s %s: %s", ready.Status, ready.Reason, ready.Message); !strings.Contains(got, want) {
			return "the link is " + got + ", want " + want
		}
		status, err := json.Marshal(u.Object["status"])
		if err != nil || !strings.Contains(string(status), part) {
			return "no " + part + " in " + string(status)
		}
		return ""
	})
}

// TestKubeLink goes through a link's life with vpnctl reconcile as a process: a gateway
// stands, the link comes, its way back is told, another router is refused, it goes.
func TestKubeLink(t *testing.T) {
	t.Parallel()
	c := &controlled{t: t, lab: lab.Start(t), dir: t.TempDir()}
	c.lab.Apply(t, crds.YAML())
	c.namespace = c.lab.Namespace(t)
	c.cloud()
	c.file("vpnctl.yaml", estateOf(c.namespace, "target: cluster"))
	c.secret()
	c.start()
	c.write("gateway.yaml", "plant1.yaml")
	c.await("True Ready")
	c.lab.Apply(t, []byte(c.linkOf()))
	c.linkSays("True Ready", `"gatewayRef":"`+c.namespace+`/dc1"`)
	if got := c.link().GetFinalizers(); len(got) != 1 || got[0] != "ipsec.bnerd.net/clusterlink-cleanup" {
		t.Errorf("finalizers %v", got)
	}
	c.await("True Ready")

	c.lab.Apply(t, []byte(strings.Replace(c.linkOf(), "service-cluster-router", "nowhere", 1)))
	c.linkSays("False RouterResolveFailed", `"transitIP":"`)
	c.lab.Apply(t, []byte(c.linkOf()))
	c.linkSays("True Ready", `"observedGeneration":3`)

	c.lab.Delete(t, linkVersion, "ClusterLink", "", c.namespace)
	if left := c.linkInTheCloud(); len(left) > 0 {
		t.Errorf("the link is gone, and in the cloud was left: %v", left)
	}
	c.await("True Ready")
	c.lab.Delete(t, "vpn.bnerd.net/v1alpha1", "VPNPeer", c.namespace, "plant1")
	c.lab.Delete(t, "vpn.bnerd.net/v1alpha1", "VPNGateway", c.namespace, "dc1")
	c.empty()
	c.stop()
}

// linkInTheCloud is what carries the link's name there.
func (c *controlled) linkInTheCloud() []string {
	c.t.Helper()
	real, err := realCloud(filepath.Join(c.dir, "clouds.yaml"), "operator")
	if err != nil {
		c.t.Fatal(err)
	}
	all, err := real.of(c.namespace)
	if err != nil {
		c.t.Fatal(err)
	}
	var left []string
	for _, o := range all {
		if text := fmt.Sprint(o); strings.Contains(text, "ClusterLink/"+c.namespace) {
			left = append(left, text)
		}
	}
	return left
}

// TestKubeApplyLink: apply writes the link's manifest as well, its status says how it
// stands, a second run finds nothing to do, and pruned it is gone on both sides.
func TestKubeApplyLink(t *testing.T) {
	a := newApplied(t)
	a.file("gateways/link.yaml", a.linkOf())
	a.apply()
	a.linkSays("True Ready", `"gatewayRef":"`+a.namespace+`/dc1"`)
	if err := os.Remove(filepath.Join(a.dir, "gateways/link.yaml")); err != nil {
		t.Fatal(err)
	}
	a.apply("--prune")
	if u := a.link(); u != nil {
		t.Errorf("pruned, its manifest still stands: %v", u)
	}
	if left := a.linkInTheCloud(); len(left) > 0 {
		t.Errorf("in the cloud was left: %v", left)
	}
}
