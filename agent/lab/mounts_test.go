//go:build e2e

package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"

	"github.com/vpnctl/vpnctl/agent/lab/configmap"
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
			err = configmap.Swap(dir, p.rendered.configs[v.ConfigMap.Name].Data)
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
