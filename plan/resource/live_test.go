package resource

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLiveValuesHaveTheirTypes: a number that is whole stays so, however large.
func TestLiveValuesHaveTheirTypes(t *testing.T) {
	for name, tt := range map[string]struct {
		json string
		want map[string]any
	}{
		"a whole number":                 {`{"a":443}`, map[string]any{"a": int64(443)}},
		"one that no float64 can hold":   {`{"a":9007199254740993}`, map[string]any{"a": int64(9007199254740993)}},
		"one that no int64 can hold":     {`{"a":1e30}`, map[string]any{"a": 1e30}},
		"a fraction":                     {`{"a":0.5}`, map[string]any{"a": 0.5}},
		"numbers in lists and in maps":   {`{"a":[1,{"b":[2.5,"3"]}]}`, map[string]any{"a": []any{int64(1), map[string]any{"b": []any{2.5, "3"}}}}},
		"text, truth and what is absent": {`{"a":"<1>","b":true,"c":null}`, map[string]any{"a": "<1>", "b": true, "c": nil}},
		"no object":                      {`[1]`, nil},
		"nothing":                        {``, nil},
	} {
		t.Run(name, func(t *testing.T) {
			l := Live{JSON: []byte(tt.json)}
			if diff := cmp.Diff(tt.want, l.Value()); diff != "" {
				t.Errorf("value (-want +got)\n%s", diff)
			}
		})
	}
}

// TestOnlyWhatWasAppliedIsOwned: what a manager wrote otherwise is not taken for what it
// applied.
func TestOnlyWhatWasAppliedIsOwned(t *testing.T) {
	l := Live{Managers: []Manager{
		{Name: "us", FieldsV1: `{"f:a":{}}`}, {Name: "them", Apply: true, FieldsV1: `{"f:b":{}}`}, {Name: "us", Apply: true, FieldsV1: `{"f:c":{}}`},
	}}
	if diff := cmp.Diff(map[string]any{"f:c": map[string]any{}}, l.Owned("us")); diff != "" {
		t.Errorf("owned (-want +got)\n%s", diff)
	}
	if got := l.Owned("nobody"); got != nil {
		t.Errorf("nobody owns %v", got)
	}
}
