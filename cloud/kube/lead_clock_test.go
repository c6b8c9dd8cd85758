package kube

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// leaseShelf is an API server that holds one lease, in a bubble where waiting takes no time.
type leaseShelf struct {
	dynamic.NamespaceableResourceInterface
	mu      sync.Mutex
	have    *unstructured.Unstructured
	version int
	answers func(who string) bool // nil: everybody is answered
	refuses func(who string) bool // nil: nobody is refused at once
}

// seat is the API server as one process sees it.
type seat struct {
	*leaseShelf
	who string
}

func (s seat) Resource(schema.GroupVersionResource) dynamic.NamespaceableResourceInterface { return s }
func (s seat) Namespace(string) dynamic.ResourceInterface                                  { return s }

// hangs waits with whoever isn't answered until they give up.
func (s seat) hangs(ctx context.Context) error {
	if s.refuses != nil && s.refuses(s.who) {
		return apierrors.NewInternalError(errors.New("etcd is away"))
	}
	if s.answers == nil || s.answers(s.who) {
		return nil
	}
	<-ctx.Done()
	return ctx.Err()
}

func (s seat) Get(ctx context.Context, name string, _ metav1.GetOptions, _ ...string) (*unstructured.Unstructured, error) {
	if err := s.hangs(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.have == nil {
		return nil, apierrors.NewNotFound(leases.GroupResource(), name)
	}
	return s.have.DeepCopy(), nil
}

func (s seat) Create(ctx context.Context, u *unstructured.Unstructured, _ metav1.CreateOptions, _ ...string) (*unstructured.Unstructured, error) {
	return s.put(ctx, u, "")
}

func (s seat) Update(ctx context.Context, u *unstructured.Unstructured, _ metav1.UpdateOptions, _ ...string) (*unstructured.Unstructured, error) {
	return s.put(ctx, u, u.GetResourceVersion())
}

func (s seat) put(ctx context.Context, u *unstructured.Unstructured, onto string) (*unstructured.Unstructured, error) {
	if err := s.hangs(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.have != nil && s.have.GetResourceVersion() != onto {
		return nil, apierrors.NewConflict(leases.GroupResource(), u.GetName(), errors.New("another version"))
	}
	s.version++
	s.have = u.DeepCopy()
	s.have.SetResourceVersion(fmt.Sprint(s.version))
	return s.have, nil
}

// lead runs a candidate with the usual times until its context or its work ends.
func (s *leaseShelf) lead(ctx context.Context, who string, work func(ctx context.Context, before string) error) error {
	return newDriver(seat{s, who}, nil, Options{}).Lead(ctx, Lease{Namespace: "acme", Name: "vpnctl", Estate: "acme", Identity: who}, work)
}

// TestWhoLedBefore: whoever takes a lease that was not given back is told whose it was,
// itself in an earlier life included.
func TestWhoLedBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dead := map[string]bool{}
		s := &leaseShelf{}
		for i, turn := range []struct {
			who, before string
			dies        bool
		}{{"a", "", true}, {"a", "a", true}, {"b", "a", false}, {"c", "", false}} {
			life := fmt.Sprint(turn.who, i)
			s.answers = func(who string) bool { return !dead[who] }
			ctx, end := context.WithCancel(t.Context())
			led := ""
			l := Lease{Namespace: "acme", Name: "vpnctl", Estate: "acme", Identity: turn.who}
			err := newDriver(seat{s, life}, nil, Options{}).Lead(ctx, l, func(_ context.Context, before string) error {
				led = before
				dead[life] = turn.dies // it renews no more, and gives nothing back
				end()
				return nil
			})
			if err != nil || led != turn.before {
				t.Errorf("turn %d: %s follows %q, want %q; %v", i, turn.who, led, turn.before, err)
			}
		}
	})
}

// TestALeaderWhoseCallsHang stops before its lease runs out, however long the API server
// refuses its calls before it falls silent, and nobody leads beside it.
func TestALeaderWhoseCallsHang(t *testing.T) {
	for silent := range 20 {
		synctest.Test(t, func(t *testing.T) {
			s, began := &leaseShelf{}, time.Now()
			from := time.Duration(silent) * 700 * time.Millisecond
			s.refuses = func(who string) bool { return who == "first" && time.Since(began) > 0 && time.Since(began) < from }
			s.answers = func(who string) bool { return who != "first" || time.Since(began) == 0 }
			ended := make(chan time.Time, 1)
			go func() {
				err := s.lead(t.Context(), "first", func(ctx context.Context, _ string) error {
					<-ctx.Done()
					ended <- time.Now()
					return nil
				})
				if !errors.Is(err, ErrLost) {
					t.Errorf("ended with %v", err)
				}
			}()
			time.Sleep(time.Millisecond)
			ctx, end := context.WithCancel(t.Context())
			_ = s.lead(ctx, "second", func(context.Context, string) error {
				select {
				case at := <-ended:
					if margin := time.Since(at); margin < 3*time.Second {
						t.Errorf("silent after %s: only %s between two leaders", from, margin)
					}
				default:
					t.Errorf("silent after %s: two leaders", from)
				}
				end()
				return nil
			})
		})
	}
}

// TestClocksDoNotElect: what time other machines think it is neither hastens nor delays
// who leads next.
func TestClocksDoNotElect(t *testing.T) {
	for name, off := range map[string]time.Duration{"right": 0, "an hour ahead": time.Hour, "an hour behind": -time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			s := &leaseShelf{}
			holder, seconds, then := "dead", int32(15), metav1.NewMicroTime(time.Now().Add(off))
			l := &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &seconds, RenewTime: &then}}
			object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(l)
			if err != nil {
				t.Fatal(err)
			}
			s.have = &unstructured.Unstructured{Object: object}
			s.have.SetResourceVersion("9")
			began := time.Now()
			ctx, end := context.WithCancel(t.Context())
			if err := s.lead(ctx, "next", func(context.Context, string) error { end(); return nil }); err != nil {
				t.Error(err)
			}
			if took := time.Since(began); took < 15*time.Second || took > 17*time.Second {
				t.Errorf("a clock that is %s: it followed after %s", name, took)
			}
		})
	}
}
