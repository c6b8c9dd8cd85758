package loop_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/reconcile/world"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// death ends a controller at its k-th call, be it to the cloud or to the cluster: that
// call is done or not, its answer is lost, and nothing comes after it.
type death struct {
	mu    sync.Mutex
	calls int
	at    int  // 0: never
	done  bool // the last call was carried out
	dead  bool
}

// next counts a call and tells whether it is the last one, or comes after it.
func (d *death) next() (last, after bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dead {
		return false, true
	}
	d.calls++
	d.dead = d.calls == d.at
	return d.dead, false
}

// doom makes a field's calls end there.
func (f *field) doom(d *death) {
	f.Disturb(func(n int, _ *http.Request) simulator.Fault {
		if n == 0 {
			return simulator.Fault{}
		}
		switch last, after := d.next(); {
		case last && d.done, after:
			return simulator.Fault{Do: simulator.Stop}
		case last:
			return simulator.Fault{Do: simulator.Fail, Status: http.StatusServiceUnavailable}
		}
		return simulator.Fault{}
	})
	lost := false
	f.fails(func(_ string, done bool) error {
		if done {
			if lost {
				return errGone
			}
			return nil
		}
		last, after := d.next()
		if lost = last && d.done; lost {
			return nil
		}
		if last || after {
			return errGone
		}
		return nil
	})
}

// revive ends the faults, and time passes until a dead run's lock has expired.
func (f *field) revive() {
	f.World.Heal()
	f.fails(nil)
}

// copy is a field of its own that is the same.
func (f *field) copy(t testing.TB) *field {
	w := f.World.Copy(t)
	c := newCluster(t)
	c.nodes, c.created, c.objects = slices.Clone(f.nodes), f.created, maps.Clone(f.objects)
	for key, m := range f.manifests {
		own := *m
		c.manifests[key] = &own
	}
	return &field{World: w, cluster: c, file: f.file}
}

// trials are what a controller is killed during: how it stands before, and what people
// do then.
var trials = map[string]struct {
	before func(t *testing.T, f *field)
	then   func(t *testing.T, f *field)
}{
	"all gateways are made": {
		func(*testing.T, *field) {},
		func(_ *testing.T, f *field) { f.everyone() },
	},
	"one is changed, one deleted": {
		func(_ *testing.T, f *field) { f.everyone() },
		func(t *testing.T, f *field) {
			f.write(edited(t, manifestsOf(t, "acme/dc1")[0], `"name":"web"`, `"name":"web2"`))
			f.remove(manifestsOf(t, "initech/old")...)
		},
	},
	"a link comes, and a gateway goes": {
		func(_ *testing.T, f *field) { f.everyone() },
		func(t *testing.T, f *field) {
			f.write(northern)
			f.remove(manifestsOf(t, "initech/old")...)
		},
	},
	"a link goes, and a gateway with it": {
		func(_ *testing.T, f *field) { f.everyone(); f.write(northern) },
		func(t *testing.T, f *field) {
			f.remove(northern)
			f.remove(manifestsOf(t, "acme/dc1")...)
		},
	},
	"a node is lost": {
		func(_ *testing.T, f *field) { f.everyone() },
		func(_ *testing.T, f *field) {
			lost := f.field(acme, "nodeName")
			for i := range f.nodes {
				if f.nodes[i].Name == lost {
					f.nodes[i].Ready, f.nodes[i].Problem = false, "is not Ready"
				}
			}
		},
	},
}

var every = flag.Bool("every", false, "end the controller at every single call: takes minutes")

func stepping() int {
	if *every {
		return 1
	}
	return max(world.Stride, 4)
}

// TestAControllerMayEndAtAnyCall kills it at calls to the cloud or the cluster (all of them
// with -every), starts another one, and wants the end that an undisturbed life leads to: object for
// object, condition for condition.
func TestAControllerMayEndAtAnyCall(t *testing.T) {
	for name, trial := range trials {
		for _, done := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, the last call done %t", name, done), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					start := newField(t, simulator.Options{})
					trial.before(t, start)
					start.converge(t)
					trial.then(t, start)
					undisturbed, d := start.copy(t), &death{}
					undisturbed.doom(d)
					undisturbed.converge(t)
					undisturbed.revive()
					undisturbed.converge(t)
					want := withoutLock(undisturbed.all())
					for k := 1; k <= d.calls; k += stepping() {
						f := start.copy(t)
						f.doom(&death{at: k, done: done})
						rounds(t.Context(), f.controller())
						f.truthful(t)
						f.revive()
						f.converge(t)
						if got := withoutLock(f.all()); got != want {
							t.Errorf("call %d of %d (-undisturbed +recovered):\n%s", k, d.calls, cmp.Diff(want, got))
						}
					}
					t.Logf("%d calls", d.calls)
				})
			})
		}
	}
}

// withoutLock leaves out the lock of a run that died: whoever writes next takes it over.
func withoutLock(text string) string {
	var rest strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "port port vpnctl-lock-") {
			rest.WriteString(line)
		}
	}
	return rest.String()
}

// converge runs a new controller until there is nothing to do for it.
func (f *field) converge(t *testing.T) {
	t.Helper()
	c := f.controller()
	for range 5 {
		rounds(t.Context(), c)
	}
}

// truthful wants no gateway to be called ready that has no pod.
func (f *field) truthful(t *testing.T) {
	t.Helper()
	for key, m := range f.manifests {
		if m.Kind == vpn.KindClusterLink && strings.HasPrefix(f.ready(key), "True") && !f.leads("gateway-router", northernCIDR) {
			t.Errorf("%s is called ready, and nothing leads there", key)
		}
		if m.Kind == "VPNPeer" || m.Kind == vpn.KindClusterLink || !strings.HasPrefix(f.ready(key), "True") {
			continue
		}
		if len(f.objectsOf(key)) < 8 {
			t.Errorf("%s is called ready, and has %d objects", key, len(f.objectsOf(key)))
		}
	}
}

// fleet are n gateways with a peer each.
func fleet(t testing.TB, n int) [][]vpn.Manifest {
	model := manifestsOf(t, "acme/dc1")
	var all [][]vpn.Manifest
	for i := range n {
		g, p := model[0], model[1]
		g.Name, p.Name = fmt.Sprintf("gw%03d", i), fmt.Sprintf("peer%03d", i)
		g = edited(t, g, `"name":"dc1"`, `"name":"`+g.Name+`"`)
		p = edited(t, edited(t, p, `"name":"plant1"`, `"name":"`+p.Name+`"`), `"gatewayRef":"dc1"`, `"gatewayRef":"`+g.Name+`"`)
		all = append(all, []vpn.Manifest{g, p})
	}
	return all
}

// TestAHundredKills kills the controller at random while people create, change and delete
// fifty gateways. In the end all is as it was asked for, nothing was left over, and no
// address has moved.
func TestAHundredKills(t *testing.T) {
	gateways, kills := 50, 100
	if world.Stride > 1 { // the race detector makes it slow
		gateways, kills = 12, 25
	}
	synctest.Test(t, func(t *testing.T) {
		f := newField(t, simulator.Options{
			RouteLimit: 1000, Quota: map[string]int{"port": -1, "security_group": -1, "security_group_rule": -1, "floatingip": -1},
			Seed: simulator.Seed{SubnetCIDR: "10.128.0.0/16", FloatingIPCIDR: "11.0.0.0/16", Nodes: world.Nodes(t)},
		})
		r := rand.New(rand.NewPCG(4, 2))
		all := fleet(t, gateways)
		held := map[string]string{}
		stands := map[int]bool{}
		for kill := range kills {
			for range 1 + gateways/10 {
				i := r.IntN(gateways)
				switch {
				case !stands[i]:
					f.write(all[i]...)
					stands[i] = true
				case r.IntN(3) == 0:
					f.remove(all[i]...)
					stands[i] = false
				default:
					f.write(edited(t, all[i][0], `"name":"web"`, fmt.Sprintf(`"name":"web%d"`, r.IntN(9))))
				}
			}
			f.doom(&death{at: 1 + r.IntN(40+8*gateways), done: r.IntN(2) == 0})
			ctx, cancel := context.WithCancel(t.Context())
			rounds(ctx, f.controller())
			cancel()
			f.truthful(t)
			f.revive()
			f.unmoved(t, held, kill)
		}
		for i := range all { // who was deleted before a finalizer was on stands no more
			if f.manifests["VPNGateway acme/"+all[i][0].Name] == nil {
				stands[i] = false
			}
		}
		f.converge(t)
		for i := range all {
			key := "VPNGateway acme/" + all[i][0].Name
			if got := f.ready(key); stands[i] && got != "True Ready" || !stands[i] && got != "gone" {
				t.Errorf("%s: %s, and stands %t", key, got, stands[i])
			}
		}
		f.leftovers(t)
		said := f.statuses()
		f.converge(t)
		if n := f.statuses() - said; n > 0 {
			t.Errorf("%d statuses were written although nothing happened", n)
		}
	})
}

// unmoved wants every gateway that stands to have the range that it had before.
func (f *field) unmoved(t *testing.T, held map[string]string, kill int) {
	t.Helper()
	for key, m := range f.manifests {
		cidr := f.field(key, "serviceCIDR")
		if cidr == "" {
			continue
		}
		if before := held[m.UID]; before != "" && before != cidr {
			t.Errorf("kill %d: %s moved from %s to %s", kill, key, before, cidr)
		}
		held[m.UID] = cidr
	}
}

// leftovers wants nothing in the cloud or the cluster that belongs to nobody.
func (f *field) leftovers(t *testing.T) {
	t.Helper()
	names := map[string]bool{}
	for _, m := range f.manifests {
		names["vpnctl-"+strings.TrimPrefix(m.Namespace+"-"+m.Name, "-")] = true
	}
	seen := map[string]bool{}
	for _, kind := range []string{"port", "security-group"} {
		for _, o := range world.Snapshot(t, f.World).Of(kind) {
			switch name := o.Text("name"); {
			case !strings.HasPrefix(name, "vpnctl-"):
			case !names[name]:
				t.Errorf("%s %s was left", kind, name)
			case seen[kind+name]:
				t.Errorf("%s %s is there twice", kind, name)
			default:
				seen[kind+name] = true
			}
		}
	}
	for id, r := range f.objects {
		if f.manifests[strings.Replace(r.Owner, "/", " ", 1)] == nil {
			t.Errorf("%s was left", id)
		}
	}
}

// TestTwoControllersAtOnce: without an election, two still don't tread on each other:
// one after the other has the lock.
func TestTwoControllersAtOnce(t *testing.T) {
	want := ""
	synctest.Test(t, func(t *testing.T) {
		f := newField(t, simulator.Options{})
		f.everyone()
		f.converge(t)
		want = f.all()
	})
	bubble(t, func(t *testing.T, f *field) {
		other := f.controller()
		other.Changes = nil
		other.Resync = 7 * time.Second
		f.running(other, func() {
			f.running(f.controller(), func() {
				f.everyone()
				time.Sleep(2 * time.Minute)
			})
		})
		if diff := cmp.Diff(want, f.all()); diff != "" {
			t.Errorf("(-one +two):\n%s", diff)
		}
	})
}

var _ cloud.Driver = (*cluster)(nil)
