//go:build e2e

package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/vpnctl/vpnctl/cloud/kube/lab"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/crds"
)

// soak is an estate on a real control plane, with a simulated cloud that the test
// counts the calls of, and disturbs.
type soak struct {
	*controlled
	sim *simulator.Server

	ahead atomic.Int64 // of the machine's clock is the cloud's, in nanoseconds

	phase time.Time // when the last part of the test ended

	mu    sync.Mutex
	calls []cloudCall
	fault func(r *http.Request) simulator.Fault // nil: none
}

// cloudCall is one that came to Neutron or Nova.
type cloudCall struct {
	at           time.Time
	method, path string
}

// writes tells whether a call changes anything but the estate's lock.
func (c cloudCall) writes() bool { return c.method != http.MethodGet }

// newSoak is an estate in a cluster that has no other, for a controller looks after all
// gateways there are; edit changes the text of its file.
func newSoak(t testing.TB, edit func(estate string) string) *soak {
	t.Helper()
	if test, is := t.(*testing.T); is {
		test.Parallel()
	}
	s := &soak{controlled: &controlled{t: t, lab: lab.Start(t), dir: t.TempDir()}, phase: time.Now()}
	s.lab.Apply(t, crds.YAML())
	s.namespace = s.lab.Namespace(t)
	s.serve()
	text := strings.Replace(estateOf(s.namespace, "target: cluster"), "gatewayPod: {", "gatewayPod: {maxGatewaysPerNode: 1000, ", 1)
	s.file("vpnctl.yaml", strings.Replace(edit(text), "spec:\n", "spec:\n  serviceCIDRPool: 100.64.0.0/10\n", 1))
	s.lab.Apply(t, []byte("apiVersion: v1\nkind: Secret\nmetadata: {name: soak-psk, namespace: "+s.namespace+"}\nstringData: {psk: a-long-one}\n"))
	return s
}

// ended says how long a part of the test took.
func (s *soak) ended(part string) {
	s.t.Helper()
	s.t.Logf("%s: %.0f s", part, time.Since(s.phase).Seconds())
	s.phase = time.Now()
}

func asItIs(estate string) string { return estate }

// serve serves a simulated cloud that is wide enough, whose servers are the cluster's nodes.
func (s *soak) serve() {
	s.t.Helper()
	list, err := s.lab.Objects(s.t, "v1", "Node", "").List(s.t.Context(), metav1.ListOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	seed := simulator.Seed{SubnetCIDR: "10.128.0.0/16", FloatingIPCIDR: "11.0.0.0/16"}
	for _, n := range list.Items {
		id, _, _ := unstructured.NestedString(n.Object, "spec", "providerID")
		seed.Nodes = append(seed.Nodes, simulator.Node{Name: n.GetName(), ServerID: id[strings.LastIndex(id, "/")+1:]})
	}
	s.sim, err = simulator.New(simulator.Options{
		Seed: seed, RouteLimit: 1 << 20, Intercept: s.intercept, Clock: func() time.Time { return time.Now().Add(time.Duration(s.ahead.Load())) },
		Quota: map[string]int{"port": -1, "security_group": -1, "security_group_rule": -1, "floatingip": -1},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	url, closed, err := s.sim.Listen("127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = closed() })
	access, err := s.sim.Credentials(url, "operator")
	if err != nil {
		s.t.Fatal(err)
	}
	s.file("clouds.yaml", access.CloudsYAML)
}

func (s *soak) intercept(n int, r *http.Request) simulator.Fault {
	s.mu.Lock()
	if n > 0 {
		s.calls = append(s.calls, cloudCall{time.Now(), r.Method, r.URL.Path})
	}
	fault := s.fault
	s.mu.Unlock()
	if fault == nil {
		return simulator.Fault{}
	}
	return fault(r)
}

// disturb sets what happens to calls to the cloud from now on; nil: nothing.
func (s *soak) disturb(fault func(r *http.Request) simulator.Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

// since are the calls to the cloud after a moment.
func (s *soak) since(when time.Time) []cloudCall {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.calls, func(c cloudCall) bool { return c.at.After(when) })
	if i < 0 {
		return nil
	}
	return slices.Clone(s.calls[i:])
}

// again starts a controller as a container that is restarted: of the same number and host
// name as the last one, whose Lease it waits for all the same.
func (s *soak) again(more ...string) *exec.Cmd {
	s.t.Helper()
	s.running = s.controller(more...)
	s.running.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	s.begin(s.running)
	return s.running
}

func (s *soak) kill() {
	_ = s.running.Process.Kill()
	_ = s.running.Wait()
}

// model is a gateway with its peer: of three, one is IPsec, one WireGuard with a key that
// is made for it, and one in the older form.
type model struct{ kind, name, text, peer string }

func (m model) apiVersion() string {
	if m.kind == "IPsecGateway" {
		return "ipsec.bnerd.net/v1alpha1"
	}
	return "vpn.bnerd.net/v1alpha1"
}

// gateway is the i-th one, in one of several variants that differ in what is exposed.
func (s *soak) gateway(i, variant int) model {
	m := model{kind: "VPNGateway", name: fmt.Sprintf("gw%04d", i)}
	site := fmt.Sprintf("192.%d.%d.0/24", 168+i/200, i%200)
	behind := strings.Replace(site, ".0/24", ".40", 1)
	exposed := `  exposures: [{name: web, target: {address: 10.20.0.15, ports: [443]}}, {name: ldap, target: {address: 10.20.0.16, ports: [636]}}`
	if variant > 0 {
		exposed += fmt.Sprintf(", {name: extra%d, target: {address: 10.20.1.%d, ports: [80]}}", variant, variant)
	}
	exposed += "]\n  reverseExposures: [{name: mes, target: {address: " + behind + ", ports: [8443]}}]\n"
	head := func(kind, name, version string) string {
		return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: %s, namespace: %s}\nspec:\n", version, kind, name, s.namespace)
	}
	peer := head("VPNPeer", "peer-"+m.name, m.apiVersion()) + "  gatewayRef: " + m.name + "\n"
	from := fmt.Sprintf("198.51.%d.%d", 100+i/200, 1+i%200)
	switch i % 3 {
	case 0:
		m.text = head(m.kind, m.name, m.apiVersion()) + "  protocol: ipsec\n  ipsec: {ike: {version: 2, proposals: [aes256-sha256-ecp256]}}\n" + exposed
		m.peer = peer + "  ipsec: {peer: {address: " + from + ", id: " + m.name + "}, remoteSubnets: [" + site + "], esp: {proposals: [aes256-sha256-ecp256]}, pskSecretRef: {name: soak-psk, key: psk}}\n"
	case 1:
		m.text = head(m.kind, m.name, m.apiVersion()) + "  protocol: wireguard\n  wireguard: {listenPort: 51820}\n" + exposed
		m.peer = peer + "  wireguard: {publicKey: I+gVbcxtTwG8EyY3BPZyzN8sLibjnoOElJdWMFIzDHQ=, endpoint: \"" + from + ":51820\", subnets: [" + site + "]}\n"
	case 2:
		m.kind = "IPsecGateway"
		m.text = head(m.kind, m.name, m.apiVersion()) + "  ike: {version: 2, proposals: [aes256-sha256-ecp256]}\n  auth: {pskSecretRef: {name: soak-psk, key: psk}}\n" +
			"  tunnels: [{name: hq, peer: {address: " + from + ", id: " + m.name + "}, remoteSubnets: [" + site + "], esp: {proposals: [aes256-sha256-ecp256]}}]\n" + exposed
	}
	return m
}

// put writes a gateway and its peer; the peer first, so that a gateway is never seen alone.
func (s *soak) put(m model) {
	s.t.Helper()
	if m.peer != "" {
		s.lab.Apply(s.t, []byte(m.peer))
	}
	s.lab.Apply(s.t, []byte(m.text))
}

// drop deletes a gateway and its peer, and waits for nothing.
func (s *soak) drop(m model) {
	s.t.Helper()
	_ = s.lab.Objects(s.t, m.apiVersion(), m.kind, s.namespace).Delete(s.t.Context(), m.name, metav1.DeleteOptions{})
	if m.peer != "" {
		_ = s.lab.Objects(s.t, m.apiVersion(), "VPNPeer", s.namespace).Delete(s.t.Context(), "peer-"+m.name, metav1.DeleteOptions{})
	}
}

// manifests are the gateways that there are, by name.
func (s *soak) manifests() map[string]*unstructured.Unstructured {
	s.t.Helper()
	all := map[string]*unstructured.Unstructured{}
	for _, m := range []model{{kind: "VPNGateway"}, {kind: "IPsecGateway"}} {
		maps.Copy(all, s.named(m.apiVersion(), m.kind, ""))
	}
	return all
}

// named are the objects of a kind in the namespace, by name.
func (s *soak) named(apiVersion, kind, selector string) map[string]*unstructured.Unstructured {
	s.t.Helper()
	list, err := s.lab.Objects(s.t, apiVersion, kind, s.namespace).List(s.t.Context(), metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		s.t.Fatal(err)
	}
	all := map[string]*unstructured.Unstructured{}
	for i := range list.Items {
		all[list.Items[i].GetName()] = &list.Items[i]
	}
	return all
}

// converged waits until exactly these gateways stand, all of them ready as they are
// written.
func (s *soak) converged(limit time.Duration, want ...model) {
	s.t.Helper()
	lab.Await(s.t, limit, func(context.Context) string {
		all := s.manifests()
		for _, m := range want {
			u := all[m.name]
			delete(all, m.name)
			ready := lab.ConditionOf(u, "Ready")
			switch {
			case u == nil:
				return m.name + " is not there"
			case u.GetDeletionTimestamp() != nil:
				return m.name + " is being deleted"
			case ready.Status != "True" || ready.ObservedGeneration != u.GetGeneration():
				return fmt.Sprintf("%s, generation %d: %+v", m.name, u.GetGeneration(), ready)
			}
		}
		for name, u := range all {
			return fmt.Sprintf("%s is still there: %+v", name, lab.ConditionOf(u, "Ready"))
		}
		return ""
	})
}

// end deletes what stands, and wants nothing to be left.
func (s *soak) end(all ...model) {
	s.t.Helper()
	for _, m := range all {
		s.drop(m)
	}
	s.converged(5 * time.Minute)
	s.stop()
	s.empty()
}

// setting reads a setting of the test from the environment.
func setting(name string, standard int) int {
	n := standard
	if text := os.Getenv(name); text != "" {
		if _, err := fmt.Sscan(text, &n); err != nil {
			panic(name + "=" + text + ": not a number")
		}
	}
	return n
}

// quietly wants nothing to be written for a while, leases left out.
func (s *soak) quietly(d time.Duration) {
	s.t.Helper()
	mark, began := s.lab.Mark(s.t), time.Now()
	time.Sleep(d)
	for _, w := range s.ourWrites(mark) {
		s.t.Errorf("with nothing to do: %s", w)
	}
	for _, c := range s.since(began) {
		if c.writes() {
			s.t.Errorf("with nothing to do: %s %s", c.method, c.path)
		}
	}
}

// ourWrites are those of vpnctl in the namespace since a mark, leases left out.
func (s *soak) ourWrites(since lab.Mark) []lab.Request {
	return slices.DeleteFunc(s.lab.Writes(s.t, since), func(r lab.Request) bool {
		return !strings.HasPrefix(r.Agent, "vpnctl/") || r.Namespace != s.namespace || r.Resource == "leases"
	})
}

// clouds is a client of the simulated cloud that knows nothing of vpnctl.
func (s *soak) clouds() *openStack {
	s.t.Helper()
	real, err := realCloud(filepath.Join(s.dir, "clouds.yaml"), "operator")
	if err != nil {
		s.t.Fatal(err)
	}
	return real
}
