package view

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWithoutAgent(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"other files stay":                             {"@@ data.nat.nft.table\n     x\n-    y", "@@ data.nat.nft.table\n     x\n-    y"},
		"its own hunks are counted":                    {"@@ data.agent.json.peers\n-    y\n@@ data.nat.nft.table\n-    y\n@@ data.agent.json\n+    z", "@@ data.nat.nft.table\n-    y\nagent.json too, in 2 places: -v"},
		"nothing else differs":                         {"@@ data.agent.json.peers\n-    y", "agent.json too, in 1 place: -v"},
		"a hunk that reaches into the next file stays": {"@@ data.agent.json\n-    }\n   nat.nft: |\n-    table", "@@ data.agent.json\n-    }\n   nat.nft: |\n-    table"},
		"a title before the first hunk":                {"@@ data\n@@ data.agent.json\n-    y", "@@ data\nagent.json too, in 1 place: -v"},
		"an empty line inside":                         {"@@ data.agent.json\n \n-    y", "agent.json too, in 1 place: -v"},
	} {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(withoutAgent(strings.Split(c.in, "\n")), "\n")
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
