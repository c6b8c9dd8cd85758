package decode_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/manifest/decode"
)

// A text that isn't YAML is told with the line where reading stopped, not with
// the one where the block begins.
func TestSyntaxErrorsNameTheLineWhereReadingStops(t *testing.T) {
	const head = "apiVersion: v1\nkind: List\nmetadata:\n  name: a\n  labels: {}\nspec:\n  protocol: ipsec\n"
	for sentence, c := range map[string]struct{ text, want string }{
		"a field one column too deep": {
			head + "   ipsec: {}\n  more: 1\n",
			"8:4: not YAML: mapping values are not allowed in this context, indented differently from line 7",
		},
		"a field one column too shallow": {
			head + " ipsec: {}\n  more: 1\n",
			"8:2: not YAML: did not find expected key, indented differently from line 7",
		},
		"a list's entry that is no longer one": {
			head + "  list:\n    - a\n    - b\n   - c\n",
			"11:4: not YAML: did not find expected key, indented differently from line 10",
		},
		"a line without a colon": {
			head + "  ipsec\n  more: 1\n",
			"8:3: not YAML: could not find expected ':'",
		},
		"a bracket that stays open": {
			head + "  list: [a, b\n  more: 1\n  last: 2\n",
			"8:3: not YAML: did not find expected ',' or ']'",
		},
		"a quote that stays open": {
			head + "  id: \"a\n  more: 1\n  last: 2\n",
			"8:3: not YAML: found unexpected end of stream",
		},
		"a comment in JSON": {
			"{\n  // options\n  \"a\": {}\n}\n",
			"2:3: not YAML: did not find expected ',' or '}'",
		},
		"an alias for nothing": {
			head + "  id: *nobody\n  more: 1\n",
			"8:3: not YAML: unknown anchor 'nobody' referenced",
		},
		"the second document of a file": {
			head + "---\n" + head + "   ipsec: {}\n",
			"16:4: not YAML: mapping values are not allowed in this context, indented differently from line 15",
		},
		"a comment and an empty line do not count": {
			head + "\n # here\n   ipsec: {}\n",
			"10:4: not YAML: did not find expected key, indented differently from line 7",
		},
		"a second manifest without a separator": {
			head + head,
			"8:1: apiVersion: given twice, first in line 1 (a new document? separate them with ---)",
		},
		"a second manifest that starts with something else": {
			head + "metadata: {}\nkind: List\n",
			"8:1: metadata: given twice, first in line 3 (a new document? separate them with ---)",
		},
		"a field given twice, and another": {
			head + "spec: {}\nmetadata: {}\n",
			"8:1: spec: given twice, first in line 6\n9:1: metadata: given twice, first in line 3",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, problems := decode.Documents([]byte(c.text))
			if diff := cmp.Diff(c.want, said(problems)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func said(problems []decode.Problem) string {
	var out []string
	for _, p := range problems {
		text := fmt.Sprintf("%d:%d: %s", p.Line, p.Column, p.Message)
		if p.Field != "" {
			text = fmt.Sprintf("%d:%d: %s: %s", p.Line, p.Column, p.Field, p.Message)
		}
		if p.Hint != "" && !strings.Contains(p.Hint, "ends too early") {
			text += " (" + p.Hint + ")"
		}
		out = append(out, text)
	}
	return strings.Join(out, "\n")
}
