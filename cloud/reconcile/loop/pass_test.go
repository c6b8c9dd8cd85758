package loop_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/kube"
	"github.com/vpnctl/vpnctl/cloud/kube/fakeapi"
	"github.com/vpnctl/vpnctl/cloud/openstack"
	"github.com/vpnctl/vpnctl/cloud/reconcile"
	"github.com/vpnctl/vpnctl/cloud/reconcile/loop"
	"github.com/vpnctl/vpnctl/cloud/reconcile/world"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// passing is an estate whose Kubernetes side is an API server in the test's process, and
// single runs over it.
type passing struct {
	t      *testing.T
	cloud  *world.World
	api    *fakeapi.Server
	driver *kube.Driver
	log    strings.Builder
}

func newPassing(t *testing.T) *passing {
	t.Helper()
	p := &passing{t: t, cloud: world.New(t, simulator.Options{}), api: world.API(t, "acme", "globex", "initech")}
	var err error
	if p.driver, err = kube.Over(p.api.Config(), kube.Options{Gone: 10 * time.Second, Poll: time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	return p
}

// acmeInACluster is the estate of Acme's gateway alone, in a cluster.
func acmeInACluster(t *testing.T) vpn.Estate {
	e := world.Estate(t)
	e.Kubernetes = vpn.Kubernetes{Target: vpn.TargetCluster}
	g, _ := e.Gateway("acme/dc1")
	e.Gateways = []vpn.Gateway{g}
	return e
}

func (p *passing) operator() *openstack.Driver {
	p.t.Helper()
	d, err := p.cloud.Connect(p.t.Context(), "operator")
	if err != nil {
		p.t.Fatal(err)
	}
	return d
}

func (p *passing) plan(e vpn.Estate, o plan.Options) *reconcile.Result {
	p.t.Helper()
	r, err := reconcile.Plan(p.t.Context(), reconcile.Input{Estate: e, Manifests: len(e.Gateways), Options: o, Now: p.cloud.Time(),
		Drivers: []cloud.Driver{p.operator(), p.driver}})
	if err != nil {
		p.t.Fatal(err)
	}
	return r
}

func (p *passing) teller() *loop.Controller {
	return &loop.Controller{Cluster: p.driver, Herald: p.driver, Missing: p.driver.Missing, PublicKey: p.driver.PublicKey,
		Log: slog.New(slog.NewTextHandler(&p.log, &slog.HandlerOptions{Level: slog.LevelWarn}))}
}

// apply is a run of apply, with what it tells: the report, and how many statuses could
// not be written.
func (p *passing) apply(e vpn.Estate, o plan.Options) (*cloud.Report, int) {
	p.t.Helper()
	r := p.plan(e, o)
	if _, err := p.teller().Farewell(p.t.Context(), r); err != nil {
		p.t.Fatal(err)
	}
	report := r.Apply(p.t.Context(), cloud.Execution{})
	seen, _, err := reconcile.Patience{Look: func(ctx context.Context) (map[string]cloud.Rollout, error) { return p.driver.Rollouts(ctx, e.Name) }}.Await(p.t.Context(), report)
	if err != nil {
		p.t.Fatal(err)
	}
	failures, err := p.teller().Tell(p.t.Context(), r, report, seen)
	if err != nil {
		p.t.Fatal(err)
	}
	return report, failures
}

// runs makes the pods of all Deployments run.
func (p *passing) runs() {
	p.t.Helper()
	for _, d := range p.api.All() {
		if d.GetKind() != "Deployment" {
			continue
		}
		d.Object["status"] = map[string]any{"availableReplicas": int64(1), "readyReplicas": int64(1), "replicas": int64(1), "updatedReplicas": int64(1),
			"observedGeneration": d.GetGeneration(), "conditions": []any{map[string]any{"type": "Available", "status": "True"}}}
		p.api.PutAs(p.t, "kube-controller-manager", d.Object)
	}
}

// secret is the one that Acme's peer names.
func (p *passing) secret() {
	p.t.Helper()
	p.api.Put(p.t, map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"namespace": "acme", "name": "plant1-psk"}, "data": map[string]any{"psk": "eA=="}})
}

// says is what a condition of Acme's gateway says.
func (p *passing) says(kind string) string { return p.saysOf("VPNGateway", "dc1", kind) }

// saysOf is what a condition of one of Acme's manifests says.
func (p *passing) saysOf(manifest, name, kind string) string {
	u := p.api.Get(manifest, "acme", name)
	if u == nil {
		return "gone"
	}
	list, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, x := range list {
		if c := x.(map[string]any); c["type"] == kind {
			message, _ := c["message"].(string)
			return strings.TrimSuffix(c["status"].(string)+" "+c["reason"].(string)+": "+message, ": ")
		}
	}
	return "nothing said"
}

// step is an apply, and what the conditions of Acme's gateway are to say after it.
func (p *passing) step(what string, e vpn.Estate, o plan.Options, want map[string]string) {
	p.t.Helper()
	p.apply(e, o)
	got := map[string]string{}
	for kind := range want {
		got[kind] = p.says(kind)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		p.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// TestARunTellsHowGatewaysStand: after an apply, and after what was true stops being so.
func TestARunTellsHowGatewaysStand(t *testing.T) {
	p := newPassing(t)
	e := acmeInACluster(t)
	p.secret()
	step := func(what string, o plan.Options, want map[string]string) {
		t.Helper()
		p.step(what, e, o, want)
	}
	step("the Kubernetes side of a new estate alone", plan.Options{Only: plan.OnlyKubernetes}, map[string]string{
		"PortReady": "Unknown Pending: waits: openstack.security-group/acme/dc1: left out by --only kubernetes",
		"Ready":     "Unknown Pending: PortReady: waits: openstack.security-group/acme/dc1: left out by --only kubernetes",
	})
	p.cloud.Disturb(func(_ int, r *http.Request) simulator.Fault {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/security-groups") {
			return simulator.Fault{Do: simulator.Fail, Status: 409, Type: "OverQuota"}
		}
		return simulator.Fault{}
	})
	step("a ledger that can't be written", plan.Options{}, map[string]string{
		"Ready": "False EnsureSecurityGroupFailed: PortReady: creating security group acme/dc1: 409 OverQuota: Conflict"})
	p.cloud.Disturb(nil)
	step("pods that don't run yet", plan.Options{}, map[string]string{
		"PortReady": "True PortReady", "ConfigRendered": "True ConfigRendered", "DeploymentReady": "False DeploymentUnavailable: the Deployment was just changed"})
	p.runs()
	step("pods that run", plan.Options{}, map[string]string{"DeploymentReady": "True Available", "Ready": "True Ready"})

	p.api.Forget()
	p.cloud.Sim.Reset()
	p.apply(e, plan.Options{})
	for _, c := range p.api.Calls() {
		if c.Writes() {
			t.Errorf("with nothing to do: %+v", c)
		}
	}
	if tally := simulator.Count(p.cloud.Sim.Calls()); tally.Writes > 0 {
		t.Errorf("with nothing to do: %v", tally.By)
	}

	p.cloud.Disturb(func(_ int, r *http.Request) simulator.Fault {
		if r.Method == http.MethodDelete && strings.Contains(r.URL.Path, "/ports/") {
			return simulator.Fault{Do: simulator.Fail, Status: 500}
		}
		return simulator.Fault{}
	})
	e.Gateways = nil
	gone := plan.Options{Prune: true, AllowEmpty: true}
	if _, err := p.teller().Farewell(t.Context(), p.plan(e, gone)); err != nil {
		t.Fatal(err)
	}
	if got, peer := p.says("Ready"), p.saysOf("VPNPeer", "plant1", "Ready"); got != "Unknown Deleting" || !strings.HasPrefix(peer, "Unknown GatewayNotReady") {
		t.Errorf("before anything is removed: %s; the peer: %s", got, peer)
	}
	p.apply(e, gone)
	if got := p.says("Ready"); !strings.HasPrefix(got, "Unknown Deleting: openstack.port/acme/dc1: ") {
		t.Errorf("a removal that fails: %s", got)
	}
	p.cloud.Disturb(nil)
	p.apply(e, gone)
	for _, o := range p.api.All() {
		if o.GetLabels()["app.kubernetes.io/managed-by"] == "vpnctl" {
			t.Errorf("%s %s/%s was left", o.GetKind(), o.GetNamespace(), o.GetName())
		}
	}
}

// TestAStatusThatIsNotWrittenIsNamed: a status that the cluster doesn't take is counted,
// and the log names the manifest.
func TestAStatusThatIsNotWrittenIsNamed(t *testing.T) {
	p := newPassing(t)
	p.api.Intercept(func(_ int, c fakeapi.Call) fakeapi.Fault {
		if c.Subresource == "status" {
			return fakeapi.Fault{Code: 403}
		}
		return fakeapi.Fault{}
	})
	if _, failures := p.apply(acmeInACluster(t), plan.Options{}); failures != 2 {
		t.Errorf("%d statuses could not be written, want those of the gateway and of its peer", failures)
	}
	for _, name := range []string{"VPNGateway acme/dc1", "VPNPeer acme/plant1"} {
		if !strings.Contains(p.log.String(), name) {
			t.Errorf("%s is not named: %s", name, p.log.String())
		}
	}
}

// TestAControllerFollowsAnApply: a controller that begins where apply has worked leaves
// the manifests alone, and removes a gateway when its own is deleted.
func TestAControllerFollowsAnApply(t *testing.T) {
	p := newPassing(t)
	p.secret()
	p.apply(acmeInACluster(t), plan.Options{})
	p.runs()
	f := &field{World: p.cloud, file: filepath.Join(t.TempDir(), "vpnctl.yaml")}
	f.estateFile(clusterEstate)
	c := &loop.Controller{EstateFile: f.file, Cluster: p.driver, Herald: p.driver, Drivers: []cloud.Driver{p.operator(), p.driver}, Locker: p.operator(),
		Missing: p.driver.Missing, PublicKey: p.driver.PublicKey}
	before, _ := json.Marshal(p.api.Get("VPNGateway", "acme", "dc1").Object["spec"])
	for range 2 {
		c.Round(t.Context())
	}
	for _, key := range []string{"VPNGateway dc1", "VPNPeer plant1"} {
		kind, name, _ := strings.Cut(key, " ")
		if u := p.api.Get(kind, "acme", name); u == nil || u.GetDeletionTimestamp() != nil {
			t.Fatalf("%s was deleted", key)
		}
	}
	if after, _ := json.Marshal(p.api.Get("VPNGateway", "acme", "dc1").Object["spec"]); string(after) != string(before) {
		t.Errorf("the manifest was changed: %s", after)
	}
	p.api.Remove(t, "VPNGateway", "acme", "dc1")
	p.api.Remove(t, "VPNPeer", "acme", "plant1")
	for range 3 {
		c.Round(t.Context())
	}
	if got := p.says("Ready"); got != "gone" {
		t.Errorf("deleted, it still stands: %s", got)
	}
	if strings.Contains(p.cloud.Look(), "vpnctl-") {
		t.Error("something was left in the cloud")
	}
}

// TestPatience: whoever waits for pods learns how they stand, and stops when all run, when
// the time is up, and when told to.
func TestPatience(t *testing.T) {
	stopped := make(chan struct{})
	close(stopped)
	deployment := func(name string) cloud.Outcome {
		o := vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: "acme", Name: name}
		return cloud.Outcome{State: cloud.Done, Change: plan.Change{Owner: o, After: &resource.Resource{},
			ID: resource.ID{Kind: resource.KubernetesKind("Deployment"), Namespace: "acme", Name: name}}}
	}
	busy := errors.New("busy")
	for name, test := range map[string]struct {
		outcomes []cloud.Outcome
		looks    []map[string]cloud.Rollout // one after the other, the last for ever; nil: fails
		p        reconcile.Patience
		waiting  []string
		told     []string
		err      error
	}{
		"nothing was written": {looks: []map[string]cloud.Rollout{{}}, p: reconcile.Patience{Limit: time.Hour}},
		"one pod comes late": {
			outcomes: []cloud.Outcome{deployment("dc1")},
			looks:    []map[string]cloud.Rollout{{}, nil, {"VPNGateway/acme/dc1": {Message: "pulls"}}, {"VPNGateway/acme/dc1": {Message: "pulls"}}, {"VPNGateway/acme/dc1": {Available: true}}},
			p:        reconcile.Patience{Limit: time.Hour},
			told:     []string{"dc1 ", "dc1 pulls", "dc1 runs"},
		},
		"one of two never does": {
			outcomes: []cloud.Outcome{deployment("dc1"), deployment("dc2")},
			looks:    []map[string]cloud.Rollout{{"VPNGateway/acme/dc2": {Available: true}}},
			p:        reconcile.Patience{Limit: 50 * time.Millisecond}, waiting: []string{"dc1"}, told: []string{"dc1 ", "dc2 runs"},
		},
		"nobody waits": {
			outcomes: []cloud.Outcome{deployment("dc1")}, looks: []map[string]cloud.Rollout{{}}, waiting: []string{"dc1"},
		},
		"told to stop": {
			outcomes: []cloud.Outcome{deployment("dc1")}, looks: []map[string]cloud.Rollout{{}},
			p: reconcile.Patience{Limit: time.Hour, Stop: stopped}, waiting: []string{"dc1"}, told: []string{"dc1 "},
		},
		"nobody can look": {
			outcomes: []cloud.Outcome{deployment("dc1")}, looks: []map[string]cloud.Rollout{nil},
			p: reconcile.Patience{Limit: 20 * time.Millisecond}, waiting: []string{"dc1"}, err: busy,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var told []string
			p, n := test.p, 0
			p.Every = time.Millisecond
			p.Look = func(context.Context) (map[string]cloud.Rollout, error) {
				seen := test.looks[min(n, len(test.looks)-1)]
				if n++; seen == nil {
					return nil, busy
				}
				return seen, nil
			}
			p.Progress = func(o vpn.Owner, now cloud.Rollout) {
				told = append(told, o.Name+" "+map[bool]string{true: "runs", false: now.Message}[now.Available])
			}
			_, waiting, err := p.Await(t.Context(), &cloud.Report{Outcomes: test.outcomes})
			var names []string
			for _, o := range waiting {
				names = append(names, o.Name)
			}
			if diff := cmp.Diff(test.waiting, names); diff != "" {
				t.Errorf("waiting (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.told, told); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
			if !errors.Is(err, test.err) {
				t.Errorf("error %v, want %v", err, test.err)
			}
		})
	}
}
