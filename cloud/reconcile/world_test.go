package reconcile_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/directory"
	"github.com/vpnctl/vpnctl/cloud/openstack"
	"github.com/vpnctl/vpnctl/cloud/reconcile"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/manifest"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// world is a simulated cloud, a directory for the Kubernetes side, and a clock
// that moves only when it is told or waited for.
type world struct {
	t     testing.TB
	sim   *simulator.Server
	tree  string
	fault func(n int, r *http.Request) simulator.Fault
	// operated are gateways that an operator made, which is stopped.
	operated []alloc.Operated
	working  bool   // it is not stopped
	login    string // who plans; empty: the operator of the project
	live     bool   // the clock is time.Now: a bubble of testing/synctest drives it

	mu  sync.Mutex
	now time.Time
}

func newWorld(t testing.TB, o simulator.Options) *world {
	t.Helper()
	w := &world{t: t, tree: folder(t), now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	w.start(o)
	return w
}

func (w *world) start(o simulator.Options) {
	t := w.t
	t.Helper()
	o.Clock, o.Intercept, o.Keep = w.time, w.intercept, simulator.All
	if o.Seed.Nodes == nil {
		for _, n := range estate(t).Kubernetes.Nodes {
			o.Seed.Nodes = append(o.Seed.Nodes, simulator.Node{Name: n.Name, ServerID: n.ServerID})
		}
	}
	sim, err := simulator.New(o)
	if err != nil {
		t.Fatal(err)
	}
	w.sim = sim
}

// copy makes a world of its own that is the same.
func (w *world) copy(t testing.TB) *world {
	t.Helper()
	c := &world{t: t, tree: folder(t), now: w.time(), operated: w.operated}
	for _, path := range w.files() { // files are replaced, never written into
		to := filepath.Join(c.tree, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.Link(filepath.Join(w.tree, path), to)); err != nil {
			t.Fatal(err)
		}
	}
	sim, err := w.sim.Copy(simulator.Options{Clock: c.time, Intercept: c.intercept, Keep: simulator.All})
	if err != nil {
		t.Fatal(err)
	}
	c.sim = sim
	return c
}

// folder is a temporary one, in memory where the machine has such: thousands of
// runs write their files through to it.
func folder(t testing.TB) string {
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

func (w *world) intercept(n int, r *http.Request) simulator.Fault {
	w.mu.Lock()
	fault := w.fault
	w.mu.Unlock()
	if fault == nil {
		return simulator.Fault{}
	}
	return fault(n, r)
}

// faults sets what disturbs calls from now on; nil: nothing does.
func (w *world) faults(fault func(n int, r *http.Request) simulator.Fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fault = fault
}

func (w *world) time() time.Time {
	if w.live {
		return time.Now()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) pass(d time.Duration) {
	if w.live {
		time.Sleep(d)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

// sleep is the driver's: waiting takes no time, but the clock moves on.
func (w *world) sleep(ctx context.Context, d time.Duration) error {
	if !w.live {
		w.pass(d)
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

func (w *world) connect(ctx context.Context, login string) (*openstack.Driver, error) {
	c, err := w.sim.Credentials("http://simulator.invalid", login)
	if err != nil {
		w.t.Fatal(err)
	}
	return openstack.Connect(ctx, openstack.Options{
		Env:       func(key string) string { return c.Env[key] },
		Transport: simulator.Transport(w.sim),
		Clock:     openstack.Clock{Now: w.time, Sleep: w.sleep},
	})
}

// input is what a run of an estate starts from.
func (w *world) input(ctx context.Context, e vpn.Estate, o plan.Options) (reconcile.Input, *openstack.Driver, error) {
	d, err := w.connect(ctx, cmp.Or(w.login, "operator"))
	if err != nil {
		return reconcile.Input{}, nil, err
	}
	if len(w.operated) > 0 {
		o.Operated, o.OperatorStopped = w.operated, !w.working
	}
	return reconcile.Input{
		Estate: e, Manifests: len(e.Gateways), Options: o, Now: w.time(),
		Drivers: []cloud.Driver{d, directory.New(w.tree)},
	}, d, nil
}

// plan is a run that changes nothing.
func (w *world) plan(e vpn.Estate, o plan.Options) plan.Plan {
	w.t.Helper()
	in, _, err := w.input(w.t.Context(), e, o)
	if err != nil {
		w.t.Fatal(err)
	}
	r, err := reconcile.Plan(w.t.Context(), in)
	if err != nil {
		w.t.Fatal(err)
	}
	return r.Plan
}

// run is one whole apply: lock, plan, carry out, unlock.
func (w *world) run(ctx context.Context, e vpn.Estate, o plan.Options, parallelism int) error {
	in, d, err := w.input(ctx, e, o)
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
			err = r.Apply(lock.Context(), cloud.Execution{Parallelism: parallelism, Now: w.time}).Err()
		}
	}
	if gone := lock.Release(ctx); err == nil {
		err = gone
	}
	return err
}

// apply is a run that has to succeed.
func (w *world) apply(e vpn.Estate, o plan.Options) {
	w.t.Helper()
	if err := w.run(w.t.Context(), e, o, 1); err != nil {
		w.t.Fatal(err)
	}
}

// heal ends all faults and lets the lock of a run that died expire.
func (w *world) heal() {
	w.faults(nil)
	w.sim.Reset()
	w.pass(10 * time.Minute)
}

// look is all that exists, cloud and tree, without what the server chose.
func (w *world) look() string {
	w.t.Helper()
	s, err := w.sim.Snapshot()
	if err != nil {
		w.t.Fatal(err)
	}
	var b strings.Builder
	b.Write(s.Normalize().Bytes())
	chosen := w.chosen(s)
	for _, path := range w.files() {
		content, err := os.ReadFile(filepath.Join(w.tree, path))
		if err != nil {
			w.t.Fatal(err)
		}
		fmt.Fprintf(&b, "--- %s\n%s", path, chosen.Replace(string(content)))
	}
	return attachment.ReplaceAllString(dates.ReplaceAllString(b.String(), "DATE"), "attachment: HASH")
}

// chosen replaces addresses and MACs that the server chose by the name of what
// has them.
func (w *world) chosen(s simulator.Snapshot) *strings.Replacer {
	var pairs []string
	for _, p := range s.Of("port") {
		name := p.Text("name")
		pairs = append(pairs, p.Text("mac_address"), "MAC of "+name)
		for _, ip := range p.Attributes["fixed_ips"].([]any) {
			if address := ip.(map[string]any)["ip_address"].(string); strings.HasPrefix(name, "vpnctl-") {
				pairs = append(pairs, address+"/", "address of "+name+"/", `"`+address+`"`, "address of "+name, address+"\n", "address of "+name+"\n", address+" ", "address of "+name+" ", address+";", "address of "+name+";", address+",", "address of "+name+",")
			}
		}
	}
	for _, f := range s.Of("floating-ip") {
		if d := f.Text("description"); strings.HasPrefix(d, "vpnctl") {
			pairs = append(pairs, f.Text("floating_ip_address"), "floating IP of "+d)
		}
	}
	return strings.NewReplacer(pairs...)
}

// files are the tree's files, sorted.
func (w *world) files() []string {
	w.t.Helper()
	var paths []string
	err := filepath.WalkDir(w.tree, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(w.tree, path)
			paths = append(paths, rel)
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	slices.Sort(paths)
	return paths
}

// whole wants every file that a kustomization of the tree lists to be there:
// one that is missing stops Flux and Argo CD altogether.
func (w *world) whole() {
	w.t.Helper()
	for _, path := range w.files() {
		if filepath.Base(path) != "kustomization.yaml" {
			continue
		}
		content, err := os.ReadFile(filepath.Join(w.tree, path))
		if err != nil {
			w.t.Fatal(err)
		}
		var k struct{ Resources []string }
		if err := yaml.Unmarshal(content, &k); err != nil {
			w.t.Fatal(err)
		}
		for _, r := range k.Resources {
			if _, err := os.Stat(filepath.Join(w.tree, filepath.Dir(path), r)); err != nil {
				w.t.Errorf("%s lists %s, which is not there", path, r)
			}
		}
	}
}

// estate is that of all examples together.
func estate(t testing.TB) vpn.Estate {
	t.Helper()
	var paths []string
	for _, example := range []string{"acme", "globex", "initech"} {
		files, err := filepath.Glob(filepath.Join("..", "..", "examples", example, "*.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if filepath.Base(f) != "vpnctl.yaml" {
				paths = append(paths, f)
			}
		}
	}
	loaded, found := manifest.Load(paths, manifest.Options{EstateFile: filepath.Join("..", "..", "examples", "acme", "vpnctl.yaml")})
	if found.Errors() > 0 {
		found.WriteText(os.Stderr)
		t.Fatal("the examples are not valid")
	}
	return loaded.Estate
}
