package kube_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/kube"
	"github.com/vpnctl/vpnctl/cloud/kube/fakeapi"
	"github.com/vpnctl/vpnctl/cloud/openstack"
	"github.com/vpnctl/vpnctl/cloud/reconcile"
	worlds "github.com/vpnctl/vpnctl/cloud/reconcile/world"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// cluster is an API server, simulated or real, from the side of another hand.
type cluster interface {
	Config() *rest.Config
	PutAs(t testing.TB, manager string, object map[string]any) *unstructured.Unstructured
	Get(kind, namespace, name string) *unstructured.Unstructured
	Remove(t testing.TB, kind, namespace, name string)
	All() []*unstructured.Unstructured
}

// opening gives a new world in which nothing of an estate is there yet. The one before it
// is no longer looked at.
type opening func(testing.TB) *world

// world is a simulated cloud, and a cluster whose nodes are its servers.
type world struct {
	t   testing.TB
	sim *simulator.Server
	on  cluster
	api *fakeapi.Server // the cluster where it is simulated

	stopped bool // the operator
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, api: worlds.API(t, customers...), sim: newCloud(t)}
	w.on = w.api
	return w
}

// newCloud is a simulated one with the nodes' servers.
func newCloud(t testing.TB) *simulator.Server {
	t.Helper()
	sim, err := simulator.New(simulator.Options{Clock: now, Keep: simulator.All, Seed: simulator.Seed{Nodes: worlds.Nodes(t)}})
	if err != nil {
		t.Fatal(err)
	}
	return sim
}

// put writes an object as another hand does.
func (w *world) put(object map[string]any) *unstructured.Unstructured {
	w.t.Helper()
	return w.on.PutAs(w.t, "kubectl", object)
}

// copy is another world in the same state.
func (w *world) copy(t testing.TB) *world {
	t.Helper()
	sim, err := w.sim.Copy(simulator.Options{Clock: now, Keep: simulator.All})
	if err != nil {
		t.Fatal(err)
	}
	c := &world{t: t, sim: sim, api: w.api.Copy(t), stopped: w.stopped}
	c.on = c.api
	return c
}

func now() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// driver is the one over the simulated cluster. Nothing there takes time.
func (w *world) driver() *kube.Driver {
	w.t.Helper()
	d, err := kube.Over(w.on.Config(), kube.Options{OperatorStopped: w.stopped, Gone: time.Minute, Poll: 5 * time.Millisecond})
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

// prepare observes and plans.
func (w *world) prepare(ctx context.Context, e vpn.Estate, o plan.Options) (*reconcile.Result, error) {
	return w.prepareWith(ctx, e, o, nil)
}

// prepareWith is the same where manifests are being deleted.
func (w *world) prepareWith(ctx context.Context, e vpn.Estate, o plan.Options, deleted map[vpn.Owner]bool) (*reconcile.Result, error) {
	d, err := worlds.Connect(ctx, w.sim, "operator", openstack.Clock{Now: now, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }})
	if err != nil {
		return nil, err
	}
	return reconcile.Plan(ctx, reconcile.Input{
		Estate: e, Manifests: len(e.Gateways), Options: o, Now: now(), Drivers: []cloud.Driver{d, w.driver()}, Deleted: deleted,
	})
}

// plan is a run that changes nothing.
func (w *world) plan(e vpn.Estate, o plan.Options) plan.Plan {
	w.t.Helper()
	r, err := w.prepare(w.t.Context(), e, o)
	if err != nil {
		w.t.Fatal(err)
	}
	return r.Plan
}

// run plans and carries the plan out.
func (w *world) run(ctx context.Context, e vpn.Estate, o plan.Options) error {
	r, err := w.prepare(ctx, e, o)
	if err != nil {
		return err
	}
	if len(r.Plan.Refusals) > 0 {
		return fmt.Errorf("refused: %v", r.Plan.Refusals)
	}
	return r.Apply(ctx, cloud.Execution{Parallelism: 1, Now: now}).Err()
}

// apply is a run that has to succeed.
func (w *world) apply(e vpn.Estate, o plan.Options) {
	w.t.Helper()
	if err := w.run(w.t.Context(), e, o); err != nil {
		w.t.Fatal(err)
	}
}

// settled wants a plan to be empty.
func (w *world) settled(e vpn.Estate, o plan.Options) {
	w.t.Helper()
	p := w.plan(e, o)
	for _, r := range p.Refusals {
		w.t.Errorf("refused: %v", r)
	}
	for _, c := range p.Pending() {
		w.t.Errorf("still planned: %s %s: %s %v", c.Action, c.ID, c.Reason, c.Attributes)
	}
}

// customers are those of the examples, each with a namespace.
var customers = []string{"acme", "globex", "initech"}

// estate is that of examples, all of them or those of some customers, in a cluster.
func estate(t testing.TB, of ...string) vpn.Estate {
	t.Helper()
	if len(of) == 0 {
		of = customers
	}
	e := worlds.EstateOf(t, of...)
	e.Kubernetes = vpn.Kubernetes{Target: vpn.TargetCluster}
	return e
}
