package prints

import (
	"hash/maphash"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// secretPrints is a store that keeps of every Secret there is two numbers: which ones
// gateways name changes, and the one that is deleted may have come before it was named.
type secretPrints struct {
	mu    sync.Mutex
	seed  maphash.Seed
	of    map[uint64]uint64 // of namespace/name: of its version, odd where it is ours
	ours  func(metav1.Object) bool
	named func(namespace, name string) bool
	tell  func()
}

var _ cache.TransformingStore = (*secretPrints)(nil)

// OfSecrets is a store that tells of Secrets that are ours, and of those that are named
// when they change.
func OfSecrets(ours func(metav1.Object) bool, named func(namespace, name string) bool, tell func()) cache.ReflectorStore {
	return &secretPrints{seed: maphash.MakeSeed(), of: map[uint64]uint64{}, ours: ours, named: named, tell: tell}
}

func (s *secretPrints) key(o metav1.Object) uint64 {
	return maphash.String(s.seed, o.GetNamespace()+"/"+o.GetName())
}

func (s *secretPrints) mark(o metav1.Object) uint64 {
	version := maphash.String(s.seed, o.GetResourceVersion()) &^ 1
	if s.ours(o) {
		version |= 1
	}
	return version
}

// Transformer makes of each Secret of a list, as it comes, what its fingerprint is made
// of.
func (s *secretPrints) Transformer() cache.TransformFunc {
	return func(obj any) (any, error) {
		o, err := meta.Accessor(obj)
		if err != nil {
			return nil, err
		}
		return &printed{ObjectMeta: metav1.ObjectMeta{
			Namespace: o.GetNamespace(), Name: o.GetName(), ResourceVersion: o.GetResourceVersion(), Labels: o.GetLabels(),
		}}, nil
	}
}

// Add takes a Secret in.
func (s *secretPrints) Add(obj any) error {
	o, err := meta.Accessor(obj)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.set(o)
	return nil
}

// Update is Add.
func (s *secretPrints) Update(obj any) error { return s.Add(obj) }

func (s *secretPrints) set(o metav1.Object) {
	key, mark := s.key(o), s.mark(o)
	before := s.of[key]
	if before == mark {
		return
	}
	if s.of[key] = mark; (before|mark)&1 == 1 || s.named(o.GetNamespace(), o.GetName()) {
		s.tell()
	}
}

// Delete drops a Secret.
func (s *secretPrints) Delete(obj any) error {
	o, err := meta.Accessor(obj)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := s.key(o)
	before, there := s.of[key]
	delete(s.of, key)
	if there && (before&1 == 1 || s.named(o.GetNamespace(), o.GetName())) {
		s.tell()
	}
	return nil
}

// Replace takes in what a list holds, instead of all that was there. Of one that is no
// longer there the name isn't known: it counts as named.
func (s *secretPrints) Replace(list []any, _ string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	there := make(map[uint64]bool, len(list))
	for _, obj := range list {
		o, err := meta.Accessor(obj)
		if err != nil {
			return err
		}
		there[s.key(o)] = true
		s.set(o)
	}
	for key := range s.of {
		if !there[key] {
			delete(s.of, key)
			s.tell()
		}
	}
	return nil
}

// Resync does nothing: whoever is told looks anew.
func (s *secretPrints) Resync() error { return nil }
