package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// dates are moments that a run writes: when a gateway began to drain.
var dates = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// attachment is the hash of the port's address and MAC that rolls the pod.
var attachment = regexp.MustCompile(`attachment: "?[0-9a-f]+"?`)

// step is one run of a scenario.
type step struct {
	estate  func(t testing.TB) vpn.Estate
	options plan.Options
}

// day outlasts the time that a dead run's lock takes to expire.
const day = 24 * time.Hour

// scenarios are the lives of an estate; the last step is the one that is
// disturbed.
var scenarios = map[string][]step{
	"create": {{estate, plan.Options{}}},
	"update": {{estate, plan.Options{}}, {changed, plan.Options{}}},
	"move":   {{estate, plan.Options{}}, {moved, plan.Options{}}},
	"drain":  {{estate, plan.Options{}}, {fewer, plan.Options{Prune: true, Hold: day}}},
	"prune":  {{estate, plan.Options{}}, {fewer, plan.Options{Prune: true, Hold: day}}, {fewer, plan.Options{Prune: true, PodsGone: true}}},
	"peer":   {{estate, plan.Options{}}, {withoutPeer, plan.Options{Prune: true}}},
}

// changed adds and removes exposures, moves a peer and grants another access.
func changed(t testing.TB) vpn.Estate {
	e := estate(t)
	for i := range e.Gateways {
		g := &e.Gateways[i]
		if len(g.Exposures) > 1 {
			g.Exposures = g.Exposures[:len(g.Exposures)-1]
			dropGrants(g)
		}
		switch len(g.ReverseExposures) {
		case 0:
		default:
			g.ReverseExposures = nil
			dropGrants(g)
		}
		if g.Protocol == vpn.IPsec {
			g.Peers[0].Address = g.Peers[0].Address.Next()
		}
	}
	return e
}

// dropGrants takes grants away whose exposure has gone.
func dropGrants(g *vpn.Gateway) {
	names := map[string]bool{}
	for _, x := range append(append([]vpn.Exposure{}, g.Exposures...), g.ReverseExposures...) {
		names[x.Name] = true
	}
	keep := func(list []string) (kept []string) {
		for _, n := range list {
			if names[n] {
				kept = append(kept, n)
			}
		}
		return kept
	}
	for i, p := range g.Peers {
		if p.Grants != nil {
			g.Peers[i].Grants = &vpn.Grants{Exposures: keep(p.Grants.Exposures), ReverseExposures: keep(p.Grants.ReverseExposures)}
		}
	}
}

// moved takes the node away that carries the first gateway.
func moved(t testing.TB) vpn.Estate {
	e := estate(t)
	e.Kubernetes.Nodes = e.Kubernetes.Nodes[1:]
	return e
}

// fewer has lost its first gateway's manifests.
func fewer(t testing.TB) vpn.Estate {
	e := estate(t)
	e.Gateways = e.Gateways[1:]
	return e
}

// withoutPeer has lost a peer of the WireGuard gateway.
func withoutPeer(t testing.TB) vpn.Estate {
	e := estate(t)
	for i := range e.Gateways {
		if g := &e.Gateways[i]; g.Protocol == vpn.WireGuard {
			g.Peers = g.Peers[1:]
		}
	}
	return e
}

// disturbances are what can happen to one call. Dead ones end the run there and
// then; the others the run sees.
var disturbances = []struct {
	name  string
	fault simulator.Fault
	dead  bool // no later call gets through
}{
	{"stopped dead after it", simulator.Fault{Do: simulator.Stop}, true},
	{"done, but its answer lost", simulator.Fault{Do: simulator.Drop}, false},
	{"done, its answer lost, and dead", simulator.Fault{Do: simulator.Drop}, true},
	{"answered 500", simulator.Fault{Do: simulator.Fail, Status: 500}, false},
	{"answered 429", simulator.Fault{Do: simulator.Throttle, Status: 429, RetryAfter: 1}, false},
	{"answered 503", simulator.Fault{Do: simulator.Throttle, Status: 503, RetryAfter: 1}, false},
	{"answered 401", simulator.Fault{Do: simulator.Fail, Status: 401}, false},
	{"answered 409 OverQuota", simulator.Fault{Do: simulator.Fail, Status: 409, Type: "OverQuota", Message: "Quota exceeded for resources: ['port']."}, false},
	{"answered 409 of its own kind", simulator.Fault{Do: simulator.Fail, Status: 409}, false},
	{"not found by the next reads", simulator.Fault{Do: simulator.Hide, Reads: 2}, false},
}

// conflict are the 409s that a call can give besides OverQuota.
func conflict(c simulator.Call) []string {
	switch {
	case c.Method == http.MethodPost && strings.HasSuffix(c.Pattern, "/ports"):
		return []string{"IpAddressAlreadyAllocated"}
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

// TestCrashEverywhere disturbs every API call of a run in every way, runs again
// undisturbed, and wants the cloud and the tree that an undisturbed life leads
// to: object for object, nothing left over, the lock included. Under the race
// detector, which makes it ten times slower, every tenth point is tried.
func TestCrashEverywhere(t *testing.T) {
	points, seen := 0, 0
	for name, steps := range scenarios {
		t.Run(name, func(t *testing.T) {
			t.Cleanup(func() { t.Logf("%s: %d points so far", name, points) })
			want, calls := undisturbed(t, steps)
			for k, call := range calls {
				for _, d := range disturbances {
					types := []string{d.fault.Type}
					if d.fault.Status == http.StatusConflict && d.fault.Type == "" {
						types = conflict(call)
					}
					for _, typ := range types {
						if d.fault.Do == simulator.Hide && !call.Write() {
							continue
						}
						if seen++; seen%stride != 0 {
							continue
						}
						points++
						fault := d.fault
						fault.Type = typ
						got, err := disturbed(t, steps, k+1, fault, d.dead)
						if err != nil || got != want {
							t.Errorf("call %d, %s %s, %s %s: the run after it: %v (-undisturbed +recovered):\n%s", k+1, call.Method, call.Pattern, d.name, typ, err, cmp.Diff(want, got))
						}
					}
				}
			}
		})
	}
	fmt.Printf("crash everywhere: %d of %d points tried\n", points, seen)
}

// undisturbed lives through a scenario and returns what there is at its end and
// the calls of its last step.
func undisturbed(t *testing.T, steps []step) (string, []simulator.Call) {
	t.Helper()
	w := before(t, steps)
	last := steps[len(steps)-1]
	w.apply(last.estate(t), last.options)
	var calls []simulator.Call
	for _, c := range w.sim.Calls() {
		if !c.Keystone() {
			calls = append(calls, c)
		}
	}
	w.heal()
	if p := w.plan(last.estate(t), plan.Options{}); len(p.Pending()) > 0 {
		t.Fatalf("the plan after the scenario is not empty: %v", p.Pending())
	}
	return w.look(), calls
}

// before lives through all steps but the last.
func before(t *testing.T, steps []step) *world {
	t.Helper()
	w := newWorld(t, simulator.Options{})
	for _, s := range steps[:len(steps)-1] {
		w.apply(s.estate(t), s.options)
	}
	w.heal()
	return w
}

// disturbed lives through a scenario whose last step meets a fault at its k-th
// call, then runs that step again until it is through.
func disturbed(t *testing.T, steps []step, k int, fault simulator.Fault, dead bool) (string, error) {
	t.Helper()
	w := before(t, steps)
	last := steps[len(steps)-1]
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	w.fault = func(n int, _ *http.Request) simulator.Fault {
		switch {
		case n == k:
			return fault
		case n > k && dead && fault.Do != simulator.Stop:
			return simulator.Fault{Do: simulator.Stop}
		}
		return simulator.Fault{}
	}
	_ = w.run(ctx, last.estate(t), last.options, 1) // it may get through, or say why not
	w.heal()
	if !dead && fault.Do != simulator.Stop {
		w.whole()
	}
	if err := w.run(ctx, last.estate(t), last.options, 1); err != nil {
		return "", fmt.Errorf("the second run: %w", err)
	}
	if p := w.plan(last.estate(t), plan.Options{}); len(p.Pending()) > 0 {
		return "", errors.New("the plan after it is not empty: " + p.Pending()[0].ID.String() + ": " + p.Pending()[0].Reason)
	}
	return w.look(), nil
}
