package plan

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUnified(t *testing.T) {
	before := "data:\n  swanctl.conf: |\n    connections {\n      plant1 {\n        remote = a\n      }\n      plant2 {\n        remote = b\n        version = 2\n      }\n    }\n"
	for name, test := range map[string]struct{ after, want string }{
		"nothing": {before, ""},
		"a line deep inside": {
			strings.Replace(before, "remote = b", "remote = c", 1),
			"@@ data.swanctl.conf.connections.plant2\n       }\n       plant2 {\n-        remote = b\n+        remote = c\n         version = 2\n       }\n",
		},
		"two places": {
			strings.NewReplacer("remote = a", "remote = x", "    }\n", "    }\n").Replace(before) + "kind: ConfigMap\n",
			"@@ data.swanctl.conf.connections.plant1\n     connections {\n       plant1 {\n-        remote = a\n+        remote = x\n       }\n       plant2 {\n" +
				"@@\n       }\n     }\n+kind: ConfigMap\n",
		},
		"a block behind another one": {
			strings.Replace(before, "      }\n    }\n", "      }\n      plant3 {\n        remote = b\n        version = 2\n      }\n    }\n", 1),
			"@@ data.swanctl.conf.connections\n         version = 2\n       }\n+      plant3 {\n+        remote = b\n+        version = 2\n+      }\n     }\n",
		},
		"a block less": {
			strings.Replace(before, "      plant1 {\n        remote = a\n      }\n", "", 1),
			"@@ data.swanctl.conf.connections\n   swanctl.conf: |\n     connections {\n-      plant1 {\n-        remote = a\n-      }\n       plant2 {\n         remote = b\n",
		},
		"everything": {"", "@@\n" + "-" + strings.ReplaceAll(strings.TrimSuffix(before, "\n"), "\n", "\n-") + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, unified(before, test.after)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestHunkTitles(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"an object in a list of JSON":           {"data:\n  agent.json: |\n    {\n      \"peers\": [\n        {\n          \"name\": \"old\"\n        }\n      ]\n    }\n", "@@ data.agent.json.peers"},
		"a list that is indented as its key is": {"spec:\n  exposures:\n  - name: web\n    target:\n      host: x\n  - name: api\n    target:\n      host: old\n", "@@ spec.exposures.api.target"},
		"a list of nft":                         {"table inet vpnctl {\n\tmap grants {\n\t\telements = {\n\t\t\told,\n\t\t}\n\t}\n}\n", "@@ table inet vpnctl.map grants.elements"},
	} {
		t.Run(name, func(t *testing.T) {
			got, _, _ := strings.Cut(unified(test.text, strings.Replace(test.text, "old", "new", 1)), "\n")
			if got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// TestScriptLeads: the lines that are kept and removed are the one text, those
// that are kept and added the other; and no script for equal lines is longer than
// what differs.
func TestScriptLeads(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 3))
		a := randomLines(r)
		b := append([]string(nil), a...)
		edits := r.IntN(6)
		for range edits {
			if i := r.IntN(len(b) + 1); r.IntN(2) == 0 || i == len(b) {
				b = append(b[:i:i], append([]string{"new"}, b[i:]...)...)
			} else {
				b = append(b[:i:i], b[i+1:]...)
			}
		}
		var was, is []string
		changed := 0
		for _, e := range slide(script(a, b)) {
			if e.sign != '+' {
				was = append(was, e.line)
			}
			if e.sign != '-' {
				is = append(is, e.line)
			}
			if e.sign != ' ' {
				changed++
			}
		}
		if strings.Join(was, "\n") != strings.Join(a, "\n") || strings.Join(is, "\n") != strings.Join(b, "\n") || changed > edits {
			t.Fatalf("seed %d: %d edits, script of %d:\n%q\n%q", seed, edits, changed, a, b)
		}
	}
}

func TestScriptOfStrangers(t *testing.T) {
	a, b := strings.Repeat("a\n", 3000), strings.Repeat("b\n", 3000)
	if got := unified(a, b); strings.Count(got, "\n-a") != 3000 || strings.Count(got, "\n+b") != 3000 {
		t.Error("a text that has nothing in common is not replaced whole")
	}
}

func randomLines(r *rand.Rand) []string {
	lines := make([]string, r.IntN(30))
	for i := range lines {
		lines[i] = string(rune('a' + r.IntN(4)))
	}
	return lines
}

func TestSuggestion(t *testing.T) {
	known := map[string]bool{"acme/dc1": true, "acme/dc2": true, "globex/remote": true}
	for name, want := range map[string]string{
		"acme/dc":       "acme/dc1, acme/dc2?",
		"remote":        "globex/remote?",
		"glbex/remote":  "globex/remote?",
		"initech/other": "",
		"":              "",
	} {
		if got := suggestion(name, known); got != want {
			t.Errorf("%q: suggested %q, want %q", name, got, want)
		}
	}
}
