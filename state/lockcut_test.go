package state_test

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/state"
)

// A run's line is cut at every call, for good or for once, before the call or
// after it. The next run gets the lock within its ordinary timeout, and in the
// end the address is free.
func TestCutAtEveryCall(t *testing.T) {
	points := 0
	for k := 1; ; k++ {
		reached := false
		for _, how := range []damage{before, after} {
			for _, forGood := range []bool{true, false} {
				synctest.Test(t, func(t *testing.T) {
					n := newNetwork(uint64(k))
					c := &line{network: n, cut: func(call int) damage {
						if call == k {
							reached = true
							return how
						}
						if call > k && forGood {
							return before
						}
						return intact
					}}
					ctx, die := context.WithCancel(t.Context())
					l, err := state.Acquire(ctx, c, lockAs("ci@one", 0))
					if err == nil {
						time.Sleep(3 * time.Minute)
						_ = l.Release(ctx)
					}
					die()
					second := acquire(t, n, lockAs("ci@two", 3*time.Minute))
					release(t, second)
					if n.holds() != "" {
						t.Errorf("call %d, damage %d, for good %v: left over %q", k, how, forGood, n.holds())
					}
				})
				points++
			}
		}
		if !reached {
			break
		}
	}
	if points < 5*4 {
		t.Errorf("only %d points", points)
	}
	t.Logf("%d points", points)
}

func TestACreateWhoseAnswerWasLostIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(12)
		l := acquire(t, &line{network: n, cut: func(call int) damage {
			if call == 2 {
				return after
			}
			return intact
		}}, lockAs("ci@one", 0))
		time.Sleep(10 * time.Minute)
		if diff := cmp.Diff(1, n.made); diff != "" || l.Context().Err() != nil {
			t.Errorf("ports made (-want +got):\n%s\ncontext: %v", diff, context.Cause(l.Context()))
		}
		release(t, l)
	})
}

// repeating is a client whose HTTP layer repeats a create without asking, and
// meets its own port.
type repeating struct{ *network }

func (c repeating) CreateLock(ctx context.Context, name, description string, addr netip.Addr) (state.Held, error) {
	if held, err := c.network.CreateLock(ctx, name, description, addr); err != nil {
		return held, err
	}
	return c.network.CreateLock(ctx, name, description, addr)
}

func TestARepeatedCreateThatMeetsItsOwnPortIsALock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(14)
		l := acquire(t, repeating{n}, lockAs("ci@one", 0))
		release(t, l)
		if n.holds() != "" {
			t.Errorf("left over %q", n.holds())
		}
	})
}

// hidden is a cloud whose port on the address only others can see.
type hidden struct{ *network }

func (c hidden) FindLock(ctx context.Context, addr netip.Addr) (state.Held, bool, error) {
	held, _, err := c.network.FindLock(ctx, addr)
	return state.Held{Now: held.Now}, false, err
}

func TestAnAddressTakenByAPortThatCannotBeSeenIsWaitedForLikeAnyOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(16)
		n.port = &state.Held{ID: "p-1", Name: "theirs"}
		start := time.Now()
		_, err := state.Acquire(t.Context(), hidden{n}, lockAs("ci@one", time.Minute))
		if !errors.Is(err, state.ErrLocked) || !strings.Contains(err.Error(), "by a port that can't be seen") || time.Since(start) > 70*time.Second {
			t.Errorf("error %v after %s", err, time.Since(start))
		}
	})
}

// dateless is a cloud whose answers don't say when they were given.
type dateless struct{ *network }

func (c dateless) FindLock(ctx context.Context, addr netip.Addr) (state.Held, bool, error) {
	held, found, err := c.network.FindLock(ctx, addr)
	held.Now = time.Time{}
	return held, found, err
}

func TestWithoutTheServersTimeThereIsNoLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(17)
		_, err := state.Acquire(t.Context(), dateless{n}, lockAs("ci@one", time.Minute))
		if err == nil || !strings.Contains(err.Error(), "carries no Date") || n.holds() != "" {
			t.Errorf("error %v, left over %q", err, n.holds())
		}
	})
}

// slow is a cloud that takes longer than half a lock's life to make a port.
type slow struct{ *network }

func (c slow) CreateLock(ctx context.Context, name, description string, addr netip.Addr) (state.Held, error) {
	time.Sleep(100 * time.Second)
	return c.network.CreateLock(ctx, name, description, addr)
}

func TestALockThatWasLongInTheMakingBeginsWithAFreshTerm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(15)
		l := acquire(t, slow{n}, lockAs("ci@one", 0))
		time.Sleep(10 * time.Minute)
		if l.Context().Err() != nil {
			t.Errorf("cause %v", context.Cause(l.Context()))
		}
		release(t, l)
	})
}

func TestACreateWhoseAnswerWasLostToAnInterruptIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(13)
		ctx, cancel := context.WithCancel(t.Context())
		_, err := state.Acquire(ctx, &line{network: n, cut: func(call int) damage {
			if call == 2 {
				cancel()
				return after
			}
			return intact
		}}, lockAs("ci@one", 0))
		if !errors.Is(err, errLine) || n.holds() != "" {
			t.Errorf("error %v, left over %q", err, n.holds())
		}
	})
}
