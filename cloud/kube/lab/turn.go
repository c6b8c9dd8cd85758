//go:build e2e

package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// several names how many labs tests may use side by side. Unset: one.
const several = "VPNCTL_KUBELABS"

// turn waits for a lab that no test uses, of this process or another, and keeps it until
// the test is over. The labs stand beside the first:
//
//	/tmp/vpnctl-kubelab/kubeconfig
//	/tmp/vpnctl-kubelab-2/kubeconfig
//	/tmp/vpnctl-kubelab-3/kubeconfig
func turn(t testing.TB, first string) (kubeconfig string) {
	t.Helper()
	labs := 1
	if text := os.Getenv(several); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("%s=%s: not a number of labs", several, text)
		}
		labs = n
	}
	for ; ; time.Sleep(200 * time.Millisecond) {
		for n := range labs {
			kubeconfig := first
			if n > 0 {
				kubeconfig = filepath.Join(fmt.Sprintf("%s-%d", filepath.Dir(first), n+1), filepath.Base(first))
			}
			if taken(t, kubeconfig) {
				return kubeconfig
			}
		}
	}
}

// taken tells whether a lab was free. It is the test's until that is over, or its process.
func taken(t testing.TB, kubeconfig string) bool {
	t.Helper()
	dir := filepath.Dir(kubeconfig)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(filepath.Join(dir, "turn"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		file.Close()
		return false
	}
	t.Cleanup(func() { file.Close() })
	return true
}
