package manifest_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/manifest"
)

// A patch's file lies in the Estate's folder: what lies elsewhere may be a secret,
// and would be printed with the plan.
func TestPatchFilesStayInTheFolder(t *testing.T) {
	const patch = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: dc1}}\n"
	for sentence, c := range map[string]struct {
		path    string
		prepare func(dir string) error
		want    string
	}{
		"a file beside the Estate is read": {"patch.yaml", nil, ""},
		"a file below it is read":          {"below/patch.yaml", nil, ""},
		"a link within the folder is followed": {"link.yaml", func(dir string) error {
			return os.Symlink("below/patch.yaml", filepath.Join(dir, "link.yaml"))
		}, ""},
		"a file above the folder is not":   {"../secret/clouds.yaml", nil, "path escapes from parent"},
		"nor by a way round":               {"below/../../secret/clouds.yaml", nil, "path escapes from parent"},
		"nor one of the machine":           {"/etc/hostname", nil, "path escapes from parent"},
		"a folder is not":                  {"below", nil, "not a regular file"},
		"a file that isn't there is named": {"none.yaml", nil, "no such file or directory"},
		"a link out of the folder is not": {"out.yaml", func(dir string) error {
			return os.Symlink("../secret/clouds.yaml", filepath.Join(dir, "out.yaml"))
		}, "path escapes from parent"},
		"a pipe is not waited for": {"pipe", func(dir string) error {
			return syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600)
		}, "not a regular file"},
		"a file without bounds is not read whole": {"large.yaml", func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "large.yaml"), []byte(strings.Repeat("#", 1<<20+1)), 0o600)
		}, "larger than 1 MiB"},
	} {
		t.Run(sentence, func(t *testing.T) {
			top := t.TempDir()
			dir := filepath.Join(top, "estate")
			estate := sound.Replace("ESTATE\n  patches: [{path: " + c.path + "}]\n")
			for name, text := range map[string]string{
				"estate/vpnctl.yaml": estate, "estate/patch.yaml": patch, "estate/below/patch.yaml": patch,
				"secret/clouds.yaml": "clouds: {operator: {auth: {password: hunter2}}}\n",
			} {
				put(t, filepath.Join(top, name), text)
			}
			if c.prepare != nil {
				if err := c.prepare(dir); err != nil {
					t.Fatal(err)
				}
			}
			loaded, found := manifest.Load([]string{filepath.Join(dir, "vpnctl.yaml")}, manifest.Options{})
			var said []string
			for _, d := range found {
				said = append(said, d.Message)
			}
			var want []string
			if c.want != "" {
				want = []string{`"` + c.path + `" can't be read: ` + c.want}
			} else if len(loaded.Estate.Patches) != 1 || loaded.Estate.Patches[0].Patch != patch {
				t.Errorf("patches %+v, want the one of the file", loaded.Estate.Patches)
			}
			if diff := cmp.Diff(want, said); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
