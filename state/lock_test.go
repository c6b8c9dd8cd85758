package state_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/state"
)

func lockAs(holder string, timeout time.Duration) state.LockOptions {
	return state.LockOptions{Estate: "prod", Holder: holder, Address: lockAddress, Timeout: timeout}
}

func acquire(t *testing.T, c state.Claimant, o state.LockOptions) *state.Lock {
	t.Helper()
	l, err := state.Acquire(t.Context(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func release(t *testing.T, l *state.Lock) {
	t.Helper()
	if err := l.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestFiftyRunsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(1)
		n.skew = -40 * time.Minute
		var holding, turns atomic.Int32
		var runs sync.WaitGroup
		for i := range 50 {
			r := rand.New(rand.NewPCG(uint64(i), 2))
			runs.Go(func() {
				time.Sleep(time.Duration(r.IntN(600)) * time.Second)
				o := lockAs("the same user and machine", 12*time.Hour)
				o.Clock = wrong(time.Duration(r.IntN(7200)-3600) * time.Second)
				l := acquire(t, n, o)
				if holding.Add(1) != 1 {
					t.Error("two runs hold the lock at once")
				}
				time.Sleep(time.Duration(r.IntN(400)) * time.Second)
				if err := l.Context().Err(); err != nil {
					t.Errorf("the lock went while it was held: %v", context.Cause(l.Context()))
				}
				holding.Add(-1)
				turns.Add(1)
				release(t, l)
			})
		}
		runs.Wait()
		if turns.Load() != 50 || n.holds() != "" {
			t.Errorf("%d turns, left over: %q", turns.Load(), n.holds())
		}
	})
}

// Some runs hang or die with the lock. Whoever has its successor's turn must
// find that the predecessor's context has ended.
func TestOfRunsThatHangNoTwoHoldAtOnce(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			n := newNetwork(seed)
			n.skew = time.Duration(seed) * time.Hour
			var mu sync.Mutex
			var last *state.Lock
			var runs sync.WaitGroup
			for i := range 12 {
				r := rand.New(rand.NewPCG(seed, uint64(i)))
				runs.Go(func() {
					// From some moment on, no call of this run arrives any more.
					broken := time.Now().Add(time.Duration(r.IntN(3000)) * time.Second)
					c := &line{network: n, cut: func(int) damage {
						if time.Now().After(broken) {
							return before
						}
						return intact
					}}
					l, err := state.Acquire(t.Context(), c, lockAs(fmt.Sprintf("run %d", i), time.Hour))
					if err != nil {
						return
					}
					mu.Lock()
					if last != nil && last.Context().Err() == nil {
						t.Errorf("seed %d: run %d has the lock while another run goes on", seed, i)
					}
					last = l
					mu.Unlock()
					time.Sleep(time.Duration(r.IntN(900)) * time.Second)
					_ = l.Release(t.Context())
				})
			}
			runs.Wait()
		})
	}
}

func TestALockThatCannotBeRenewedEndsTheRunBeforeAnotherTakesOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(3)
		first := acquire(t, &line{network: n, cut: func(call int) damage {
			if call > 2 {
				return before
			}
			return intact
		}}, lockAs("ci@one", 0))
		start := time.Now()
		var ended time.Duration
		var watching sync.WaitGroup
		watching.Go(func() {
			<-first.Context().Done()
			ended = time.Since(start)
		})
		second := acquire(t, n, lockAs("ci@two", 3*time.Minute))
		taken := time.Since(start)
		watching.Wait()
		if cause := context.Cause(first.Context()); !errors.Is(cause, state.ErrLost) {
			t.Errorf("cause %v", cause)
		}
		if ended < time.Minute || ended > taken-15*time.Second || taken > 2*time.Minute+10*time.Second {
			t.Errorf("the first ended after %s, the second began after %s", ended, taken)
		}
		if err := first.Release(t.Context()); !errors.Is(err, errLine) {
			t.Errorf("release over a cut line: %v", err)
		}
		release(t, second)
		if n.holds() != "" {
			t.Errorf("left over: %s", n.holds())
		}
	})
}

func TestALockRemovedByHandIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(4)
		l := acquire(t, n, lockAs("ci@one", 0))
		if err := n.DeleteLock(t.Context(), "port-1"); err != nil {
			t.Fatal(err)
		}
		other := acquire(t, n, lockAs("ci@two", 0))
		start := time.Now()
		<-l.Context().Done()
		if noticed := time.Since(start); noticed > 65*time.Second {
			t.Errorf("noticed after %s, renewals are due every minute", noticed)
		}
		if cause := context.Cause(l.Context()); !errors.Is(cause, state.ErrLost) {
			t.Errorf("cause %v", cause)
		}
		release(t, l)
		if n.holds() == "" {
			t.Error("releasing a lost lock removed its successor's")
		}
		release(t, other)
	})
}

func TestWaitingInVainSaysForWhom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(5)
		o := lockAs("ci@one", 0)
		o.Estate = "other"
		l := acquire(t, n, o)
		for _, timeout := range []time.Duration{0, time.Second, 3 * time.Minute} {
			start := time.Now()
			told := 0
			o := lockAs("ci@two", timeout)
			o.Waiting = func(holder string, until time.Time) {
				told++
				if holder != "ci@one" || time.Until(until) < time.Minute {
					t.Errorf("told of %s until %s", holder, until)
				}
			}
			_, err := state.Acquire(t.Context(), n, o)
			if !errors.Is(err, state.ErrLocked) || !strings.Contains(err.Error(), "vpnctl-lock-other is held by ci@one (port port-1 on 10.0.0.254) until ") {
				t.Errorf("error %v", err)
			}
			if waited := time.Since(start); waited > timeout+5*time.Second || waited < timeout {
				t.Errorf("waited %s of %s", waited, timeout)
			}
			if said := strings.Contains(err.Error(), "; waited "); said != (timeout > 0) || strings.Contains(err.Error(), "waited 0s") {
				t.Errorf("after %s: %v", timeout, err)
			}
			if want := min(1, int(timeout)); told != want {
				t.Errorf("told %d times, timeout %s", told, timeout)
			}
		}
		release(t, l)
	})
}

func TestWaitingEndsWithTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(6)
		l := acquire(t, n, lockAs("ci@one", 0))
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		if _, err := state.Acquire(ctx, n, lockAs("ci@two", time.Hour)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		release(t, l)
	})
}

func TestReleaseWorksAfterTheRunWasInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(7)
		ctx, cancel := context.WithCancel(t.Context())
		l, err := state.Acquire(ctx, &line{network: n}, lockAs("ci@one", 0))
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		for range 2 {
			if err := l.Release(ctx); err != nil {
				t.Error(err)
			}
		}
		if n.holds() != "" || !errors.Is(context.Cause(l.Context()), context.Canceled) {
			t.Errorf("left over: %q, cause %v", n.holds(), context.Cause(l.Context()))
		}
	})
}

func TestWhatIsNoLockIsNamedAndRefused(t *testing.T) {
	valid := "vpnctl lock of ci, run ABCDEFGH, until 2020-01-01T00:00:00Z"
	for sentence, port := range map[string]state.Held{
		"another port":                   {ID: "p-1", Name: "lb-frontend"},
		"a port with a lock's text":      {ID: "p-1", Name: "lb-frontend", Description: valid},
		"a lock's name without text":     {ID: "p-1", Name: "vpnctl-lock-prod"},
		"a lock's name, another's text":  {ID: "p-1", Name: "vpnctl-lock-prod", Description: "until 2020-01-01T00:00:00Z"},
		"a lock's text without its head": {ID: "p-1", Name: "vpnctl-lock-prod", Description: strings.TrimPrefix(valid, "vpnctl ")},
		"a lock until no time":           {ID: "p-1", Name: "vpnctl-lock-prod", Description: strings.Replace(valid, "2020-01-01", "yesterday", 1)},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNetwork(8)
				n.port = &port
				_, err := state.Acquire(t.Context(), n, lockAs("ci@one", time.Hour))
				if err == nil || !strings.Contains(err.Error(), fmt.Sprintf(`10.0.0.254 is held by port %q (p-1), which is no lock of vpnctl`, port.Name)) {
					t.Errorf("error %v", err)
				}
				if n.holds() != port.Name {
					t.Errorf("the port was touched: %q", n.holds())
				}
			})
		})
	}
}

func TestAnExpiredLockIsTakenOverWithoutWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(9)
		n.skew = -time.Hour // by the machine's clock it is over, and by the server's it is not
		until := n.now().Add(20 * time.Second)
		n.port = &state.Held{ID: "p-1", Name: "vpnctl-lock-prod", Description: "vpnctl lock of a, until b, run x, until c, run ABCDEFGH, until " + until.UTC().Format(time.RFC3339)}
		if _, err := state.Acquire(t.Context(), n, lockAs("ci@one", 0)); !errors.Is(err, state.ErrLocked) || !strings.Contains(err.Error(), "held by a, until b, run x, until c (") {
			t.Fatalf("error %v", err)
		}
		time.Sleep(25 * time.Second)
		l := acquire(t, n, lockAs("ci@one", 0))
		release(t, l)
	})
}

// Whoever knows that a run has ended waits for its last calls, and for no other run's
// end sooner than for anybody's.
func TestALockOfARunThatEndedCountsForItsLastCallsAlone(t *testing.T) {
	for name, c := range map[string]struct {
		ended       string
		atLeast, to time.Duration
	}{
		"it is known to have ended": {"pod-1", 5 * time.Second, 15 * time.Second},
		"another one has ended":     {"pod-2", time.Minute, 2 * time.Minute},
		"of nobody that is known":   {"", time.Minute, 2 * time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			n := newNetwork(1)
			until := n.now().Add(90 * time.Second)
			n.port = &state.Held{ID: "p-1", Name: "vpnctl-lock-prod", Description: "vpnctl lock of pod-1, run ABCDEFGH, until " + until.UTC().Format(time.RFC3339)}
			o := lockAs("pod-3", time.Hour)
			o.Ended = c.ended
			began := time.Now()
			release(t, acquire(t, n, o))
			if took := time.Since(began); took < c.atLeast || took > c.to {
				t.Errorf("%s: waited %s, want %s to %s", name, took, c.atLeast, c.to)
			}
		})
	}
}

// A lock whose end lies further ahead than any run writes it is not waited for until
// then: as long as a lock may live, and a moment for clocks that differ.
func TestALockThatEndsTooLateIsWaitedForAsLongAsALockMayLive(t *testing.T) {
	for name, renewed := range map[string]bool{"left": false, "renewed": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNetwork(12)
				until := func(i int) string {
					return fmt.Sprintf("vpnctl lock of ci, run ABCDEFGH, until %s", n.now().Add(time.Duration(1000+i)*time.Hour).UTC().Format(time.RFC3339))
				}
				n.port = &state.Held{ID: "p-1", Name: "vpnctl-lock-prod", Description: until(0)}
				var renewing sync.WaitGroup
				renewing.Go(func() {
					for i := range 10 {
						time.Sleep(time.Minute)
						if n.mu.Lock(); renewed && n.port != nil && n.port.ID == "p-1" {
							n.port.Description = until(i)
						}
						n.mu.Unlock()
					}
				})
				began := time.Now()
				l, err := state.Acquire(t.Context(), n, lockAs("ci@one", 3*time.Minute))
				waited := time.Since(began)
				switch {
				case renewed && !errors.Is(err, state.ErrLocked):
					t.Errorf("error %v, though the lock is renewed", err)
				case !renewed && (err != nil || waited < 2*time.Minute || waited > 2*time.Minute+30*time.Second):
					t.Errorf("error %v after %s", err, waited)
				}
				if err == nil {
					release(t, l)
				}
				renewing.Wait()
			})
		})
	}
}

// keeping is a network of which nothing may be deleted.
type keeping struct {
	*network
	t *testing.T
}

func (c keeping) DeleteLock(_ context.Context, id string) error {
	c.t.Errorf("port %q was to be deleted", id)
	return nil
}

func TestWithoutTheRightToChooseAnAddressTheRunGoesOnWithAWarning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(10)
		n.refuse = true
		l := acquire(t, keeping{n, t}, lockAs("ci@one", 0))
		time.Sleep(time.Hour)
		if l.Context().Err() != nil || !strings.Contains(l.Warning(), "10.0.0.254") {
			t.Errorf("context %v, warning %q", l.Context().Err(), l.Warning())
		}
		release(t, l)
	})
}

func TestAnErrorOfTheCloudIsNoLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := lockAs("ci@one", time.Hour)
		o.Address = netip.MustParseAddr("192.0.2.1")
		l, err := state.Acquire(t.Context(), newNetwork(11), o)
		if l != nil || err == nil || !strings.Contains(err.Error(), "InvalidIpForNetwork") {
			t.Errorf("lock %v, error %v", l, err)
		}
	})
}

func TestLockAddress(t *testing.T) {
	got := map[string]string{}
	for _, subnet := range []string{"10.0.0.0/24", "10.0.0.77/24", "172.16.0.0/12", "10.0.0.8/30", "10.0.0.8/31", "fd00::/64"} {
		got[subnet] = state.LockAddress(netip.MustParsePrefix(subnet)).String()
	}
	want := map[string]string{
		"10.0.0.0/24": "10.0.0.254", "10.0.0.77/24": "10.0.0.254", "172.16.0.0/12": "172.31.255.254",
		"10.0.0.8/30": "10.0.0.10", "10.0.0.8/31": "invalid IP", "fd00::/64": "invalid IP",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("addresses (-want +got):\n%s", diff)
	}
}
