package volume_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/agent/lab/configmap"
	"github.com/vpnctl/vpnctl/agent/volume"
)

func TestMountReads(t *testing.T) {
	for sentence, c := range map[string]struct {
		fill func(dir string) error
		want map[string]string
	}{
		"what the kubelet mounted, without its own names": {
			func(dir string) error { return configmap.Swap(dir, map[string]string{"a": "1", "b": ""}) },
			map[string]string{"a": "1", "b": ""},
		},
		"a plain folder, without the folders in it": {
			func(dir string) error {
				return errors.Join(os.WriteFile(filepath.Join(dir, "a"), []byte("1"), 0o600), os.Mkdir(filepath.Join(dir, "c"), 0o700))
			},
			map[string]string{"a": "1"},
		},
		"an empty folder": {func(string) error { return nil }, map[string]string{}},
	} {
		t.Run(sentence, func(t *testing.T) {
			dir := t.TempDir()
			if err := c.fill(dir); err != nil {
				t.Fatal(err)
			}
			m := volume.Mount{Dir: dir}
			files, err := m.Read()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, files.Data); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if g, err := m.Generation(); err != nil || g != files.Generation {
				t.Errorf("generation %q, %v; read %q", g, err, files.Generation)
			}
		})
	}
}

func TestMountErrs(t *testing.T) {
	for sentence, fill := range map[string]func(dir string) error{
		"where there is no folder":                  os.RemoveAll,
		"where the generation in force isn't there": func(dir string) error { return os.Symlink("..gone", filepath.Join(dir, "..data")) },
		"where a key leads nowhere":                 func(dir string) error { return os.Symlink("gone", filepath.Join(dir, "a")) },
	} {
		t.Run(sentence, func(t *testing.T) {
			dir := t.TempDir()
			if err := fill(dir); err != nil {
				t.Fatal(err)
			}
			if files, err := (volume.Mount{Dir: dir}).Read(); err == nil {
				t.Errorf("read %v", files)
			}
		})
	}
}

// A change of one byte that keeps the size, made at once, is another generation.
func TestGenerationChangesWithContent(t *testing.T) {
	plain, mounted := t.TempDir(), t.TempDir()
	write := map[string]func(text string) error{
		plain:   func(text string) error { return os.WriteFile(filepath.Join(plain, "a"), []byte(text), 0o600) },
		mounted: func(text string) error { return configmap.Swap(mounted, map[string]string{"a": text}) },
	}
	for dir, write := range write {
		seen := map[string]bool{}
		for i := range 100 {
			if err := write(fmt.Sprintf("%02d", i)); err != nil {
				t.Fatal(err)
			}
			g, err := volume.Mount{Dir: dir}.Generation()
			if err != nil || seen[g] {
				t.Fatalf("write %d: generation %q again, %v", i, g, err)
			}
			seen[g] = true
			if again, err := (volume.Mount{Dir: dir}).Generation(); err != nil || again != g {
				t.Errorf("generation %q became %q by itself, %v", g, again, err)
			}
		}
	}
}

// Whatever moment a swap comes at, all keys are of one generation.
func TestReadIsOfOneGeneration(t *testing.T) {
	dir := t.TempDir()
	generation := func(i int) map[string]string {
		text := fmt.Sprint(i)
		return map[string]string{"a": text, "b": text, "c": text, "d": text}
	}
	if err := configmap.Swap(dir, generation(0)); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	var swaps sync.WaitGroup
	swaps.Go(func() {
		defer close(done)
		for i := range 500 {
			if err := configmap.Swap(dir, generation(i)); err != nil {
				t.Error(err)
				return
			}
		}
	})
	defer swaps.Wait()
	reads := 0
	for running := true; running; {
		select {
		case <-done:
			running = false // the last read is of a folder at rest
		default:
		}
		files, err := volume.Mount{Dir: dir}.Read()
		if err != nil {
			if running {
				continue // said so, rather than mixing
			}
			t.Fatal(err)
		}
		reads++
		for k, v := range files.Data {
			if v != files.Data["a"] || len(files.Data) != 4 {
				t.Fatalf("key %s is of another generation: %v", k, files.Data)
			}
		}
	}
	if reads < 2 {
		t.Errorf("%d reads", reads)
	}
}
