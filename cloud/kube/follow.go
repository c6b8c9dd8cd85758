package kube

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/vpnctl/vpnctl/plan/roster"
)

// Sight is how a cluster's gateways stood when it was last heard of.
type Sight struct {
	Cluster roster.Cluster
	Away    roster.Away // since when the cluster doesn't answer
}

// breath is how long changes are gathered before they are told of.
const breath = 200 * time.Millisecond

// impatience is how often a cluster that is away is asked again: somebody is watching.
var impatience = wait.Backoff{Duration: 500 * time.Millisecond, Factor: 1.5, Jitter: 0.5, Steps: 20, Cap: 5 * time.Second}

// Follow tells how gateways stand, first when everything was read, and then whenever that
// changes, or the cluster goes away or comes back. Who is slow to receive gets the latest.
// It is closed once ctx is done.
func (d *Driver) Follow(ctx context.Context, w Which) <-chan Sight {
	all := w.kinds()
	f := &following{changed: make(chan struct{}, 1), unread: len(all), away: make([]roster.Away, len(all))}
	var running sync.WaitGroup
	for i, k := range all {
		shelf := &shelf{following: f, kind: k, of: map[string]any{}}
		f.shelves = append(f.shelves, shelf)
		lw := &cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
				l, err := d.api.Resource(k.resource).Namespace(w.in(k)).List(ctx, o)
				if apierrors.IsNotFound(err) && k.optional {
					l, err = &unstructured.UnstructuredList{}, nil
				}
				f.heard(ctx, i, err)
				return l, err
			},
			WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
				s, err := d.api.Resource(k.resource).Namespace(w.in(k)).Watch(ctx, o)
				f.heard(ctx, i, notInstalled(k, err))
				return s, err
			},
		}
		quiet, pace := klog.Logger(logr.Discard()), impatience
		reflector := cache.NewReflectorWithOptions(lw, &unstructured.Unstructured{}, shelf, cache.ReflectorOptions{
			Name: k.name, TypeDescription: k.name, Logger: &quiet, Backoff: &pace,
		})
		running.Go(func() { reflector.RunWithContext(klog.NewContext(ctx, quiet)) })
	}
	told := make(chan Sight)
	go func() {
		defer close(told)
		defer running.Wait()
		f.tell(ctx, told)
	}()
	return told
}

// following is what was heard of a cluster.
type following struct {
	changed chan struct{}

	mu      sync.Mutex
	shelves []*shelf
	unread  int           // kinds of which no list is complete yet
	away    []roster.Away // by kind
}

// shelf holds the objects of one kind.
type shelf struct {
	*following
	kind kind
	read bool
	of   map[string]any
}

var _ cache.ReflectorStore = (*shelf)(nil)

// tell passes on what stands, gathered for a moment.
func (f *following) tell(ctx context.Context, to chan<- Sight) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.changed:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(breath):
		}
		sight, whole := f.sight()
		if !whole {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case to <- sight:
		}
	}
}

// sight is what stands; false: not everything was read yet.
func (f *following) sight() (Sight, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var s statuses
	var now Sight
	for i, shelf := range f.shelves {
		for _, one := range shelf.of {
			s.add(one)
		}
		if a := f.away[i]; a.Err != nil && (now.Away.Err == nil || a.Since.Before(now.Away.Since)) {
			now.Away = a
		}
	}
	now.Cluster = s.cluster()
	return now, f.unread == 0
}

// heard notes whether a call was answered.
func (f *following) heard(ctx context.Context, i int, err error) {
	if call, is := errors.AsType[*url.Error](err); is { // whose URL says nothing to people
		err = call.Err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	was := f.away[i]
	switch {
	case ctx.Err() != nil: // nobody listens any more
		return
	case err == nil || apierrors.IsResourceExpired(err) || apierrors.IsGone(err): // it answers
		f.away[i] = roster.Away{}
	case was.Err == nil:
		f.away[i] = roster.Away{Since: time.Now(), Err: err}
	default:
		f.away[i].Err = err
	}
	if (was.Err == nil) != (f.away[i].Err == nil) {
		f.tellLater()
	}
}

func (f *following) tellLater() {
	select {
	case f.changed <- struct{}{}:
	default:
	}
}

// Add takes an object in.
func (s *shelf) Add(obj any) error {
	key, one, err := s.taken(obj)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of[key] = one
	s.tellLater()
	return nil
}

// Update is Add.
func (s *shelf) Update(obj any) error { return s.Add(obj) }

// Delete drops an object.
func (s *shelf) Delete(obj any) error {
	o, err := meta.Accessor(obj)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.of, o.GetNamespace()+"/"+o.GetName())
	s.tellLater()
	return nil
}

// Replace takes in what a list holds, instead of all that was there.
func (s *shelf) Replace(list []any, _ string) error {
	of := make(map[string]any, len(list))
	for _, obj := range list {
		key, one, err := s.taken(obj)
		if err != nil {
			return err
		}
		of[key] = one
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of = of
	if !s.read {
		s.read = true
		s.unread--
	}
	s.tellLater()
	return nil
}

// Resync does nothing: nothing here is forgotten.
func (s *shelf) Resync() error { return nil }

func (s *shelf) taken(obj any) (key string, one any, err error) {
	u, is := obj.(*unstructured.Unstructured)
	if !is {
		return "", nil, fmt.Errorf("a %T in the place of a %s", obj, s.kind.name)
	}
	return u.GetNamespace() + "/" + u.GetName(), statusOf(s.kind, u), nil
}
