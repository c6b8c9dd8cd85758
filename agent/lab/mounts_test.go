//go:build e2e

package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
)

// volumes makes the pod's volumes as the kubelet does, and returns where they are.
func (p *pod) volumes(t *testing.T) map[string]string {
	t.Helper()
	at := map[string]string{}
	for _, v := range p.spec.Volumes {
		dir := filepath.Join(p.dir, "volumes", v.Name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		at[v.Name] = dir
		var err error
		switch {
		case v.ConfigMap != nil:
			p.mounted[v.ConfigMap.Name] = dir
			err = swap(dir, p.rendered.configs[v.ConfigMap.Name].Data)
		case v.EmptyDir != nil && v.EmptyDir.Medium == corev1.StorageMediumMemory && v.EmptyDir.SizeLimit != nil:
			if v.Name == "run" {
				p.memory = dir
			}
			err = unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("mode=777,size=%d", v.EmptyDir.SizeLimit.Value()))
		case v.Projected != nil:
			err = p.account.Mount(dir)
		case v.HostPath != nil && *v.HostPath.Type == corev1.HostPathCharDev:
			var stat os.FileInfo
			if stat, err = os.Stat(v.HostPath.Path); err == nil && stat.Mode()&os.ModeCharDevice == 0 {
				err = fmt.Errorf("%s is no device", v.HostPath.Path)
			}
			at[v.Name] = v.HostPath.Path
		default:
			err = fmt.Errorf("the lab knows no such volume")
		}
		if err != nil {
			t.Fatalf("volume %s: %v", v.Name, err)
		}
	}
	return at
}

// generations counts the contents of ConfigMaps.
var generations atomic.Int64

// swap gives a ConfigMap's folder new content as the kubelet does: a new folder, and
// one rename of the link ..data that all keys lead through.
func swap(dir string, data map[string]string) error {
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
