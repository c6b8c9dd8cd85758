package fakeapi

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// store holds objects, which are never changed once they are in it, and what happened
// to them.
type store struct {
	objects map[schema.GroupVersionResource]map[string]*unstructured.Unstructured
	version int64 // of the last change
	made    int64 // counts what was created, for uids
	events  []event
	oldest  int64                                   // changes up to here can no longer be watched
	pages   map[string][]*unstructured.Unstructured // what is left of lists, by continue token
}

// event is a change of an object.
type event struct {
	version int64
	of      schema.GroupVersionResource
	kind    string // ADDED, MODIFIED, DELETED
	object  *unstructured.Unstructured
	before  *unstructured.Unstructured
}

func newStore() store {
	return store{
		objects: map[schema.GroupVersionResource]map[string]*unstructured.Unstructured{}, version: 1,
		pages: map[string][]*unstructured.Unstructured{},
	}
}

func (s *store) copy() store {
	c := newStore()
	c.version, c.made, c.oldest = s.version, s.made, s.version
	for of, all := range s.objects {
		c.objects[of] = maps.Clone(all)
	}
	return c
}

func (s *store) expire() {
	s.oldest, s.events = s.version, nil
	s.pages = map[string][]*unstructured.Unstructured{}
}

func (s *store) get(k kind, namespace, name string) *unstructured.Unstructured {
	return s.objects[k.gvr()][namespace+"/"+name]
}

// list are the objects of a kind in a namespace, or in all, in the server's order.
func (s *store) list(k kind, namespace string) []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	held := s.objects[k.gvr()]
	for _, key := range slices.Sorted(maps.Keys(held)) {
		if namespace == "" || strings.HasPrefix(key, namespace+"/") {
			all = append(all, held[key])
		}
	}
	return all
}

// put takes an object in, with a new resourceVersion.
func (s *store) put(k kind, u *unstructured.Unstructured) {
	s.version++
	u.SetResourceVersion(strconv.FormatInt(s.version, 10))
	held := s.objects[k.gvr()]
	if held == nil {
		held = map[string]*unstructured.Unstructured{}
		s.objects[k.gvr()] = held
	}
	key := u.GetNamespace() + "/" + u.GetName()
	e := event{version: s.version, of: k.gvr(), kind: "MODIFIED", object: u, before: held[key]}
	if e.before == nil {
		e.kind = "ADDED"
	}
	held[key] = u
	s.events = append(s.events, e)
}

func (s *store) remove(k kind, u *unstructured.Unstructured) {
	s.version++
	delete(s.objects[k.gvr()], u.GetNamespace()+"/"+u.GetName())
	last := u.DeepCopy()
	last.SetResourceVersion(strconv.FormatInt(s.version, 10))
	s.events = append(s.events, event{version: s.version, of: k.gvr(), kind: "DELETED", object: last, before: u})
}
