package store

import (
	"iter"
	"slices"

	"github.com/vpnctl/vpnctl/cloud/simulator/internal/attr"
)

// Object is one version of something in a table: a pointer to a struct with attr tags.
type Object interface {
	Key() string // identifies the object in its table, for as long as it exists
}

// Table holds the objects of one kind.
type Table[T Object] struct {
	Kind string

	db     *DB
	rows   map[string]*row[T]
	order  []string       // the keys, sorted
	owned  map[string]int // how many objects a project owns
	fresh  func() T
	change func(old, new T, had, has bool) // keeps indexes; nil where there are none
}

type row[T Object] struct {
	object T
	text   [2][]byte // the encodings for members and for admins, once made
}

// Get returns the object with that key.
func (t *Table[T]) Get(key string) (T, bool) {
	if r, ok := t.rows[key]; ok {
		return r.object, true
	}
	var none T
	return none, false
}

// Len counts the objects.
func (t *Table[T]) Len() int { return len(t.order) }

// Owned counts the objects of a project.
func (t *Table[T]) Owned(project string) int { return t.owned[project] }

// All yields the objects in the order of their keys. The table may be changed meanwhile: the sequence shows
// the objects that there were at its start, as far as they still exist.
func (t *Table[T]) All() iter.Seq[T] {
	keys := slices.Clone(t.order)
	return func(yield func(T) bool) {
		for _, k := range keys {
			if r, ok := t.rows[k]; ok && !yield(r.object) {
				return
			}
		}
	}
}

// Put adds the object or replaces the version with its key.
func (t *Table[T]) Put(o T) {
	key := o.Key()
	old, had := t.Get(key)
	t.set(key, o)
	t.db.record(t.Kind, key, func() {
		if had {
			t.set(key, old)
		} else {
			t.unset(key)
		}
	})
}

// Delete takes the object out; there need not be one.
func (t *Table[T]) Delete(key string) {
	old, had := t.Get(key)
	if !had {
		return
	}
	t.unset(key)
	t.db.record(t.Kind, key, func() { t.set(key, old) })
}

// Text returns the object's JSON as members or admins see it, made by encode when it isn't there yet. The
// bytes stay the table's: they must not be changed.
func (t *Table[T]) Text(key string, level attr.Level, encode func(T) []byte) []byte {
	r, ok := t.rows[key]
	if !ok {
		return nil
	}
	if r.text[level] == nil {
		r.text[level] = encode(r.object)
	}
	return r.text[level]
}

// Forget drops the encodings of the object, because something else that they show has changed.
func (t *Table[T]) Forget(key string) {
	if r, ok := t.rows[key]; ok {
		r.text = [2][]byte{}
	}
}

func (t *Table[T]) set(key string, o T) {
	old, had := t.Get(key)
	if !had {
		i, _ := slices.BinarySearch(t.order, key)
		t.order = slices.Insert(t.order, i, key)
	}
	t.rows[key] = &row[T]{object: o}
	t.count(old, had, -1)
	t.count(o, true, 1)
	if t.change != nil {
		t.change(old, o, had, true)
	}
}

func (t *Table[T]) unset(key string) {
	old, had := t.Get(key)
	if !had {
		return
	}
	delete(t.rows, key)
	t.count(old, true, -1)
	if i, ok := slices.BinarySearch(t.order, key); ok {
		t.order = slices.Delete(t.order, i, i+1)
	}
	if t.change != nil {
		var none T
		t.change(old, none, true, false)
	}
}

func (t *Table[T]) count(o T, there bool, by int) {
	if x, ok := any(o).(interface{ Owner() *Owned }); ok && there {
		t.owned[x.Owner().ProjectID] += by
	}
}
