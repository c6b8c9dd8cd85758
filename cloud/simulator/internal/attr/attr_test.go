package attr_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud/simulator/internal/attr"
)

type inner struct {
	ID string `json:"id"`
}

type thing struct {
	inner
	Name   string         `json:"name" api:"create,update" max:"3"`
	Size   int            `json:"size" api:"create"`
	On     bool           `json:"on" api:"create,update"`
	Parent *string        `json:"parent" api:"create,update"`
	Parts  []string       `json:"parts" api:"create,update"`
	Extras map[string]any `json:"extras"`
	Host   string         `json:"host" vis:"admin" api:"update" set:"admin"`
	Secret string         `json:"secret" vis:"hidden"`
}

func TestAppendShowsWhatALevelSees(t *testing.T) {
	v := &thing{inner: inner{"1"}, Name: "a\"<ü\n", On: true, Host: "h", Secret: "s"}
	for sentence, c := range map[string]struct {
		level attr.Level
		only  func(string) bool
		want  string
	}{
		"members see no host": {attr.Member, nil, `{"id":"1","name":"a\"\u003cü\n","size":0,"on":true,"parent":null,"parts":[],"extras":{}}`},
		"admins see it":       {attr.Admin, func(n string) bool { return n == "host" || n == "secret" }, `{"host":"h"}`},
		"the store sees all":  {attr.Hidden, func(n string) bool { return n == "host" || n == "secret" }, `{"host":"h","secret":"s"}`},
		"nothing is asked":    {attr.Hidden, func(string) bool { return false }, `{}`},
	} {
		t.Run(sentence, func(t *testing.T) {
			if diff := cmp.Diff(c.want, string(attr.Append(nil, v, c.level, c.only))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAppendReadsBack(t *testing.T) {
	parent := "p"
	want := &thing{inner: inner{"1"}, Name: "n", Size: 4, Parent: &parent, Parts: []string{"a", "b"}, Extras: map[string]any{"x": "y"}, Host: "h", Secret: "s"}
	var got thing
	if err := json.Unmarshal(attr.Append(nil, want, attr.Hidden, nil), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, &got, cmp.AllowUnexported(thing{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSet(t *testing.T) {
	for sentence, c := range map[string]struct {
		body  string
		use   attr.Use
		admin bool
		want  *attr.Problem
	}{
		"what may be set":            {`{"name": "n", "size": 1, "parts": null, "parent": null}`, attr.Create, false, nil},
		"an unknown attribute":       {`{"colour": 1, "age": 2}`, attr.Create, true, &attr.Problem{Unknown: []string{"age", "colour"}}},
		"a hidden one is unknown":    {`{"secret": "x"}`, attr.Update, true, &attr.Problem{Unknown: []string{"secret"}}},
		"one that is read-only":      {`{"id": "2"}`, attr.Create, true, &attr.Problem{ReadOnly: "id"}},
		"one for creates only":       {`{"size": 2}`, attr.Update, true, &attr.Problem{ReadOnly: "size"}},
		"the admin's, by a member":   {`{"host": "h"}`, attr.Update, false, &attr.Problem{Forbidden: "host"}},
		"the admin's, by the admin":  {`{"host": "h"}`, attr.Update, true, nil},
		"a wrong shape":              {`{"size": "many"}`, attr.Create, false, &attr.Problem{Invalid: "size", Reason: "'many' is not a valid int"}},
		"null where there is none":   {`{"name": null}`, attr.Create, false, &attr.Problem{Invalid: "name", Reason: "'None' is not a valid string"}},
		"a text that is too long":    {`{"name": "long"}`, attr.Create, false, &attr.Problem{Invalid: "name", Reason: "'long' exceeds maximum length of 3"}},
		"characters, not bytes":      {`{"name": "äöü"}`, attr.Create, false, nil},
		"nothing of it when refused": {`{"name": "n", "colour": 1}`, attr.Create, false, &attr.Problem{Unknown: []string{"colour"}}},
	} {
		t.Run(sentence, func(t *testing.T) {
			var body map[string]json.RawMessage
			if err := json.Unmarshal([]byte(c.body), &body); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, attr.Set(&thing{}, body, c.use, c.admin)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The old version of an object must not change with the new one.
func TestSetWritesThroughNothing(t *testing.T) {
	parent := "old"
	old := &thing{Parent: &parent, Parts: []string{"a", "b"}}
	next := *old
	body := map[string]json.RawMessage{"parent": []byte(`"new"`), "parts": []byte(`["x"]`)}
	if p := attr.Set(&next, body, attr.Update, false); p != nil {
		t.Fatal(p)
	}
	if *old.Parent != "old" || old.Parts[0] != "a" || *next.Parent != "new" || next.Parts[0] != "x" {
		t.Errorf("old %v %v, new %v %v", *old.Parent, old.Parts, *next.Parent, next.Parts)
	}
}
