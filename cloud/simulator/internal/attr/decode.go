package attr

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Use is what a request body is for.
type Use int

// The uses of a body.
const (
	Create Use = iota
	Update
)

// Problem says why a body was refused. Exactly one of the fields is set.
type Problem struct {
	Unknown   []string // attributes that the resource does not have
	Forbidden string   // an attribute that only the admin role may set
	ReadOnly  string   // an attribute that this kind of request may not set
	Invalid   string   // an attribute whose value has the wrong shape
	Reason    string   // with Invalid: what is wrong
}

// Set copies the attributes of body into v, a pointer to a struct, and leaves all others alone. What v held
// before is never written through: slices and pointers are made anew. It returns nil when all went well.
func Set(v any, body map[string]json.RawMessage, use Use, admin bool) *Problem {
	fields := Of(v)
	if p := check(fields, body, use, admin); p != nil {
		return p
	}
	rv := reflect.ValueOf(v).Elem()
	for name, raw := range body {
		f, _ := fields.Find(name)
		to := rv.FieldByIndex(f.index)
		if err := setOne(to, raw); err != nil {
			return &Problem{Invalid: name, Reason: err.Error()}
		}
		if f.Max > 0 && utf8.RuneCountInString(to.String()) > f.Max {
			return &Problem{Invalid: name, Reason: fmt.Sprintf("'%s' exceeds maximum length of %d", to, f.Max)}
		}
	}
	return nil
}

func check(fields *Fields, body map[string]json.RawMessage, use Use, admin bool) *Problem {
	var unknown []string
	names := make([]string, 0, len(body))
	for name := range body {
		names = append(names, name)
		if f, ok := fields.Find(name); !ok || f.Level == Hidden {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(names)
	slices.Sort(unknown)
	if len(unknown) > 0 {
		return &Problem{Unknown: unknown}
	}
	for _, name := range names {
		f, _ := fields.Find(name)
		if use == Create && !f.Create || use == Update && !f.Update {
			return &Problem{ReadOnly: name}
		}
		if f.AdminOnly && !admin {
			return &Problem{Forbidden: name}
		}
	}
	return nil
}

func setOne(to reflect.Value, raw json.RawMessage) error {
	if string(raw) == "null" && to.Kind() != reflect.Pointer && to.Kind() != reflect.Slice {
		return fmt.Errorf("'None' is not a valid %s", to.Kind())
	}
	fresh := reflect.New(to.Type())
	if err := json.Unmarshal(raw, fresh.Interface()); err != nil {
		return fmt.Errorf("'%s' is not a valid %s", strings.Trim(string(raw), `"`), to.Kind())
	}
	to.Set(fresh.Elem())
	return nil
}

// Values returns the attribute of v as text, for filters: one element for a scalar, one for each of a list of
// strings, none for null. ok is false where the attribute does not exist, is not seen at that level, or has a
// shape that cannot be filtered by.
func Values(v any, name string, level Level) (values []string, ok bool) {
	f, found := Of(v).Find(name)
	if !found || f.Level > level {
		return nil, false
	}
	field := reflect.ValueOf(v).Elem().FieldByIndex(f.index)
	if field.Kind() == reflect.Pointer {
		if field.IsNil() {
			return nil, scalar(field.Type().Elem().Kind())
		}
		field = field.Elem()
	}
	switch field.Kind() {
	case reflect.String:
		return []string{field.String()}, true
	case reflect.Bool:
		return []string{strconv.FormatBool(field.Bool())}, true
	case reflect.Int:
		return []string{strconv.FormatInt(field.Int(), 10)}, true
	case reflect.Slice:
		list, ok := field.Interface().([]string)
		return list, ok
	}
	return nil, false
}

func scalar(k reflect.Kind) bool {
	return k == reflect.String || k == reflect.Bool || k == reflect.Int
}
