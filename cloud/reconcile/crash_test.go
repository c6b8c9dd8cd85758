package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud/reconcile/world"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan"
)

// disturbance is one way in which a call can go wrong.
type disturbance struct {
	name  string
	fault simulator.Fault
	dead  bool // no later call gets through
	write bool // it matters to calls alone that write: to a read it is what another one is
}

// at are the faults that this disturbance means for a call: one for each type of
// conflict that the call can give.
func (d disturbance) at(c simulator.Call) []simulator.Fault {
	if d.write && !c.Write() {
		return nil
	}
	if d.fault.Status != http.StatusConflict || d.fault.Type != "" {
		return []simulator.Fault{d.fault}
	}
	var all []simulator.Fault
	for _, kind := range conflict(c) {
		f := d.fault
		f.Type = kind
		all = append(all, f)
	}
	return all
}

// fatal tells whether it ends the run, or what it does for one gateway.
func (d disturbance) fatal() bool {
	return d.dead || d.fault.Do == simulator.Stop || d.fault.Type == "OverQuota"
}

// disturbances are what can happen to one call. Dead ones end the run there and
// then; the others the run sees.
var disturbances = []disturbance{
	{"stopped dead after it", simulator.Fault{Do: simulator.Stop}, true, false},
	{"done, but its answer lost", simulator.Fault{Do: simulator.Drop}, false, true},
	{"done, its answer lost, and dead", simulator.Fault{Do: simulator.Drop}, true, true},
	{"answered 500", simulator.Fault{Do: simulator.Fail, Status: 500}, false, false},
	{"answered 429", simulator.Fault{Do: simulator.Throttle, Status: 429, RetryAfter: 1}, false, true},
	{"answered 503", simulator.Fault{Do: simulator.Throttle, Status: 503, RetryAfter: 1}, false, false},
	{"answered 401", simulator.Fault{Do: simulator.Fail, Status: 401}, false, false},
	{"answered 409 OverQuota", simulator.Fault{Do: simulator.Fail, Status: 409, Type: "OverQuota", Message: "Quota exceeded for resources: ['port']."}, false, true},
	{"answered 409 of its own kind", simulator.Fault{Do: simulator.Fail, Status: 409}, false, true},
	{"not found by the next reads", simulator.Fault{Do: simulator.Hide, Reads: 2}, false, true},
}

// conflict are the 409s that a call can give besides OverQuota.
func conflict(c simulator.Call) []string {
	switch {
	case c.Method == http.MethodPost && strings.HasSuffix(c.Pattern, "/ports"):
		return []string{"IpAddressAlreadyAllocated"}
	case c.Method == http.MethodPost && strings.HasSuffix(c.Pattern, "/rbac-policies"):
		return []string{"DuplicateRbacPolicy"}
	case c.Method == http.MethodDelete && strings.Contains(c.Pattern, "/rbac-policies/"):
		return []string{"RbacPolicyInUse"}
	case c.Method == http.MethodPost && strings.HasSuffix(c.Pattern, "/security-group-rules"):
		return []string{"SecurityGroupRuleExists"}
	case c.Method == http.MethodPut && strings.Contains(c.Pattern, "/floatingips/"):
		return []string{"FloatingIPPortAlreadyAssociated"}
	case c.Method == http.MethodPut && strings.Contains(c.Pattern, "extraroutes"):
		return []string{"RoutesExhausted", "RouterInterfaceInUseByRoute"}
	case c.Method == http.MethodDelete && strings.Contains(c.Pattern, "/security-groups/"):
		return []string{"SecurityGroupInUse"}
	case c.Method == http.MethodDelete && strings.Contains(c.Pattern, "/ports/"):
		return []string{"PortInUse", "ServicePortInUse"}
	case c.Method == http.MethodPost && strings.Contains(c.Pattern, "os-interface"):
		return []string{"conflictingRequest"}
	}
	return nil
}

// TestCrashEverywhere disturbs every API call of a run in every way that matters, runs again
// undisturbed, and wants the cloud and the tree that an undisturbed life leads
// to: object for object, nothing left over, the lock included. Under the race
// detector, which makes it ten times slower, every tenth point is tried.
func TestCrashEverywhere(t *testing.T) {
	var points, seen atomic.Int64
	lives := maps.Clone(scenarios)
	maps.Copy(lives, places())
	maps.Copy(lives, links())
	maps.Copy(lives, crossings())
	t.Cleanup(func() { // once all scenarios, which run side by side, have ended
		fmt.Printf("crash everywhere: %d of %d points of %d scenarios tried\n", points.Load(), seen.Load(), len(lives))
	})
	for name, l := range lives {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := l.stage(t)
			for _, d := range disturbances {
				if l.fatal && !d.fatal() {
					continue
				}
				t.Run(d.name, func(t *testing.T) {
					t.Parallel()
					for k, call := range s.calls {
						if l.fatal && !call.Write() {
							continue
						}
						for _, fault := range d.at(call) {
							if seen.Add(1)%world.Stride != 0 {
								continue
							}
							points.Add(1)
							got, err := s.disturbed(t, k+1, fault, d.dead)
							if err != nil || got != s.want {
								t.Errorf("call %d, %s %s, %s: the run after it: %v (-undisturbed +recovered):\n%s", k+1, call.Method, call.Pattern, fault.Type, err, cmp.Diff(s.want, got))
							}
						}
					}
				})
			}
		})
	}
}

// stage is a life up to the run that is disturbed.
type stage struct {
	before     *world.World
	last, then run    // the disturbed run, and the one after it
	want       string // what there is in the end
	calls      []simulator.Call
}

// stage lives through all steps but the last, then through that as well, in a
// copy of the world.
func (l life) stage(t *testing.T) stage {
	t.Helper()
	s := stage{before: world.New(t, simulator.Options{})}
	for i, step := range l.steps {
		s.then = s.last
		s.last = run{step.estate(s.before), step.options}
		if i < len(l.steps)-1 {
			s.before.Apply(s.last.estate, s.last.options)
		}
	}
	s.before.Heal()
	w := s.before.Copy(t)
	w.Apply(s.last.estate, s.last.options)
	for _, c := range w.Sim.Calls() {
		if !c.Keystone() {
			s.calls = append(s.calls, c)
		}
	}
	if l.back {
		w = s.before.Copy(t)
	} else {
		s.then = s.last
	}
	w.Heal()
	quiet(t, w, s.then, "the scenario")
	s.want = w.Look()
	return s
}

// disturbed is the last run, which meets a fault at its k-th call, and then the
// one after it, which has to get through.
func (s stage) disturbed(t *testing.T, k int, fault simulator.Fault, dead bool) (string, error) {
	t.Helper()
	w := s.before.Copy(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	w.Disturb(func(n int, _ *http.Request) simulator.Fault {
		switch {
		case n == k:
			return fault
		case n > k && dead && fault.Do != simulator.Stop:
			return simulator.Fault{Do: simulator.Stop}
		}
		return simulator.Fault{}
	})
	_ = w.Run(ctx, s.last.estate, s.last.options, 1) // it may get through, or say why not
	w.Heal()
	if !dead && fault.Do != simulator.Stop {
		w.Whole()
	}
	if err := w.Run(ctx, s.then.estate, s.then.options, 1); err != nil {
		return "", fmt.Errorf("the second run: %w", err)
	}
	if p := w.Plan(s.then.estate, plan.Options{}); len(p.Pending()) > 0 {
		return "", errors.New("the plan after it is not empty: " + p.Pending()[0].ID.String() + ": " + p.Pending()[0].Reason)
	}
	return w.Look(), nil
}

// quiet wants nothing to be left to do.
func quiet(t *testing.T, w *world.World, r run, after string) {
	t.Helper()
	if p := w.Plan(r.estate, plan.Options{}); len(p.Pending()) > 0 {
		t.Fatalf("the plan after %s is not empty: %s: %s", after, p.Pending()[0].ID, p.Pending()[0].Reason)
	}
}
