package corpus_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/vpnctl/vpnctl/crds/admission"
	"github.com/vpnctl/vpnctl/crds/corpus"
)

var update = flag.Bool("update", false, "rewrite the reasons in testdata")

// TestServerSays: each case is refused for the reasons that stand in it, and no others,
// by the API server's own code.
func TestServerSays(t *testing.T) {
	server, err := admission.New()
	if err != nil {
		t.Fatal(err)
	}
	cases, err := corpus.Cases()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]map[string][]string{}
	for _, c := range cases {
		old := c.Old
		if old != nil {
			stored, refused := server.Request(old, nil)
			if len(refused) > 0 {
				t.Errorf("%s: %s: what it was is refused: %s", c.Archive, c.Name, refused)
				continue
			}
			old = stored
		}
		_, refused := server.Request(c.Object, old)
		if got[c.Archive] == nil {
			got[c.Archive] = map[string][]string{}
		}
		if _, twice := got[c.Archive][c.Name]; twice {
			t.Errorf("%s: two cases say %q", c.Archive, c.Name)
		}
		got[c.Archive][c.Name] = refused
		if diff := cmp.Diff(c.Refused, refused); diff != "" && !*update {
			t.Errorf("%s: %s: (-want +got)\n%s", c.Archive, c.Name, diff)
		}
	}
	for name, says := range got {
		if *update {
			rewrite(t, name, says)
		}
	}
}

func rewrite(t *testing.T, name string, says map[string][]string) {
	t.Helper()
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range archive.Files[2:] {
		var b strings.Builder
		for line := range strings.Lines(string(f.Data)) {
			if !strings.HasPrefix(line, "~ ") {
				b.WriteString(line)
			}
		}
		for _, reason := range says[f.Name] {
			b.WriteString("~ " + reason + "\n")
		}
		archive.Files[i+2].Data = []byte(b.String())
	}
	if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
		t.Fatal(err)
	}
}
