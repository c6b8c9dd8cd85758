package kube_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/vpnctl/vpnctl/cloud/kube"
	"github.com/vpnctl/vpnctl/cloud/kube/fakeapi"
	"github.com/vpnctl/vpnctl/state"
)

// lease is one that lasts for so long that no busy machine loses it.
func lease(identity string) kube.Lease {
	return kube.Lease{Namespace: "acme", Name: "vpnctl", Estate: "acme", Identity: identity, Duration: 10 * time.Minute, Retry: 20 * time.Millisecond}
}

// await waits until something holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for late := time.Now().Add(long); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("never: %s", what)
		}
	}
}

// TestLead: of several processes one leads at a time; one that stops gives the lease back
// and another goes on at once.
func TestLead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var leading, most, turns atomic.Int32
	stops := make([]context.CancelFunc, 3)
	ended := make(chan error, len(stops))
	who := make(chan int, 100)
	for i := range stops {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		stops[i] = stop
		go func() {
			ended <- w.driver().Lead(ctx, lease(fmt.Sprint("p", i)), func(ctx context.Context, _ string) error {
				if n := leading.Add(1); n > most.Load() {
					most.Store(n)
				}
				turns.Add(1)
				who <- i
				<-ctx.Done()
				leading.Add(-1)
				return ctx.Err()
			})
		}()
	}
	began := time.Now()
	for range stops {
		i := <-who
		who, err := w.driver().Leader(t.Context(), "acme")
		if err != nil || who == nil || who.Name != fmt.Sprint("p", i) || who.Since.IsZero() {
			t.Errorf("leader %+v %v, want p%d", who, err, i)
		}
		stops[i]()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if most.Load() != 1 || turns.Load() != 3 {
		t.Errorf("%d led at a time, in %d turns", most.Load(), turns.Load())
	}
	t.Logf("three turns in %s", time.Since(began))
	if who, err := w.driver().Leader(t.Context(), "acme"); who != nil || err != nil {
		t.Errorf("leader after all have gone: %+v %v", who, err)
	}
	if who, err := w.driver().Leader(t.Context(), "other"); who != nil || err != nil {
		t.Errorf("leader of another estate: %+v %v", who, err)
	}
}

// TestALostLeaseEndsTheWork: a leader that can't renew stops before anybody else can take
// over, and one that has died is followed.
func TestALostLeaseEndsTheWork(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	started := make(chan struct{})
	var stopped atomic.Bool
	ended := make(chan error, 1)
	var cut atomic.Bool
	first := w.driver()
	w.api.Intercept(func(_ int, c fakeapi.Call) fakeapi.Fault {
		if cut.Load() {
			return fakeapi.Fault{Code: 503}
		}
		return fakeapi.Fault{}
	})
	go func() {
		short := lease("first")
		short.Duration, short.Renew = 2*time.Second, time.Second
		ended <- first.Lead(t.Context(), short, func(ctx context.Context, _ string) error {
			close(started)
			<-ctx.Done()
			stopped.Store(true)
			return context.Cause(ctx)
		})
	}()
	<-started
	cut.Store(true)
	if err := <-ended; !errors.Is(err, kube.ErrLost) || !stopped.Load() || !strings.Contains(err.Error(), "could not be renewed") {
		t.Errorf("ended with %v, stopped %v", err, stopped.Load())
	}
	cut.Store(false)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var follows atomic.Bool
	go func() {
		ended <- w.driver().Lead(ctx, lease("second"), func(ctx context.Context, _ string) error {
			follows.Store(true)
			<-ctx.Done()
			return ctx.Err()
		})
	}()
	await(t, "the second follows", follows.Load)
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestALeaseThatAnotherTakes: a leader whose Lease another process has taken says so, and
// not that the server was away.
func TestALeaseThatAnotherTakes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	started, ended := make(chan struct{}), make(chan error, 1)
	long := lease("first")
	long.Duration, long.Renew = time.Hour, time.Hour
	go func() {
		ended <- w.driver().Lead(t.Context(), long, func(ctx context.Context, _ string) error {
			close(started)
			<-ctx.Done()
			return context.Cause(ctx)
		})
	}()
	<-started
	u := w.api.Get("Lease", long.Namespace, long.Name).DeepCopy()
	if err := unstructured.SetNestedField(u.Object, "second", "spec", "holderIdentity"); err != nil {
		t.Fatal(err)
	}
	w.api.PutAs(t, "another", u.Object)
	if err := <-ended; !errors.Is(err, kube.ErrLost) || !strings.Contains(err.Error(), "another process holds it") {
		t.Errorf("ended with %v", err)
	}
}

// TestADeadLeader keeps nobody for longer than it takes to see that it renews nothing,
// whatever its clock showed, or how long it wanted to be waited for.
func TestADeadLeader(t *testing.T) {
	t.Parallel()
	for sentence, spec := range map[string]map[string]any{
		"its clock was an hour ahead":  {"renewTime": time.Now().Add(time.Hour).UTC().Format(microseconds), "leaseDurationSeconds": int64(3)},
		"it asked for decades":         {"renewTime": time.Now().UTC().Format(microseconds), "leaseDurationSeconds": int64(2_000_000_000)},
		"its last sign is an hour old": {"renewTime": time.Now().Add(-time.Hour).UTC().Format(microseconds), "leaseDurationSeconds": int64(3)},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			spec["holderIdentity"] = "dead"
			l := lease("dead")
			w.put(map[string]any{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "spec": spec, "metadata": map[string]any{
				"namespace": l.Namespace, "name": l.Name, "labels": map[string]any{state.LabelManagedBy: "vpnctl", state.LabelEstate: l.Estate}}})
			if who, err := w.driver().Leader(t.Context(), l.Estate); who != nil || err != nil {
				t.Errorf("leader %+v %v", who, err)
			}
		})
	}
}

const microseconds = "2006-01-02T15:04:05.000000Z07:00"
