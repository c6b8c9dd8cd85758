package report_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/vpnctl/vpnctl/agent/report"
	"github.com/vpnctl/vpnctl/agent/report/fakeapi"
	ipsecv1alpha1 "github.com/vpnctl/vpnctl/crds/ipsec/v1alpha1"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/pod"
)

var (
	vpnGateway   = vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: "acme", Name: "dc1"}
	ipsecGateway = vpn.Owner{Kind: vpn.KindIPsecGateway, Namespace: "acme", Name: "dc1"}
	start        = time.Date(2026, 11, 30, 1, 2, 3, 0, time.UTC)
)

// fast is a pace at which a test sees minutes pass.
var fast = report.Pace{
	Call: 30 * time.Second, Gap: 20 * time.Millisecond, Figures: time.Hour, Resync: time.Hour,
	Spacing: time.Millisecond, RetryMin: 5 * time.Millisecond, RetryMax: 50 * time.Millisecond,
}

// cluster is an API that knows one gateway, and the gateway's end of it.
type cluster struct {
	*fakeapi.Server
	account *fakeapi.Account
	client  *report.Cluster
	stop    func() // ends Run and waits for it
}

// serve starts both, with the rights that the rendered Role gives for these peers.
func serve(t *testing.T, pace report.Pace, gateway vpn.Owner, peers ...string) *cluster {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	api, err := fakeapi.Start(l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(api.Close)
	c := &cluster{Server: api, account: api.Account("acme", "dc1", rules(t, gateway, peers)...)}
	dir := t.TempDir()
	if err := c.account.Mount(dir); err != nil {
		t.Fatal(err)
	}
	if c.client, err = report.Kubernetes(report.Server{URL: api.URL(), Directory: dir}, pace); err != nil {
		t.Fatal(err)
	}
	c.put(t, gateway, peers)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { c.client.Run(ctx) })
	c.stop = func() { cancel(); running.Wait() }
	t.Cleanup(c.stop)
	return c
}

// rules are those of the Role that is rendered for such a gateway. Every peer has a
// Secret of its name, in its key psk.
func rules(t *testing.T, gateway vpn.Owner, peers []string) []rbacv1.PolicyRule {
	t.Helper()
	g := vpn.Gateway{Owner: gateway, Protocol: vpn.IPsec}
	for _, p := range peers {
		g.Peers = append(g.Peers, vpn.Peer{Name: p, PSK: vpn.SecretRef{Name: p, Key: "psk"}})
	}
	objects, err := pod.Objects(pod.Spec{Gateway: g, Node: "worker-1", Port: vpn.ExpectedPort{
		MAC: "fa:16:3e:00:00:17", Address: "10.254.0.17", Subnet: "10.254.0.0/24", Gateway: "10.254.0.1"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		if role, ok := o.Body.(rbacv1.Role); ok {
			return role.Rules
		}
	}
	t.Fatal("no Role is rendered")
	return nil
}

// put writes the manifests, with status fields that are the controller's.
func (c *cluster) put(t *testing.T, gateway vpn.Owner, peers []string) {
	t.Helper()
	object := func(resource, version, kind, name string) {
		err := c.SetObject(resource, "acme", name, map[string]any{
			"apiVersion": version, "kind": kind, "spec": map[string]any{"kept": true},
			"status": map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "True"}}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if gateway.Kind == vpn.KindIPsecGateway {
		object("ipsecgateways", ipsecv1alpha1.GroupVersion.String(), gateway.Kind, "dc1")
		return
	}
	object("vpngateways", vpnv1alpha1.GroupVersion.String(), gateway.Kind, "dc1")
	for _, p := range peers {
		object("vpnpeers", vpnv1alpha1.GroupVersion.String(), "VPNPeer", p)
	}
}

// status reads an object's status into a type, every field of which it must have.
func (c *cluster) status(t *testing.T, resource, name string, into any) {
	t.Helper()
	var object struct{ Status json.RawMessage }
	if err := json.Unmarshal(c.Object(resource, "acme", name), &object); err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(object.Status))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		t.Fatalf("%s %s has a status that its definition doesn't know: %v", resource, name, err)
	}
}

// states gives the states that the peers' own statuses show.
func (c *cluster) states(t *testing.T, peers ...string) string {
	t.Helper()
	var all []string
	for _, p := range peers {
		var s vpnv1alpha1.VPNPeerStatus
		c.status(t, "vpnpeers", p, &s)
		all = append(all, p+"="+s.State)
	}
	return strings.Join(all, " ")
}

// made counts calls.
func (c *cluster) made(verb string) int {
	n := 0
	for _, r := range c.Requests() {
		if r.Verb == verb {
			n++
		}
	}
	return n
}

func (c *cluster) report(t *testing.T, gateway vpn.Owner, peers ...report.Peer) error {
	t.Helper()
	return c.client.Report(t.Context(), report.Report{Gateway: gateway, Time: start, PublicKey: "gateway's", Peers: peers})
}

func up(name string) report.Peer {
	return report.Peer{Name: name, State: "ESTABLISHED", Up: 1, Expected: 1, Since: start}
}

func down(name, why string) report.Peer {
	return report.Peer{Name: name, State: report.StateDown, Expected: 1, Since: start, Message: why}
}

// eventually waits for what a test expects, and says what it saw last.
func eventually(t *testing.T, look func() (got string, ok bool)) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		got, ok := look()
		if ok {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("still so: %s", got)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// shows waits until the peers' statuses are as given.
func (c *cluster) shows(t *testing.T, want string) {
	t.Helper()
	var names []string
	for _, pair := range strings.Fields(want) {
		name, _, _ := strings.Cut(pair, "=")
		names = append(names, name)
	}
	eventually(t, func() (string, bool) {
		got := c.states(t, names...)
		return fmt.Sprintf("%s, want %s", got, want), got == want
	})
}

// expected fails where a call was made that no Role grants or no agent needs.
func (c *cluster) expected(t *testing.T) {
	t.Helper()
	for _, r := range c.Unexpected() {
		t.Errorf("%s %s %s: %s", r.Verb, r.Resource, r.Name, r.Unexpected)
	}
}
