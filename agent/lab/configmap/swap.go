package configmap

import (
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
)

// generations counts contents, so that each has a folder of its own.
var generations atomic.Int64

// Swap gives a ConfigMap's folder new content as the kubelet does: a new folder, and
// one rename of the link ..data that all keys lead through.
func Swap(dir string, data map[string]string) error {
	generation := fmt.Sprintf("..2026_01_01_00_00_00.%09d", generations.Add(1))
	if err := os.Mkdir(filepath.Join(dir, generation), 0o755); err != nil {
		return err
	}
	for key, text := range data {
		if err := os.WriteFile(filepath.Join(dir, generation, key), []byte(text), 0o644); err != nil {
			return err
		}
	}
	old, _ := os.Readlink(filepath.Join(dir, "..data"))
	next := filepath.Join(dir, "..data_tmp")
	if err := os.Symlink(generation, next); err != nil {
		return err
	}
	if err := os.Rename(next, filepath.Join(dir, "..data")); err != nil {
		return err
	}
	for key := range data {
		err := os.Symlink(filepath.Join("..data", key), filepath.Join(dir, key))
		if err != nil && !os.IsExist(err) {
			return err
		}
	}
	if old == "" {
		return nil
	}
	return os.RemoveAll(filepath.Join(dir, old))
}
