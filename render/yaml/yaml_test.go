package yaml

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	reader "sigs.k8s.io/yaml"
)

func TestObject(t *testing.T) {
	for sentence, c := range map[string]struct{ in, want string }{
		"apiVersion and kind come first and status never": {
			`{"status":{"a":[1,{"b":"}"}]},"kind":"Z","apiVersion":"z","metadata":{"name":"a"}}`,
			"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n",
		},
		"fields keep their order": {`{"b":1,"a":2}`, "apiVersion: v1\nkind: Pod\nb: 1\na: 2\n"},
		"lists of all kinds": {
			`{"a":[],"b":[1,"x"],"c":[{"d":1,"e":{"f":2}},{}],"g":[["h"],[["i"]]],"j":{}}`,
			"apiVersion: v1\nkind: Pod\na: []\nb:\n- 1\n- x\nc:\n- d: 1\n  e:\n    f: 2\n- {}\ng:\n- - h\n- - - i\nj: {}\n",
		},
		"texts that look like something else are quoted": {
			`{"a":"yes","b":"010","c":"","d":"1.5","e":"null","f":"a: b","g":"- a","h":"a:","i":"10:20","j":"No"}`,
			"apiVersion: v1\nkind: Pod\na: \"yes\"\nb: \"010\"\nc: \"\"\nd: \"1.5\"\ne: \"null\"\nf: \"a: b\"\ng: \"- a\"\nh: \"a:\"\ni: \"10:20\"\nj: \"No\"\n",
		},
		"names, paths and images stay plain": {
			`{"a":"vpn.bnerd.net/v1alpha1","b":"/run/vpnctl","c":"ghcr.io/vpnctl/gateway:v1"}`,
			"apiVersion: v1\nkind: Pod\na: vpn.bnerd.net/v1alpha1\nb: /run/vpnctl\nc: ghcr.io/vpnctl/gateway:v1\n",
		},
		"lines become a block": {
			`{"a":{"b":"x\n\n\ty\n","c":["x\ny","x\n\n"]}}`,
			"apiVersion: v1\nkind: Pod\na:\n  b: |\n    x\n\n    \ty\n  c:\n  - |-\n    x\n    y\n  - |+\n    x\n\n",
		},
		"lines that no block could hold are quoted": {
			`{"a":" x\ny","b":"x\r\ny","c":"\nx"}`,
			"apiVersion: v1\nkind: Pod\na: \" x\\ny\"\nb: \"x\\u000d\\ny\"\nc: \"\\nx\"\n",
		},
		"escapes of every kind are read": {
			`{"a":"x\\y\"z\n\tw","b":"x\/y\u003cz\\u003c","c":"\\"}`,
			"apiVersion: v1\nkind: Pod\na: |-\n  x\\y\"z\n  \tw\nb: \"x/y<z\\\\u003c\"\nc: \"\\\\\"\n",
		},
		"numbers and words stand as they are": {
			`{"a":1.5,"b":-3,"c":true,"d":null}`, "apiVersion: v1\nkind: Pod\na: 1.5\nb: -3\nc: true\nd: null\n",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := FromJSON("v1", "Pod", []byte(c.in))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestNotAnObject(t *testing.T) {
	for _, in := range []string{``, `{`, `[]`, `"a"`, `{"a":1}x`} {
		if got, err := FromJSON("v1", "Pod", []byte(in)); err == nil {
			t.Errorf("%q written as %q", in, got)
		}
	}
}

// FuzzFromJSON: a YAML reader finds in the text what stood in the JSON.
func FuzzFromJSON(f *testing.F) {
	for _, seed := range []string{
		`{"a":"x\n y\n","b":["\u0085","\ufeff","\u2028"," "],"c":{"":"y"}}`, `{"<<":"a","~":"=","_1":"0x1"}`,
		`{"a":[[[]],[{"b":[{}]}]],"e":"𝄞\u007f"}`, `{"a":"x\n\n\n","b":"x\n  ","c":"#\n#"}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		var want map[string]any
		if json.Unmarshal([]byte(in), &want) != nil || duplicates(in) {
			return
		}
		text, err := FromJSON("v1", "Pod", []byte(in))
		if err != nil {
			return
		}
		delete(want, "status")
		want["apiVersion"], want["kind"] = "v1", "Pod"
		var got map[string]any
		if err := reader.Unmarshal([]byte(text), &got); err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if diff := cmp.Diff(numbers(want), numbers(got)); diff != "" {
			t.Errorf("%s\n(-want +got)\n%s", text, diff)
		}
	})
}

// duplicates tells whether the JSON says something twice, or more than its value:
// then its value written again is shorter.
func duplicates(in string) bool {
	var v any
	if json.Unmarshal([]byte(in), &v) != nil {
		return true
	}
	again, err := json.Marshal(v)
	if err != nil {
		return true
	}
	return count(in) != count(string(again))
}

func count(s string) (n int) {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch {
		case quoted && s[i] == '\\':
			i++
		case s[i] == '"':
			quoted = !quoted
		case !quoted && s[i] == ':':
			n++
		}
	}
	return n
}

// numbers drops numbers: a reader may hold one of many digits another way.
func numbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			v[k] = numbers(e)
		}
	case []any:
		for i, e := range v {
			v[i] = numbers(e)
		}
	case float64:
		return "number"
	}
	return v
}
