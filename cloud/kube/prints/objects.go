package prints

import (
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// printed is an object of which the fingerprint is known: no more of it is kept while the
// others of a list are still to come.
type printed struct {
	metav1.TypeMeta
	metav1.ObjectMeta // of which most is left out
	mark              string
}

var _ runtime.Object = (*printed)(nil)

// DeepCopyObject makes it one that a list may hold.
func (p *printed) DeepCopyObject() runtime.Object {
	c := *p
	return &c
}

// Transformer makes of each object of a list, as it comes, what is kept of it.
func (f *fingerprints) Transformer() cache.TransformFunc {
	return func(obj any) (any, error) {
		o, err := meta.Accessor(obj)
		if err != nil {
			return nil, err
		}
		return &printed{ObjectMeta: metav1.ObjectMeta{Namespace: o.GetNamespace(), Name: o.GetName()}, mark: f.markOf(o)}, nil
	}
}

// markOf is the fingerprint of an object, or the one that it is kept by.
func (f *fingerprints) markOf(o metav1.Object) string {
	if p, is := o.(*printed); is {
		return p.mark
	}
	return f.read(o)
}

// fingerprints is a store that keeps of every object what its changes are told by, and
// nothing of those whose fingerprint is empty.
type fingerprints struct {
	mu   sync.Mutex
	of   map[string]string
	read func(metav1.Object) string
	tell func()
}

var _ cache.TransformingStore = (*fingerprints)(nil)

// New is a store that tells whenever what is read off an object becomes another, and
// whenever one off which something is read comes or goes.
func New(read func(metav1.Object) string, tell func()) cache.ReflectorStore {
	return &fingerprints{of: map[string]string{}, read: read, tell: tell}
}

// Add takes an object in.
func (f *fingerprints) Add(obj any) error {
	o, err := meta.Accessor(obj)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.set(o.GetNamespace()+"/"+o.GetName(), f.markOf(o))
	return nil
}

// Update is Add.
func (f *fingerprints) Update(obj any) error { return f.Add(obj) }

// Delete drops an object.
func (f *fingerprints) Delete(obj any) error {
	o, err := meta.Accessor(obj)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.set(o.GetNamespace()+"/"+o.GetName(), "")
	return nil
}

func (f *fingerprints) set(key, mark string) {
	if f.of[key] == mark {
		return
	}
	if f.of[key] = mark; mark == "" {
		delete(f.of, key)
	}
	f.tell()
}

// Replace takes in what a list holds, instead of all that was there.
func (f *fingerprints) Replace(list []any, _ string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	there := make(map[string]bool, len(list))
	for _, obj := range list {
		o, err := meta.Accessor(obj)
		if err != nil {
			return err
		}
		key := o.GetNamespace() + "/" + o.GetName()
		there[key] = true
		f.set(key, f.markOf(o))
	}
	for key := range f.of {
		if !there[key] {
			f.set(key, "")
		}
	}
	return nil
}

// Resync does nothing: whoever is told looks anew.
func (f *fingerprints) Resync() error { return nil }
