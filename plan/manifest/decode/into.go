package decode

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// Decoder fills Go structs from values by their json tags. Its zero value is
// ready; it remembers the fields of the types that it has met, so one decoder
// should serve all documents of a run. Not for use by two goroutines at once.
type Decoder struct {
	types map[reflect.Type][]field
}

// field is one field of a struct as it is spelled in a manifest.
type field struct {
	name     string
	index    []int
	required bool
}

// Into fills the struct that target points to and returns every problem on the
// way. What could be read is filled in even then. A field whose tag has neither
// omitempty nor omitzero must be there, and must not be empty.
func (d *Decoder) Into(v *Value, target any) []Problem {
	w := walk{decoder: d}
	w.value(v, reflect.ValueOf(target).Elem(), "")
	return w.problems
}

// walk is one pass over one document.
type walk struct {
	decoder  *Decoder
	problems []Problem
}

func (w *walk) add(v *Value, path, message, hint string) {
	w.problems = append(w.problems, Problem{Line: v.Line, Column: v.Column, Field: path, Message: message, Hint: hint})
}

func (w *walk) value(v *Value, to reflect.Value, path string) {
	if v.Kind == Null {
		return
	}
	if u, ok := to.Addr().Interface().(json.Unmarshaler); ok {
		w.unmarshal(v, u, path)
		return
	}
	switch to.Kind() {
	case reflect.Pointer:
		to.Set(reflect.New(to.Type().Elem()))
		w.value(v, to.Elem(), path)
	case reflect.Struct:
		w.structure(v, to, path)
	case reflect.Slice:
		w.slice(v, to, path)
	case reflect.Map:
		w.mapping(v, to, path)
	default:
		w.scalar(v, to, path)
	}
}

// unmarshal leaves a value to a type that reads JSON by itself.
func (w *walk) unmarshal(v *Value, to json.Unmarshaler, path string) {
	tree, err := v.Any()
	if err == nil {
		var text []byte
		if text, err = json.Marshal(tree); err == nil {
			err = to.UnmarshalJSON(text)
		}
	}
	if err != nil {
		w.add(v, path, err.Error(), "")
	}
}

func (w *walk) structure(v *Value, to reflect.Value, path string) {
	if v.Kind != Map {
		w.add(v, path, fmt.Sprintf("must be a mapping, not %s", v.Kind), "")
		return
	}
	fields := w.decoder.fields(to.Type())
	for i := range v.Fields {
		f := &v.Fields[i]
		known := find(fields, f.Name)
		if known == nil {
			w.unknown(f, fields, path)
			continue
		}
		w.value(f.Value, to.FieldByIndex(known.index), join(path, f.Name))
	}
	for _, f := range fields {
		if f.required {
			w.required(v, f, join(path, f.name))
		}
	}
}

// The messages of problems about a field that isn't known, and about one that has
// to be there.
const (
	NoSuchField = "there is no such field"
	Missing     = "required, but missing"
	Empty       = "required, but empty"
)

func (w *walk) unknown(f *Field, fields []field, path string) {
	names := make([]string, len(fields))
	for i := range fields {
		names[i] = fields[i].name
	}
	hint := ""
	if near := Nearest(f.Name, names); near != "" {
		hint = near + "?"
	}
	at := &Value{Line: f.Line, Column: f.Column}
	w.add(at, join(path, f.Name), NoSuchField, hint)
}

// required reports a field that is missing or holds nothing.
func (w *walk) required(v *Value, f field, path string) {
	got := v.Get(f.name)
	switch {
	case got == nil:
		w.add(v, path, Missing, "")
	case got.Kind == Null, got.Kind == String && got.Text == "", got.Kind == List && len(got.Items) == 0:
		w.add(got, path, Empty, "")
	}
}

func (w *walk) slice(v *Value, to reflect.Value, path string) {
	if v.Kind != List {
		w.add(v, path, fmt.Sprintf("must be a list, not %s", v.Kind), "")
		return
	}
	to.Set(reflect.MakeSlice(to.Type(), len(v.Items), len(v.Items)))
	for i, item := range v.Items {
		at := fmt.Sprintf("%s[%d]", path, i)
		if item.Kind == Null {
			w.add(item, at, "an entry without a value", "")
			continue
		}
		w.value(item, to.Index(i), at)
	}
}

func (w *walk) mapping(v *Value, to reflect.Value, path string) {
	if v.Kind != Map {
		w.add(v, path, fmt.Sprintf("must be a mapping, not %s", v.Kind), "")
		return
	}
	to.Set(reflect.MakeMapWithSize(to.Type(), len(v.Fields)))
	for _, f := range v.Fields {
		elem := reflect.New(to.Type().Elem()).Elem()
		w.value(f.Value, elem, join(path, f.Name))
		to.SetMapIndex(reflect.ValueOf(f.Name).Convert(to.Type().Key()), elem)
	}
}

// fields lists the fields of a struct type, those of inlined structs included.
func (d *Decoder) fields(t reflect.Type) []field {
	if known, ok := d.types[t]; ok {
		return known
	}
	var out []field
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported():
		case name == "" && f.Anonymous:
			for _, inner := range d.fields(f.Type) {
				inner.index = append([]int{i}, inner.index...)
				out = append(out, inner)
			}
		case name != "":
			optional := strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
			out = append(out, field{name: name, index: []int{i}, required: !optional})
		}
	}
	if d.types == nil {
		d.types = make(map[reflect.Type][]field)
	}
	d.types[t] = out
	return out
}

func find(fields []field, name string) *field {
	for i := range fields {
		if fields[i].name == name {
			return &fields[i]
		}
	}
	return nil
}
