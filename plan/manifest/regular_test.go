package manifest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/manifest"
)

// Nothing that stands among manifests makes a run wait or swallows its memory.
func TestOnlyRegularFilesAreRead(t *testing.T) {
	pipe := func(name string) func(t *testing.T) {
		return func(t *testing.T) {
			t.Helper()
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := syscall.Mkfifo(name, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	link := func(name, to string) func(t *testing.T) {
		return func(t *testing.T) {
			t.Helper()
			if err := os.Symlink(to, name); err != nil {
				t.Fatal(err)
			}
		}
	}
	write := func(name, text string) func(t *testing.T) {
		return func(t *testing.T) { t.Helper(); put(t, name, sound.Replace(text)) }
	}
	gateway := write("dc1.yaml", "GATEWAY\n")
	large := "GATEWAY\n" + strings.Repeat("#"+strings.Repeat(" ", 1023)+"\n", 8<<10)
	for sentence, c := range map[string]struct {
		given []func(t *testing.T)
		path  string
		want  []string
	}{
		"a pipe that was named":        {[]func(*testing.T){pipe("x.yaml")}, "x.yaml", []string{"x.yaml: can't be read: not a regular file"}},
		"a pipe in a folder":           {[]func(*testing.T){gateway, pipe("x.yaml")}, ".", []string{"x.yaml: can't be read: not a regular file"}},
		"a device by a link":           {[]func(*testing.T){gateway, link("zero.yml", "/dev/zero")}, ".", []string{"zero.yml: can't be read: not a regular file"}},
		"a pipe of another name":       {[]func(*testing.T){gateway, pipe("x.fifo")}, ".", nil},
		"a pipe for the kustomization": {[]func(*testing.T){pipe("k/kustomization.yaml")}, "k", []string{"k/kustomization.yaml: can't be read: not a regular file"}},
		"a pipe in a kustomization": {[]func(*testing.T){write("k/kustomization.yaml", "resources: [x.yaml]\n"), pipe("k/x.yaml")}, "k",
			[]string{"k/kustomization.yaml: building: accumulating resources"}},
		"a pipe where a simulator's state would be": {[]func(*testing.T){write("lab/dc1.yaml", "GATEWAY\n"), pipe("lab/state.json")}, ".",
			[]string{"lab/state.json: can't be read: not a regular file"}},
		"a large file":               {[]func(*testing.T){write("x.yaml", large)}, ".", []string{"x.yaml: can't be read: larger than 8 MiB"}},
		"a large saved plan, found":  {[]func(*testing.T){gateway, write("plan.json", `{"version":"vpnctl.bnerd.net/plan/v1"}`+strings.Repeat(" ", 9<<20))}, ".", nil},
		"extensions in capitals":     {[]func(*testing.T){write("DC1.YAML", "GATEWAY\nmore: 1\n")}, ".", []string{"DC1.YAML: there is no such field"}},
		"an extension in mixed case": {[]func(*testing.T){write("dc1.Yml", "GATEWAY\nmore: 1\n")}, ".", []string{"dc1.Yml: there is no such field"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Chdir(t.TempDir())
			write("vpnctl.yaml", "ESTATE\n")(t)
			for _, f := range c.given {
				f(t)
			}
			var said []string
			for _, d := range within(t, func() manifest.Diagnostics {
				_, found := manifest.Load([]string{c.path}, manifest.Options{Survey: true})
				return found
			}) {
				said = append(said, fmt.Sprintf("%s: %s", d.File, d.Message))
			}
			if len(said) != len(c.want) {
				t.Fatalf("said %q, want %q", said, c.want)
			}
			for i, want := range c.want {
				if !strings.HasPrefix(said[i], want) {
					t.Errorf("said %q, want %q", said[i], want)
				}
			}
		})
	}
}

// A pipe that was not named is not waited for either, and may stand for a manifest.
func TestSurveyingWaitsForNoPipe(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "vpnctl.yaml", sound.Replace("ESTATE\n"))
	put(t, "a/dc1.yaml", sound.Replace("GATEWAY\n"))
	put(t, "b/DC2.YAML", strings.ReplaceAll(sound.Replace("GATEWAY\n"), "dc1", "dc2"))
	if err := syscall.Mkfifo("b/x.yaml", 0o600); err != nil {
		t.Fatal(err)
	}
	loaded := within(t, func() *manifest.Loaded {
		loaded, found := manifest.Load([]string{"a"}, manifest.Options{Survey: true})
		if found.Errors() > 0 {
			t.Error(found)
		}
		return loaded
	})
	var unread []string
	for o := range loaded.Unread {
		unread = append(unread, o.String())
	}
	if diff := cmp.Diff([]string{"VPNGateway/acme/dc2"}, unread); diff != "" {
		t.Errorf("unread (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"b/x.yaml"}, loaded.Obscure); diff != "" {
		t.Errorf("obscure (-want +got):\n%s", diff)
	}
}

// within fails when something waits.
func within[T any](t *testing.T, f func() T) T {
	t.Helper()
	done := make(chan T, 1)
	go func() { done <- f() }()
	select {
	case got := <-done:
		return got
	case <-time.After(20 * time.Second):
		t.Fatal("it waits")
		panic("unreachable")
	}
}
