//go:build e2e

package lab

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The processes of the cluster.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	Kubelets          = "kwok"
)

// Up starts the processes of the cluster that don't run, and waits until it answers
// and the nodes are ready that aren't lost. An API server that has started anew refuses watches that go
// on from a version before, if anything was written after that, as expired.
func (l *Lab) Up(t testing.TB) {
	t.Helper()
	l.run(t, "up")
}

// Stop ends processes of the lab in good order. They run again when the test is over,
// or after Up.
func (l *Lab) Stop(t testing.TB, processes ...string) {
	t.Helper()
	t.Cleanup(func() { l.Up(t) })
	l.run(t, "down", processes...)
}

// Kill ends a process of the lab at once, as a crash does. It runs again when the
// test is over, or after Up.
func (l *Lab) Kill(t testing.TB, process string) {
	t.Helper()
	t.Cleanup(func() { l.Up(t) })
	pid := l.pid(t, process)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatalf("killing %s, process %d: %v", process, pid, err)
	}
	l.run(t, "down", process) // waits until it is gone
}

// Compact has etcd forget all versions but the present one, as the API server does every
// five minutes. What asks for an older one, to go on with a watch or a list, is told that
// it has expired, once the API server has started anew, or has it no more itself.
func (l *Lab) Compact(t testing.TB) {
	t.Helper()
	var status struct{ Header struct{ Revision string } }
	l.etcd(t, "maintenance/status", "{}", &status)
	if status.Header.Revision == "" {
		t.Fatal("etcd doesn't say at which version it is")
	}
	l.etcd(t, "kv/compaction", `{"physical": true, "revision": "`+status.Header.Revision+`"}`, &status)
}

// etcd calls it by the gateway that it has for HTTP.
func (l *Lab) etcd(t testing.TB, call, body string, answer any) {
	t.Helper()
	client := http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{}} // by no proxy
	got, err := client.Post(fmt.Sprintf("http://127.0.0.1:%d/v3/%s", l.port(t, 1), call), "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil || got.StatusCode != http.StatusOK || json.Unmarshal(text, answer) != nil {
		t.Fatalf("etcd, %s: %s %s %v", call, got.Status, text, err)
	}
}

// port is one of the lab's, which stand in a row as lib.sh says.
func (l *Lab) port(t testing.TB, place int) int {
	t.Helper()
	first, err := os.ReadFile(filepath.Join(l.dir, "ports"))
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(strings.TrimSpace(string(first)))
	if err != nil {
		t.Fatal(err)
	}
	return port + place
}

// pid reads the number of a process, which is the lab's if it began when the pid
// file says.
func (l *Lab) pid(t testing.TB, process string) int {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(l.dir, "run", process+".pid"))
	if err != nil {
		t.Fatal(err)
	}
	number, moment, _ := strings.Cut(strings.TrimSpace(string(data)), " ")
	stat, err := os.ReadFile(filepath.Join("/proc", number, "stat"))
	if err != nil {
		t.Fatalf("%s doesn't run: %v", process, err)
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	pid, err := strconv.Atoi(number)
	if err != nil || len(fields) < 20 || fields[19] != moment {
		t.Fatalf("%s doesn't run: its pid file says %q", process, data)
	}
	return pid
}
