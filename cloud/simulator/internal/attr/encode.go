package attr

import (
	"encoding/json"
	"reflect"
	"strconv"
	"unicode/utf8"
)

// Append appends v, a pointer to a struct, as a JSON object with the attributes that level sees. Where only is
// not nil it leaves out the attributes for which only is false.
func Append(dst []byte, v any, level Level, only func(name string) bool) []byte {
	rv := reflect.ValueOf(v).Elem()
	dst = append(dst, '{')
	first := true
	for i := range Of(v).List {
		f := &Of(v).List[i]
		if f.Level > level || only != nil && !only(f.Name) {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = appendString(dst, f.Name)
		dst = append(dst, ':')
		dst = appendValue(dst, rv.FieldByIndex(f.index))
	}
	return append(dst, '}')
}

func appendValue(dst []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.String:
		return appendString(dst, v.String())
	case reflect.Bool:
		return strconv.AppendBool(dst, v.Bool())
	case reflect.Int:
		return strconv.AppendInt(dst, v.Int(), 10)
	case reflect.Pointer:
		if v.IsNil() {
			return append(dst, "null"...)
		}
		return appendValue(dst, v.Elem())
	case reflect.Map:
		if v.IsNil() {
			return append(dst, "{}"...)
		}
	case reflect.Slice:
		if v.IsNil() || v.Len() == 0 {
			return append(dst, "[]"...)
		}
		if v.Type().Elem().Kind() == reflect.String {
			return appendStrings(dst, v)
		}
	}
	return appendAny(dst, v)
}

func appendStrings(dst []byte, v reflect.Value) []byte {
	dst = append(dst, '[')
	for i := range v.Len() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(dst, v.Index(i).String())
	}
	return append(dst, ']')
}

// appendAny leaves the rare shapes to encoding/json. The resources hold nothing that it could refuse.
func appendAny(dst []byte, v reflect.Value) []byte {
	b, err := json.Marshal(v.Interface())
	if err != nil {
		return append(dst, "null"...)
	}
	return append(dst, b...)
}

// appendString writes most strings as they are and leaves the ones that need escaping to encoding/json.
func appendString(dst []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			b, _ := json.Marshal(s) // a string always encodes
			return append(dst, b...)
		}
	}
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"')
}
