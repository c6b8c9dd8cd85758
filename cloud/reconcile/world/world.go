package world

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/directory"
	"github.com/vpnctl/vpnctl/cloud/openstack"
	"github.com/vpnctl/vpnctl/cloud/reconcile"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// World is a simulated cloud, a directory for the Kubernetes side, and a clock
// that moves only when it is told or waited for.
type World struct {
	T     testing.TB
	Sim   *simulator.Server
	Tree  string // the folder of the Kubernetes side
	fault func(n int, r *http.Request) simulator.Fault
	// Operated are gateways that an operator made, which is stopped.
	Operated []alloc.Operated
	Working  bool   // it is not stopped
	Login    string // who plans; empty: the operator of the project
	// Customer says where a link's credential is; nil: the simulator has a login with the
	// name of the link's cloud.
	Customer func(l vpn.Link) (openstack.Options, error)
	live     bool // the clock is time.Now: a bubble of testing/synctest drives it

	mu  sync.Mutex
	now time.Time
}

// New is a world with the servers of the examples' nodes, in which nothing of an estate
// is there yet.
func New(t testing.TB, o simulator.Options) *World {
	t.Helper()
	w := &World{T: t, Tree: Folder(t), now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	w.start(o)
	return w
}

// Live is a world whose clock is that of a bubble of testing/synctest.
func Live(t testing.TB, o simulator.Options) *World {
	t.Helper()
	w := &World{T: t, Tree: Folder(t), live: true}
	w.start(o)
	return w
}

func (w *World) start(o simulator.Options) {
	t := w.T
	t.Helper()
	o.Clock, o.Intercept, o.Keep = w.Time, w.intercept, simulator.All
	if o.Seed.Nodes == nil {
		o.Seed.Nodes = Nodes(t)
	}
	sim, err := simulator.New(o)
	if err != nil {
		t.Fatal(err)
	}
	w.Sim = sim
}

// Copy makes a world of its own that is the same.
func (w *World) Copy(t testing.TB) *World {
	t.Helper()
	c := &World{T: t, Tree: Folder(t), now: w.Time(), Operated: w.Operated, Customer: w.Customer}
	for _, path := range w.Files() { // files are replaced, never written into
		to := filepath.Join(c.Tree, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.Link(filepath.Join(w.Tree, path), to)); err != nil {
			t.Fatal(err)
		}
	}
	sim, err := w.Sim.Copy(simulator.Options{Clock: c.Time, Intercept: c.intercept, Keep: simulator.All})
	if err != nil {
		t.Fatal(err)
	}
	c.Sim = sim
	return c
}

// Folder is a temporary one, in memory where the machine has such: thousands of
// runs write their files through to it.
func Folder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "vpnctl-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func (w *World) intercept(n int, r *http.Request) simulator.Fault {
	w.mu.Lock()
	fault := w.fault
	w.mu.Unlock()
	if fault == nil {
		return simulator.Fault{}
	}
	return fault(n, r)
}

// Disturb sets what disturbs calls from now on; nil: nothing does.
func (w *World) Disturb(fault func(n int, r *http.Request) simulator.Fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fault = fault
}

// Time is what the clock shows.
func (w *World) Time() time.Time {
	if w.live {
		return time.Now()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

// Pass lets time go by.
func (w *World) Pass(d time.Duration) {
	if w.live {
		time.Sleep(d)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

// sleep is the driver's: waiting takes no time, but the clock moves on.
func (w *World) sleep(ctx context.Context, d time.Duration) error {
	if !w.live {
		w.Pass(d)
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
	return ctx.Err()
}

// Connect is the driver of one who logs in so.
func (w *World) Connect(ctx context.Context, login string) (*openstack.Driver, error) {
	o, err := w.Options(login)
	if err != nil {
		return nil, err
	}
	o.Customer = func(_ context.Context, l vpn.Link) (openstack.Options, error) {
		if w.Customer != nil {
			return w.Customer(l)
		}
		return w.Options(l.Cloud)
	}
	return openstack.Connect(ctx, o)
}

// Options are how one logs in whom the simulator knows.
func (w *World) Options(login string) (openstack.Options, error) {
	return options(w.Sim, login, openstack.Clock{Now: w.Time, Sleep: w.sleep})
}

// Connect is the driver over a simulated cloud of one who logs in so.
func Connect(ctx context.Context, sim *simulator.Server, login string, clock openstack.Clock) (*openstack.Driver, error) {
	o, err := options(sim, login, clock)
	if err != nil {
		return nil, err
	}
	return openstack.Connect(ctx, o)
}

func options(sim *simulator.Server, login string, clock openstack.Clock) (openstack.Options, error) {
	c, err := sim.Credentials(simulated, login)
	return openstack.Options{Env: func(key string) string { return c.Env[key] }, Transport: simulator.Transport(sim), Clock: clock}, err
}

// Input is what a run of an estate starts from.
func (w *World) Input(ctx context.Context, e vpn.Estate, o plan.Options) (reconcile.Input, *openstack.Driver, error) {
	d, err := w.Connect(ctx, cmp.Or(w.Login, "operator"))
	if err != nil {
		return reconcile.Input{}, nil, err
	}
	if len(w.Operated) > 0 {
		o.Operated, o.OperatorStopped = w.Operated, !w.Working
	}
	return reconcile.Input{
		Estate: e, Manifests: len(e.Gateways), Options: o, Now: w.Time(),
		Drivers: []cloud.Driver{d, directory.New(w.Tree)},
	}, d, nil
}

// Plan is a run that changes nothing.
func (w *World) Plan(e vpn.Estate, o plan.Options) plan.Plan {
	w.T.Helper()
	in, _, err := w.Input(w.T.Context(), e, o)
	if err != nil {
		w.T.Fatal(err)
	}
	r, err := reconcile.Plan(w.T.Context(), in)
	if err != nil {
		w.T.Fatal(err)
	}
	return r.Plan
}

// Run is one whole apply: lock, plan, carry out, unlock.
func (w *World) Run(ctx context.Context, e vpn.Estate, o plan.Options, parallelism int) error {
	in, d, err := w.Input(ctx, e, o)
	if err != nil {
		return err
	}
	lock, err := reconcile.Lock(ctx, e, d, state.LockOptions{Holder: "test", Timeout: 10 * time.Second})
	if err != nil {
		return err
	}
	r, err := reconcile.Plan(lock.Context(), in)
	if err == nil {
		if len(r.Plan.Refusals) > 0 {
			err = fmt.Errorf("refused: %v", r.Plan.Refusals)
		} else {
			err = r.Apply(lock.Context(), cloud.Execution{Parallelism: parallelism, Now: w.Time}).Err()
		}
	}
	if gone := lock.Release(ctx); err == nil {
		err = gone
	}
	return err
}

// Apply is a run that has to succeed.
func (w *World) Apply(e vpn.Estate, o plan.Options) {
	w.T.Helper()
	if err := w.Run(w.T.Context(), e, o, 1); err != nil {
		w.T.Fatal(err)
	}
}

// Heal ends all faults and lets the lock of a run that died expire.
func (w *World) Heal() {
	w.Disturb(nil)
	w.Sim.Reset()
	w.Pass(10 * time.Minute)
}
