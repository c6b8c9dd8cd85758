package directory

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan"
)

// TestTwoRunsWriteAtOnce: two processes, each with a driver of its own, write the
// same file into one folder. Both succeed, and the file is that of one of them.
func TestTwoRunsWriteAtOnce(t *testing.T) {
	root := t.TempDir()
	contents := map[string]bool{}
	var all sync.WaitGroup
	for n := range 8 {
		r := gateway(1)
		r.Object.Content += fmt.Sprintf("# of run %d\n", n)
		contents[r.Object.Content] = true
		all.Go(func() {
			d := New(root)
			for range 40 {
				at, err := d.open()
				if err == nil {
					err = d.replace(at, r.Object.Path, r.Object.Content)
				}
				if err != nil {
					t.Error(err)
					return
				}
				at.Close()
			}
		})
	}
	all.Wait()
	found := files(t, root)
	if len(found) != 1 || !contents[found[gateway(1).Object.Path]] {
		t.Errorf("found %v, want the file of one run alone", found)
	}
}

// files is everything but the folders.
func files(t *testing.T, root string) map[string]string {
	t.Helper()
	all := everything(t, root)
	maps.DeleteFunc(all, func(_, content string) bool { return content == "folder" })
	return all
}

// leave puts a file that was last written to some time ago.
func leave(t *testing.T, root, name string, age time.Duration) {
	t.Helper()
	put(t, root, name, "x")
	at := time.Now().Add(-age)
	if err := os.Chtimes(filepath.Join(root, name), at, at); err != nil {
		t.Fatal(err)
	}
}

// What a killed run has left is swept by the next one that writes or deletes in
// the folder, and nothing else is.
func TestAbandonedFilesAreSwept(t *testing.T) {
	r := gateway(1)
	folder := filepath.Dir(r.Object.Path)
	left := map[string]struct {
		age   time.Duration
		stays bool
	}{
		filepath.Join(folder, ".a.yaml.0123456789abcdef.vpnctl"): {2 * time.Hour, false},
		filepath.Join(folder, ".b.yaml.0123456789abcdef.vpnctl"): {time.Minute, true},
		filepath.Join(folder, ".c.yaml.vpnctl"):                  {2 * time.Hour, true},
		filepath.Join(folder, ".d.0123456789ABCDEF.vpnctl"):      {2 * time.Hour, true},
		filepath.Join(folder, "e.yaml.0123456789abcdef.vpnctl"):  {2 * time.Hour, true},
		filepath.Join(folder, ".gitkeep"):                        {2 * time.Hour, true},
		"elsewhere/.f.yaml.0123456789abcdef.vpnctl":              {2 * time.Hour, true},
	}
	for sentence, c := range map[string]struct {
		change plan.Change
		after  map[string]string
	}{
		"by a write":    {change(plan.Create, nil, &r), map[string]string{r.Object.Path: r.Object.Content}},
		"by a deletion": {change(plan.Delete, &r, nil), map[string]string{}},
	} {
		t.Run(sentence, func(t *testing.T) {
			root := t.TempDir()
			for name, f := range left {
				leave(t, root, name, f.age)
				if f.stays {
					c.after[name] = "x"
				}
			}
			if _, err := New(root).Apply(context.Background(), c.change); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.after, files(t, root)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A folder whose last file is deleted goes, although a killed run had left
// something in it.
func TestAnAbandonedFileHoldsNoFolder(t *testing.T) {
	root, r := t.TempDir(), gateway(1)
	name := filepath.Join(filepath.Dir(r.Object.Path), ".a.0123456789abcdef.vpnctl")
	d := New(root)
	for _, c := range []plan.Change{change(plan.Create, nil, &r), change(plan.Delete, &r, nil)} {
		if c.Action == plan.Delete {
			leave(t, root, name, 2*time.Hour)
		}
		if _, err := d.Apply(context.Background(), c); err != nil {
			t.Fatal(err)
		}
	}
	if entries, err := os.ReadDir(root); err != nil || len(entries) > 0 {
		t.Errorf("left over: %v, error %v", entries, err)
	}
}
