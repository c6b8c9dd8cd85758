package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/manifest"
)

func TestASavedFileIsItsOwnersAlone(t *testing.T) {
	for sentence, c := range map[string]struct {
		before  func(dir string) error
		refused bool
	}{
		"a new file": {func(string) error { return nil }, false},
		"an older plan that everybody could read": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "plan.json"), []byte("{\n  \"version\": \"vpnctl.bnerd.net/plan/v0\",\n  \"estate\": \"a longer text\"}"), 0o666)
		}, false},
		"an empty file that nobody may write": {func(dir string) error { return os.WriteFile(filepath.Join(dir, "plan.json"), nil, 0o400) }, false},
		"a manifest": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "plan.json"), []byte(`{"kind": "VPNGateway"}`), 0o644)
		}, true},
		"a text that speaks of plans": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "plan.json"), []byte("# {\"version\": \"vpnctl.bnerd.net/plan/v1\"}\n"), 0o644)
		}, true},
		"a link":            {func(dir string) error { return os.Symlink("other", filepath.Join(dir, "plan.json")) }, true},
		"a link to nothing": {func(dir string) error { return os.Symlink("nothing", filepath.Join(dir, "plan.json")) }, true},
		"a folder":          {func(dir string) error { return os.Mkdir(filepath.Join(dir, "plan.json"), 0o755) }, true},
	} {
		t.Run(sentence, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "plan.json")
			if err := os.WriteFile(filepath.Join(dir, "other"), []byte("other"), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := c.before(dir); err != nil {
				t.Fatal(err)
			}
			stood, _ := os.ReadFile(path)
			err := replace(path, []byte("new"), manifest.IsSavedPlan)
			if (err != nil) != c.refused {
				t.Fatalf("error %v, want one: %t", err, c.refused)
			}
			if stands, _ := os.ReadFile(path); c.refused && !bytes.Equal(stands, stood) {
				t.Errorf("it was refused and holds %q instead of %q", stands, stood)
			}
			if !c.refused {
				info, err := os.Lstat(path)
				if err != nil {
					t.Fatal(err)
				}
				if info.Mode() != 0o600 {
					t.Errorf("mode %v, want a regular file with 0600", info.Mode())
				}
				if data, err := os.ReadFile(path); err != nil || string(data) != "new" {
					t.Errorf("it holds %q, %v", data, err)
				}
			}
			if data, err := os.ReadFile(filepath.Join(dir, "other")); err != nil || string(data) != "other" {
				t.Errorf("the other file holds %q, %v", data, err)
			}
			entries, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, e := range entries {
				names = append(names, e.Name())
			}
			if diff := cmp.Diff([]string{"other", "plan.json"}, names); diff != "" {
				t.Errorf("the folder (-want +got):\n%s", diff)
			}
		})
	}
}
