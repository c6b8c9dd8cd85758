package decode

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// scalar fills strings, booleans and whole numbers, and nothing else: the wire
// types have no fractions.
func (w *walk) scalar(v *Value, to reflect.Value, path string) {
	switch to.Kind() {
	case reflect.String:
		if w.text(v, path) {
			to.SetString(v.Text)
		}
	case reflect.Bool:
		if w.boolean(v, path) {
			to.SetBool(v.Text[0] == 't' || v.Text[0] == 'T')
		}
	case reflect.Int, reflect.Int32, reflect.Int64:
		if w.number(v, path) {
			w.integer(v, to, path)
		}
	default:
		w.add(v, path, fmt.Sprintf("fields of type %s can't be read", to.Type()), "")
	}
}

func (w *walk) text(v *Value, path string) bool {
	switch {
	case v.Kind == List || v.Kind == Map:
		w.add(v, path, fmt.Sprintf("must be a string, not %s", v.Kind), "")
	case v.Kind != String || v.Plain && ambiguous(v.Text):
		w.add(v, path, fmt.Sprintf("must be a string, but %s may be read as %s", shown(v), reading(v)), "quote it: "+strconv.Quote(v.Text))
	default:
		return true
	}
	return false
}

func (w *walk) boolean(v *Value, path string) bool {
	switch v.Kind {
	case Bool:
		return true
	case List, Map:
		w.add(v, path, fmt.Sprintf("must be true or false, not %s", v.Kind), "")
	default:
		w.add(v, path, fmt.Sprintf("must be true or false, not %s", shown(v)), "")
	}
	return false
}

// number accepts plain decimal numbers only: 010 is 8 for one reader of YAML and
// 10 for another.
func (w *walk) number(v *Value, path string) bool {
	digits := strings.TrimPrefix(v.Text, "-")
	whole := digits != "" && strings.Trim(digits, "0123456789") == ""
	switch {
	case v.Kind == List || v.Kind == Map:
		w.add(v, path, fmt.Sprintf("must be a whole number, not %s", v.Kind), "")
	case v.Kind == String && whole:
		w.add(v, path, fmt.Sprintf("must be a whole number, not the string %s", shown(v)), "remove the quotes")
	case v.Kind != Number || !whole:
		w.add(v, path, fmt.Sprintf("must be a whole number, not %s", shown(v)), "")
	case len(digits) > 1 && digits[0] == '0':
		w.add(v, path, fmt.Sprintf("%s starts with a zero, which some read as octal", shown(v)), "write it without")
	default:
		return true
	}
	return false
}

func (w *walk) integer(v *Value, to reflect.Value, path string) {
	n, err := strconv.ParseInt(v.Text, 10, to.Type().Bits())
	if err != nil {
		w.add(v, path, fmt.Sprintf("%s is out of range", shown(v)), "")
		return
	}
	to.SetInt(n)
}

// shown writes a scalar as it stands in the manifest, shortened.
func shown(v *Value) string {
	text := v.Text
	if len(text) > 80 {
		text = strings.ToValidUTF8(text[:80], "") + "…"
	}
	if v.Plain {
		return text
	}
	return strconv.Quote(text)
}
