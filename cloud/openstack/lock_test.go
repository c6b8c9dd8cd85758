package openstack

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/state"
)

var lockAddress = netip.MustParseAddr("10.254.0.254")

func TestTheLockIsAPortOnTheAddress(t *testing.T) {
	l := newLab(t, simulator.Options{})
	before := l.snapshot()
	d := l.connect("operator")
	if _, err := d.Locate(t.Context(), estate()); err != nil {
		t.Fatal(err)
	}
	first, err := d.CreateLock(t.Context(), "vpnctl-lock-prod", "held by ann", lockAddress)
	if err != nil || first.ID == "" || first.Now.IsZero() {
		t.Fatalf("created %+v, error %v", first, err)
	}
	if _, err := d.CreateLock(t.Context(), "vpnctl-lock-prod", "held by bob", lockAddress); !errors.Is(err, state.ErrHeld) {
		t.Errorf("second create: error %v, want ErrHeld", err)
	}
	found, ok, err := d.FindLock(t.Context(), lockAddress)
	if err != nil || !ok || found.ID != first.ID || found.Description != "held by ann" || found.Now.IsZero() {
		t.Errorf("found %+v, %v, error %v", found, ok, err)
	}
	if renewed, err := d.RenewLock(t.Context(), first.ID, "held by ann still"); err != nil || renewed.Description != "held by ann still" || renewed.Now.IsZero() {
		t.Errorf("renewed %+v, error %v", renewed, err)
	}
	for range 2 {
		if err := d.DeleteLock(t.Context(), first.ID); err != nil {
			t.Errorf("deleting: %v", err)
		}
	}
	if _, err := d.RenewLock(t.Context(), first.ID, "x"); !errors.Is(err, state.ErrLost) {
		t.Errorf("renewing what is gone: error %v, want ErrLost", err)
	}
	if none, ok, err := d.FindLock(t.Context(), lockAddress); err != nil || ok || none.Now.IsZero() {
		t.Errorf("found %+v, %v, error %v; want nothing, and the time", none, ok, err)
	}
	if l.snapshot() != before {
		t.Error("something is left over")
	}
}

// The lock is on no list of what is ours, not even of leftovers.
func TestTheLockIsNoOrphan(t *testing.T) {
	l, _, w := built(t)
	d := l.connect("operator")
	if _, err := d.Locate(t.Context(), estate()); err != nil {
		t.Fatal(err)
	}
	if _, err := d.CreateLock(t.Context(), "vpnctl-lock-prod", "held by ann", lockAddress); err != nil {
		t.Fatal(err)
	}
	if o := l.look(prune, w); len(o.Graph) != 5 || len(o.Problems) > 0 {
		t.Errorf("%d resources, problems %v; want the gateway's five", len(o.Graph), o.Problems)
	}
}

func TestOneRunAtATimeHoldsTheLock(t *testing.T) {
	l := newLab(t, simulator.Options{})
	var mu sync.Mutex
	var wait sync.WaitGroup
	holding, most := 0, 0
	for range 6 {
		d := l.connect("operator")
		if _, err := d.Locate(t.Context(), estate()); err != nil {
			t.Fatal(err)
		}
		wait.Go(func() {
			lock, err := state.Acquire(t.Context(), d, state.LockOptions{Estate: "prod", Holder: "test", Address: lockAddress, Timeout: time.Minute, Clock: quick{}})
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			holding++
			most = max(most, holding)
			mu.Unlock()
			time.Sleep(2 * time.Millisecond)
			mu.Lock()
			holding--
			mu.Unlock()
			if err := lock.Release(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if most != 1 {
		t.Errorf("%d held the lock at once", most)
	}
}

// quick is the machine's clock, with short waits.
type quick struct{}

func (quick) Now() time.Time { return time.Now() }

func (quick) Sleep(ctx context.Context, d time.Duration) error {
	return sleep(ctx, min(d, 5*time.Millisecond))
}
