package directory

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
)

// named is a resource whose file has a name of so many characters.
func named(n int) resource.Resource {
	r := configMap(body)
	o := *r.Object
	o.Path = "acme/dc1/" + strings.Repeat("x", n-len(".yaml")) + ".yaml"
	r.Object = &o
	return r
}

// What can't be looked at isn't there already, nor in nobody's way.
func TestAnObstacleThatCannotBeReadIsAnError(t *testing.T) {
	root, r := t.TempDir(), named(256) // no file system has such a name
	if err := os.MkdirAll(filepath.Join(root, filepath.Dir(r.Object.Path)), 0o755); err != nil {
		t.Fatal(err)
	}
	got, err := New(root).Obstacles(t.Context(), resource.Graph{r.ID: r}, nil)
	if err == nil || errors.Is(err, cloud.ErrConflict) || !strings.Contains(err.Error(), r.Object.Path) {
		t.Errorf("refusals %v, error %v", got, err)
	}
}

// A link and a folder are no files that can't be read, but something that stands there.
func TestWhatIsNoFileIsAnObstacle(t *testing.T) {
	for sentence, stand := range map[string]func(path string) error{
		"a link":   func(path string) error { return os.Symlink("elsewhere", path) },
		"a folder": func(path string) error { return os.Mkdir(path, 0o755) },
	} {
		root, r := t.TempDir(), configMap(body)
		path := filepath.Join(root, r.Object.Path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), stand(path)); err != nil {
			t.Fatal(err)
		}
		if got, err := New(root).Obstacles(t.Context(), resource.Graph{r.ID: r}, nil); err != nil || len(got) != 1 {
			t.Errorf("%s: refusals %v, error %v", sentence, got, err)
		}
	}
}

// A file that can't be made leaves nothing to remove, and one reason.
func TestAFileThatCannotBeMadeHasOneReason(t *testing.T) {
	root, r := t.TempDir(), named(250) // too long with what is added while it is written
	err := apply(root, change(plan.Create, nil, &r))
	if err == nil || errors.Is(err, os.ErrNotExist) || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %q", err)
	}
	if left := files(t, root); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

// A folder that another program has filled, or taken away, is none to remove.
func TestAFolderThatOthersUseIsLeft(t *testing.T) {
	for sentence, c := range map[string]struct {
		prepare func(dir string) error
		gone    bool
	}{
		"an empty one":          {func(dir string) error { return os.Mkdir(dir, 0o755) }, true},
		"one that isn't there":  {func(string) error { return nil }, true},
		"one that has a file":   {func(dir string) error { return os.MkdirAll(filepath.Join(dir, "x"), 0o755) }, false},
		"one with a hidden one": {func(dir string) error { return os.MkdirAll(filepath.Join(dir, ".x"), 0o755) }, false},
	} {
		at := t.TempDir()
		if err := c.prepare(filepath.Join(at, "acme")); err != nil {
			t.Fatal(err)
		}
		root, err := New(at).open()
		if err != nil {
			t.Fatal(err)
		}
		if gone, err := removeFolder(root, "acme"); gone != c.gone || err != nil {
			t.Errorf("%s: gone %t, error %v", sentence, gone, err)
		}
		root.Close()
	}
}

// Another program fills and empties the folder that a gateway's last file leaves, at any
// moment.
func TestAnotherProgramFillsTheFolder(t *testing.T) {
	root, r := t.TempDir(), gateway(1)
	d := New(root)
	folder := filepath.Join(root, filepath.Dir(r.Object.Path))
	done := make(chan struct{})
	var other sync.WaitGroup
	other.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			if os.WriteFile(filepath.Join(folder, "theirs"), nil, 0o644) == nil {
				os.Remove(filepath.Join(folder, "theirs"))
			}
		}
	})
	for range 300 {
		for _, c := range []plan.Change{change(plan.Create, nil, &r), change(plan.Delete, &r, nil)} {
			if _, err := d.Apply(context.Background(), c); err != nil {
				t.Fatal(err)
			}
		}
	}
	close(done)
	other.Wait()
}
