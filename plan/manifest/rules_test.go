package manifest_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/vpnctl/vpnctl/crds/admission"
	"github.com/vpnctl/vpnctl/plan/manifest"
)

var update = flag.Bool("update", false, "rewrite the expectations in testdata")

// Each archive of testdata/rules holds base.yaml, which is without fault, and
// cases named by a sentence. A case is one or more edits, blocks of lines to find
// (-) and what to put there (+), what is said then (=), and which objects an API
// server with our definitions refuses (~). A case without = is accepted without a
// word.
func TestRules(t *testing.T) {
	archives, err := filepath.Glob("testdata/rules/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal("no archives", err)
	}
	for _, path := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) { testRules(t, path) })
	}
}

func testRules(t *testing.T, path string) {
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	server, err := admission.New()
	if err != nil {
		t.Fatal(err)
	}
	base := string(archive.Files[0].Data)
	if got, _ := told(base); archive.Files[0].Name != "base.yaml" || got != "" {
		t.Fatalf("base.yaml is not without fault:\n%s", got)
	}
	seen := map[string]bool{}
	for i, f := range archive.Files[1:] {
		if seen[f.Name] {
			t.Errorf("two cases say %q", f.Name)
		}
		seen[f.Name] = true
		t.Run(f.Name, func(t *testing.T) {
			edited, want := edit(t, base, string(f.Data))
			said, errors := told(edited)
			no := refused(t, server, edited)
			if no != "" && errors == 0 {
				t.Errorf("accepted, but an API server refuses it:\n%s", no)
			}
			got := said + no
			if *update {
				archive.Files[i+1].Data = expect(f.Data, got)
			} else if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	if *update {
		if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// told loads one stream and returns what there is to tell, and how much of it is
// an error.
func told(text string) (said string, errors int) {
	_, found := manifest.Load([]string{"-"}, manifest.Options{Stdin: strings.NewReader(text)})
	var b, out strings.Builder
	found.WriteText(&b)
	for _, line := range strings.SplitAfter(b.String(), "\n") {
		if line != "" {
			out.WriteString("= " + strings.ReplaceAll(line, "<stdin>:", ""))
		}
	}
	return out.String(), found.Errors()
}

// edit carries out the edits of a case and returns the result and what the case
// expects to be told.
func edit(t *testing.T, base, text string) (edited, want string) {
	t.Helper()
	var from, to string
	flush := func() {
		if n := strings.Count(base, from); from != "" && n != 1 {
			t.Fatalf("the base holds this %d times:\n%s", n, from)
		}
		if from != "" || to != "" {
			base = strings.Replace(base, from, to, 1)
		}
		from, to = "", ""
	}
	for _, line := range strings.SplitAfter(text, "\n") {
		switch {
		case strings.HasPrefix(line, "-"):
			if to != "" {
				flush()
			}
			from += strings.TrimPrefix(line[1:], " ")
		case strings.HasPrefix(line, "+"):
			to += strings.TrimPrefix(line[1:], " ")
		case strings.HasPrefix(line, "="), strings.HasPrefix(line, "~"):
			want += line
		case strings.TrimSpace(line) == "":
			flush() // a removal alone ends here
		}
	}
	flush()
	return base, want
}

// expect replaces the expectation of a case.
func expect(data []byte, got string) []byte {
	var b bytes.Buffer
	for _, line := range strings.SplitAfter(string(data), "\n") {
		if !strings.HasPrefix(line, "=") && !strings.HasPrefix(line, "~") {
			b.WriteString(line)
		}
	}
	b.WriteString(got)
	return b.Bytes()
}
