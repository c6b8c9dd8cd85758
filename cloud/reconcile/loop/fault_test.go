package loop_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud/simulator"
)

// storm wakes a controller every few seconds for a while: what other gateways do must
// not hasten what rests.
func (f *field) storm(d, every time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(every) {
		f.wake()
	}
}

// TestTheCloudIsDownForAnHour: few looks, one status for each gateway and not at the
// first failure, and all is well soon after.
func TestTheCloudIsDownForAnHour(t *testing.T) {
	bubble(t, func(t *testing.T, f *field) {
		keys := f.everyone()
		f.running(f.controller(), func() {
			time.Sleep(10 * time.Second)
			before, said, listed := f.all(), f.statuses(), f.called()
			var down atomic.Bool
			var calls atomic.Int64
			down.Store(true)
			f.Disturb(func(int, *http.Request) simulator.Fault {
				if !down.Load() {
					return simulator.Fault{}
				}
				calls.Add(1)
				return simulator.Fault{Do: simulator.Fail, Status: http.StatusServiceUnavailable, Message: "try later"}
			})
			f.wake()
			time.Sleep(10 * time.Second)
			if n := f.statuses() - said; n > 0 {
				t.Errorf("one failure, and %d statuses were written", n)
			}
			f.storm(time.Hour, 10*time.Second)
			if n := calls.Load(); n > 40*15*5 { // looks, lists, tries of each
				t.Errorf("%d calls in an hour", n)
			}
			if n := f.statuses() - said; n != len(f.manifests) { // each gateway's once, and each peer's
				t.Errorf("%d statuses were written in an hour for %d manifests", n, len(f.manifests))
			}
			for _, key := range keys {
				if got := f.ready(key); !strings.HasPrefix(got, "Unknown Unobserved: ") {
					t.Errorf("%s: %s", key, got)
				}
			}
			t.Logf("an hour without a cloud: %d calls to it, %d to the cluster", calls.Load(), f.called()-listed)
			down.Store(false)
			time.Sleep(2*time.Minute + 10*time.Second)
			if diff := cmp.Diff(before, f.all()); diff != "" {
				t.Errorf("after it (-before +after):\n%s", diff)
			}
		})
	})
}

// TestNewsWhileTheCloudIsDown: what needs no cloud is said at once.
func TestNewsWhileTheCloudIsDown(t *testing.T) {
	bubble(t, func(t *testing.T, f *field) {
		c := f.controller()
		f.Disturb(func(int, *http.Request) simulator.Fault {
			return simulator.Fault{Do: simulator.Fail, Status: http.StatusServiceUnavailable}
		})
		f.running(c, func() {
			time.Sleep(30 * time.Minute)
			m := manifestsOf(t, "acme/dc1")
			f.write(edited(t, m[0], `"address":"`, `"address":"x`), m[1])
			f.write(manifestsOf(t, "globex/remote")...)
			time.Sleep(20 * time.Second) // a look that was begun ends first
			if got := f.ready(acme); !strings.HasPrefix(got, "False InvalidSpec: ") {
				t.Errorf("one that is not valid: %s", got)
			}
			if got := f.ready("VPNGateway globex/remote"); !strings.HasPrefix(got, "Unknown ") {
				t.Errorf("one that is: %s", got)
			}
		})
	})
}

// TestAFailingChangeRests: one call of one gateway fails for half an hour, while others
// wake the loop each second. It is tried every 15 seconds, no status changes for it, and
// nobody else waits.
func TestAFailingChangeRests(t *testing.T) {
	bubble(t, func(t *testing.T, f *field) {
		var tries atomic.Int64
		f.Disturb(func(_ int, r *http.Request) simulator.Fault {
			if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/floatingips") {
				return simulator.Fault{}
			}
			tries.Add(1)
			return simulator.Fault{Do: simulator.Fail, Status: http.StatusConflict, Type: "OverQuota", Message: "Quota exceeded for resources: ['floatingip']."}
		})
		f.running(f.controller(), func() {
			f.write(manifestsOf(t, "acme/dc1")...)
			time.Sleep(20 * time.Second)
			if got := f.ready(acme); !strings.HasPrefix(got, "False EnsureFIPFailed: ") || strings.Contains(got, "req-") {
				t.Fatalf("its floating IP can't be had: %s", got)
			}
			said, before := f.statuses(), tries.Load()
			f.storm(2*time.Minute, time.Second)
			if n := tries.Load() - before; n < 7 || n > 8 {
				t.Errorf("it was tried %d times in two minutes, want one each 15 seconds", n)
			}
			time.Sleep(28 * time.Minute)
			if n := f.statuses() - said; n > 0 {
				t.Errorf("%d statuses were written in half an hour without news", n)
			}
			f.Disturb(nil)
			time.Sleep(30 * time.Second)
			f.wantReady(acme)
		})
	})
}

// heals ends the cluster's faults, and lets the longest pause between two tries go by.
func (f *field) heals() {
	f.fails(nil)
	time.Sleep(time.Minute + 5*time.Second)
}

// TestNobodyWaitsForAFailingGateway: others are made, changed and deleted meanwhile, and
// what fails is not tried by their turns.
func TestNobodyWaitsForAFailingGateway(t *testing.T) {
	bubble(t, func(t *testing.T, f *field) {
		var tries atomic.Int64
		f.fails(func(what string, _ bool) error {
			if what == "create kubernetes.deployment/acme/dc1" {
				tries.Add(1)
				return errGone
			}
			return nil
		})
		f.running(f.controller(), func() {
			f.write(manifestsOf(t, "acme/dc1")...)
			time.Sleep(30 * time.Minute)
			before := tries.Load()
			m := manifestsOf(t, "globex/remote")
			f.write(m...)
			time.Sleep(5 * time.Second)
			f.wantReady("VPNGateway globex/remote")
			f.write(edited(t, m[0], `"listenPort":51820`, `"listenPort":51821`))
			time.Sleep(5 * time.Second)
			f.wantReady("VPNGateway globex/remote")
			f.remove(m...)
			time.Sleep(5 * time.Second)
			if got := f.ready("VPNGateway globex/remote"); got != "gone" {
				t.Errorf("another one, deleted: %s", got)
			}
			if n := tries.Load() - before; n > 1 {
				t.Errorf("the failing one was tried %d times in 15 seconds, want one a minute", n)
			}
			if got := f.ready(acme); !strings.HasPrefix(got, "False DeploymentFailed: ") {
				t.Errorf("the failing one: %s", got)
			}
			f.heals()
			f.wantReady(acme)
		})
	})
}

// TestTheClusterIsDownForAnHour: few calls, and nothing happens in the cloud.
func TestTheClusterIsDownForAnHour(t *testing.T) {
	atRest(t, func(t *testing.T, f *field) {
		before, calls := f.all(), f.called()
		f.Sim.Reset()
		f.fails(func(string, bool) error { return errGone })
		f.storm(time.Hour, time.Second)
		if n := f.called() - calls; n > 80 {
			t.Errorf("%d calls to the cluster in an hour", n)
		}
		if n := len(f.Sim.Calls()); n > 0 {
			t.Errorf("%d calls to the cloud", n)
		}
		f.heals()
		if diff := cmp.Diff(before, f.all()); diff != "" {
			t.Errorf("after it (-before +after):\n%s", diff)
		}
	})
}

// TestAFinalizerThatCannotBePut: nothing is made for a gateway that could vanish.
func TestAFinalizerThatCannotBePut(t *testing.T) {
	bubble(t, func(t *testing.T, f *field) {
		f.fails(func(what string, _ bool) error {
			if what == "hold "+acme {
				return errGone
			}
			return nil
		})
		f.running(f.controller(), func() {
			f.everyone()
			time.Sleep(10 * time.Minute)
			f.wantReady("VPNGateway globex/remote")
			if strings.Contains(f.Look(), "acme/dc1") {
				t.Error("something was made")
			}
			f.heals()
			f.wantReady(acme)
		})
	})
}

// TestAStatusThatCannotBeWritten keeps nobody else waiting.
func TestAStatusThatCannotBeWritten(t *testing.T) {
	bubble(t, func(t *testing.T, f *field) {
		var tries atomic.Int64
		f.fails(func(what string, done bool) error {
			if what == "record "+acme && !done {
				tries.Add(1)
				return errGone
			}
			return nil
		})
		f.running(f.controller(), func() {
			f.write(manifestsOf(t, "acme/dc1")...)
			time.Sleep(30 * time.Minute)
			before := tries.Load()
			f.write(manifestsOf(t, "globex/remote")...)
			time.Sleep(5 * time.Second)
			f.wantReady("VPNGateway globex/remote")
			if n := tries.Load(); n > 120 || n-before > 10 {
				t.Errorf("%d tries in half an hour, %d in the five seconds of another gateway", before, n-before)
			}
			f.heals()
			f.wantReady(acme)
		})
	})
}

// TestARemovalThatFails is tried again, says why, and keeps the manifest.
func TestARemovalThatFails(t *testing.T) {
	atRest(t, func(t *testing.T, f *field) {
		f.Disturb(func(_ int, r *http.Request) simulator.Fault {
			if r.Method != http.MethodDelete || !strings.Contains(r.URL.Path, "/security-groups/") {
				return simulator.Fault{}
			}
			return simulator.Fault{Do: simulator.Fail, Status: http.StatusConflict, Type: "SecurityGroupInUse", Message: "in use"}
		})
		f.remove(manifestsOf(t, "acme/dc1")...)
		f.storm(2*time.Minute, 3*time.Second)
		if got := f.ready(acme); !strings.HasPrefix(got, "Unknown Deleting: openstack.security-group/acme/dc1: ") {
			t.Errorf("two minutes later: %s", got)
		}
		f.Disturb(nil)
		time.Sleep(30 * time.Second)
		if got := f.ready(acme); got != "gone" {
			t.Errorf("when nothing is in the way: %s", got)
		}
		if strings.Contains(f.Look(), "acme/dc1") {
			t.Error("something was left")
		}
	})
}
