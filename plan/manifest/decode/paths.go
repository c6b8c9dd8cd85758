package decode

import (
	"encoding/json"
	"reflect"
)

// Place is one field of a wire type.
type Place struct {
	Path     string // as in a problem, without indices
	Required bool
	List     bool
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// Places lists the fields of the struct that target points to and of all structs
// within it, in the order of their declaration. What reads its JSON by itself counts
// as one field.
func (d *Decoder) Places(target any) []Place {
	var out []Place
	d.places(reflect.TypeOf(target).Elem(), "", &out)
	return out
}

func (d *Decoder) places(t reflect.Type, path string, out *[]Place) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || reflect.PointerTo(t).Implements(unmarshaler) {
		return
	}
	for _, f := range d.fields(t) {
		at, inner := join(path, f.name), t.FieldByIndex(f.index).Type
		*out = append(*out, Place{Path: at, Required: f.required, List: inner.Kind() == reflect.Slice})
		d.places(inner, at, out)
	}
}
