package decode

import (
	"encoding/json"
	"fmt"
)

// Any returns the value in the terms of encoding/json, with numbers as
// json.Number. It fails on a number that JSON can't write, such as 0x1f.
func (v *Value) Any() (any, error) {
	switch v.Kind {
	case Bool:
		return v.Text == "true" || v.Text == "True" || v.Text == "TRUE", nil
	case Number:
		if !json.Valid([]byte(v.Text)) {
			return nil, fmt.Errorf("%s is not a number that JSON knows", v.Text)
		}
		return json.Number(v.Text), nil
	case String:
		return v.Text, nil
	case List:
		return v.list()
	case Map:
		return v.mapping()
	}
	return nil, nil
}

func (v *Value) list() (any, error) {
	out := make([]any, len(v.Items))
	for i, item := range v.Items {
		var err error
		if out[i], err = item.Any(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (v *Value) mapping() (any, error) {
	out := make(map[string]any, len(v.Fields))
	for _, f := range v.Fields {
		var err error
		if out[f.Name], err = f.Value.Any(); err != nil {
			return nil, err
		}
	}
	return out, nil
}
