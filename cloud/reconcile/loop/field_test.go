package loop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/reconcile/loop"
	"github.com/vpnctl/vpnctl/cloud/reconcile/world"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// field is a cloud and a cluster, in a bubble where time passes by itself.
type field struct {
	*world.World
	*cluster
	file string // the Estate's
}

const clusterEstate = `apiVersion: vpnctl.bnerd.net/v1alpha1
kind: Estate
metadata: {name: acme}
spec:
  openstack: {cloud: operator, network: vpn-transit, router: gateway-router, floatingIPPool: public}
  kubernetes: {target: cluster}
  serviceCIDRPool: 100.64.0.0/16
  internalSourceCIDRs: [10.254.0.0/24]
`

// bubble runs a test in which waiting takes no time.
func bubble(t *testing.T, test func(t *testing.T, f *field)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newField(t, simulator.Options{})) })
}

// atRest runs a test while a controller keeps the estate of all examples, which has come
// to rest by then.
func atRest(t *testing.T, test func(t *testing.T, f *field)) {
	t.Helper()
	bubble(t, func(t *testing.T, f *field) {
		f.everyone()
		f.running(f.controller(), func() {
			time.Sleep(10 * time.Second)
			test(t, f)
		})
	})
}

func newField(t testing.TB, o simulator.Options) *field {
	w := world.Live(t, o)
	f := &field{World: w, cluster: newCluster(t), file: filepath.Join(w.Tree, "..", filepath.Base(w.Tree)+".yaml")}
	f.estateFile(clusterEstate)
	t.Cleanup(func() { os.Remove(f.file) })
	return f
}

func (f *field) estateFile(text string) {
	f.T.Helper()
	if err := os.WriteFile(f.file, []byte(text), 0o644); err != nil {
		f.T.Fatal(err)
	}
}

// controller is a new one.
func (f *field) controller() *loop.Controller {
	f.T.Helper()
	d, err := f.Connect(f.T.Context(), "operator")
	if err != nil {
		f.T.Fatal(err)
	}
	return &loop.Controller{
		EstateFile: f.file, Cluster: f.cluster, Herald: f.cluster, Drivers: []cloud.Driver{d, f.cluster}, Locker: d,
		Holder: "test", Changes: f.changes, Parallelism: 1,
	}
}

// running runs a controller while something else happens.
func (f *field) running(c *loop.Controller, meanwhile func()) {
	stop, ended := make(chan struct{}), make(chan struct{})
	c.Stop = stop
	go func() { defer close(ended); c.Run(f.T.Context()) }()
	meanwhile()
	close(stop)
	<-ended
}

// rounds runs rounds as long as one is due within seconds.
func rounds(ctx context.Context, c *loop.Controller) {
	for range 20 {
		if next := c.Round(ctx); time.Until(next) > 5*time.Second {
			return
		}
		time.Sleep(time.Second)
	}
}

// manifests are a gateway's manifests and its peers'.
func manifestsOf(t testing.TB, path string) []vpn.Manifest {
	t.Helper()
	g, ok := world.Estate(t).Gateway(path)
	if !ok {
		t.Fatalf("no gateway %s among the examples", path)
	}
	return g.Manifests
}

// edited is a manifest with a text replaced.
func edited(t testing.TB, m vpn.Manifest, from, to string) vpn.Manifest {
	t.Helper()
	if !strings.Contains(m.JSON, from) {
		t.Fatalf("%s is not in %s", from, m.JSON)
	}
	m.JSON = strings.Replace(m.JSON, from, to, 1)
	if !json.Valid([]byte(m.JSON)) {
		t.Fatalf("no JSON: %s", m.JSON)
	}
	return m
}

// everyone writes the manifests of all examples and returns their gateways' keys.
func (f *field) everyone() []string {
	var keys []string
	for _, g := range world.Estate(f.T).Gateways {
		f.write(g.Manifests...)
		keys = append(keys, g.Owner.Kind+" "+g.Owner.Path())
	}
	return keys
}

// all is all that there is, as in World.Look, with the cluster.
func (f *field) all() string {
	f.T.Helper()
	text := f.Look()
	snapshot := world.Snapshot(f.T, f.World)
	plain := world.Plain(snapshot)
	f.cluster.mu.Lock()
	defer f.cluster.mu.Unlock()
	var b strings.Builder
	b.WriteString(text)
	for _, id := range f.objects.IDs() {
		fmt.Fprintf(&b, "--- %s\n%s", id, plain(f.objects[id].Object.Content))
	}
	for _, key := range sortedKeys(f.manifests) {
		m := f.manifests[key]
		status := plain(string(m.Status))
		for _, p := range snapshot.Of("port") {
			status = strings.ReplaceAll(status, p.ID, "port "+p.Text("name"))
		}
		fmt.Fprintf(&b, "--- %s held %t deleting %t\n%s\n", key, m.Held, m.Deleting, status)
	}
	return b.String()
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func (f *field) wantReady(key string) {
	f.T.Helper()
	if got := f.ready(key); got != "True Ready" {
		f.T.Errorf("%s: %s, want True Ready", key, got)
	}
}

// field is a text of a manifest's status.
func (c *cluster) field(key, name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := c.manifests[key]; m != nil && m.Status != nil {
		_, rest, _ := strings.Cut(string(m.Status), `"`+name+`":"`)
		value, _, _ := strings.Cut(rest, `"`)
		return value
	}
	return ""
}

// objectsOf are the contents of a gateway's objects.
func (c *cluster) objectsOf(key string) map[resource.ID]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := map[resource.ID]string{}
	for id, r := range c.objects {
		if r.Owner == strings.Replace(key, " ", "/", 1) {
			all[id] = r.Object.Content
		}
	}
	return all
}
