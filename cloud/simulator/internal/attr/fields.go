package attr

import (
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// Level says how much of an object is looked at.
type Level int

// The levels, each including the ones before it.
const (
	Member Level = iota // what everybody who may see the object sees
	Admin               // what the admin role sees besides
	Hidden              // everything, as it is stored
)

// Field is one attribute of a resource.
type Field struct {
	Name      string
	Level     Level // the lowest level that sees it
	Create    bool  // may be given in a POST
	Update    bool  // may be given in a PUT
	AdminOnly bool  // only the admin role may give it
	Max       int   // the longest text in characters; 0: no limit

	index []int
}

// Fields are the attributes of one Go type, embedded structs included, in the order of their declaration.
type Fields struct {
	List   []Field
	byName map[string]int
}

var known sync.Map // reflect.Type -> *Fields; filled by Of, never changed otherwise

// Of returns the attributes of v, which is a struct or a pointer to one.
func Of(v any) *Fields {
	t := reflect.TypeOf(v)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if f, ok := known.Load(t); ok {
		return f.(*Fields)
	}
	f := &Fields{byName: map[string]int{}}
	f.collect(t, nil)
	known.Store(t, f)
	return f
}

// Find returns the attribute of that name.
func (f *Fields) Find(name string) (Field, bool) {
	i, ok := f.byName[name]
	if !ok {
		return Field{}, false
	}
	return f.List[i], true
}

func (f *Fields) collect(t reflect.Type, index []int) {
	for i := range t.NumField() {
		sf := t.Field(i)
		at := append(append([]int(nil), index...), i)
		name, _, _ := strings.Cut(sf.Tag.Get("json"), ",")
		switch {
		case sf.Anonymous:
			f.collect(sf.Type, at)
		case name != "" && name != "-":
			f.byName[name] = len(f.List)
			f.List = append(f.List, field(name, sf.Tag, at))
		}
	}
}

func field(name string, tag reflect.StructTag, index []int) Field {
	api := strings.Split(tag.Get("api"), ",")
	levels := map[string]Level{"admin": Admin, "hidden": Hidden}
	longest, _ := strconv.Atoi(tag.Get("max")) // no limit where there is no tag
	return Field{
		Name: name, Level: levels[tag.Get("vis")], index: index,
		Create: contains(api, "create"), Update: contains(api, "update"),
		AdminOnly: tag.Get("set") == "admin", Max: longest,
	}
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
