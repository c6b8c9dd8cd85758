package render

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/resource"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const golden = "../testdata/golden"

// TestGolden compares every resource of the examples with the files in
// testdata/golden: Kubernetes objects as they are written, the rest as JSON.
func TestGolden(t *testing.T) {
	for name, in := range map[string]Input{"acme": acme(), "globex": globex(), "initech": initech()} {
		t.Run(name, func(t *testing.T) {
			g, problems := Gateway(in)
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			compare(t, filepath.Join(golden, name), files(t, g))
		})
	}
}

func files(t *testing.T, g resource.Graph) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, id := range g.IDs() {
		r := g[id]
		if r.Object != nil {
			all[r.Object.Path] = r.Object.Content
			continue
		}
		data, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		all["openstack/"+id.Kind.Short()+".json"] = string(data) + "\n"
	}
	return all
}

func compare(t *testing.T, dir string, got map[string]string) {
	t.Helper()
	if *update {
		rewrite(t, dir, got)
	}
	want := read(t, dir)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func rewrite(t *testing.T, dir string, all map[string]string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for name, content := range all {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func read(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		all[filepath.ToSlash(name)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestVersionFollowsTheGoldenFiles: other bytes need another Version, or a new
// vpnctl would call them drift.
func TestVersionFollowsTheGoldenFiles(t *testing.T) {
	sum := sha256.New()
	for _, name := range []string{"acme", "globex", "initech"} {
		all := read(t, filepath.Join(golden, name))
		var paths []string
		for p := range all {
			paths = append(paths, p)
		}
		slices.Sort(paths)
		for _, p := range paths {
			if !strings.HasSuffix(p, "applied.json") { // follows from Version itself
				fmt.Fprintf(sum, "%s\n%s", p, all[p])
			}
		}
	}
	got := Version + " " + hex.EncodeToString(sum.Sum(nil)[:8]) + "\n"
	path := filepath.Join(golden, "version")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the golden files are %q, recorded is %q: raise Version and run with -update", got, want)
	}
}
