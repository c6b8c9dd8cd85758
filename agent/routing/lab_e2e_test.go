//go:build e2e

package routing

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// These tests want root and ip(8), and make network namespaces of their own.

const mac = "fa:16:3e:00:00:10"

// pod is a network namespace with the cluster's interface and the port's.
type pod struct {
	t    *testing.T
	name string
}

func newPod(t *testing.T) pod {
	t.Helper()
	p := pod{t, fmt.Sprintf("vp-routing-%d", os.Getpid())}
	t.Cleanup(func() { _ = exec.Command("ip", "netns", "delete", p.name).Run() })
	if out, err := exec.Command("ip", "netns", "add", p.name).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p.ip("link set lo up", "link add eth0 type veth peer name cluster", "link set eth0 up", "link set cluster up",
		"addr add 172.30.0.5/16 dev eth0", "route add default via 172.30.0.1")
	return p
}

func (p pod) attach() {
	p.t.Helper()
	p.ip("link add net1 address "+mac+" type veth peer name fabric", "link set fabric up", "addr add 10.91.0.10/32 dev net1", "link set net1 up")
}

// ip runs ip(8) once for each line.
func (p pod) ip(lines ...string) string {
	p.t.Helper()
	var all strings.Builder
	for _, line := range lines {
		out, err := exec.Command("ip", append([]string{"-n", p.name}, strings.Fields(line)...)...).CombinedOutput()
		if err != nil {
			p.t.Fatalf("ip %s: %v: %s", line, err, out)
		}
		all.Write(out)
	}
	return all.String()
}

// in runs a function on a thread in the namespace, which isn't used again.
func (p pod) in(f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		file, err := os.Open("/var/run/netns/" + p.name)
		if err == nil {
			defer file.Close()
			err = unix.Setns(int(file.Fd()), unix.CLONE_NEWNET)
		}
		if err == nil {
			err = f()
		}
		done <- err
	}()
	return <-done
}

// ensure does what the agent's upkeep does, and fails the test on an error.
func (p pod) ensure(plan Plan) {
	p.t.Helper()
	if err := p.in(func() error { return Ensure(plan) }); err != nil {
		p.t.Fatal(err)
	}
}

func (p pod) find() (name string, found bool) {
	p.t.Helper()
	err := p.in(func() (err error) { name, found, err = Find(mac); return err })
	if err != nil {
		p.t.Fatal(err)
	}
	return name, found
}

// state is everything that the package looks after, as ip(8) shows it.
func (p pod) state() string {
	p.t.Helper()
	return trim(p.ip("rule show", "-4 route show table all", "-4 -br addr show dev lo"))
}

func trim(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return strings.Join(lines, "\n")
}

func (p pod) want(command, want string) {
	p.t.Helper()
	if diff := cmp.Diff(trim(strings.TrimPrefix(want, "\n")), trim(p.ip(command))); diff != "" {
		p.t.Errorf("ip %s (-want +got)\n%s", command, diff)
	}
}

// readOnlyProc shows the calling thread /proc/sys as a container runtime does.
func readOnlyProc() error {
	if err := unix.Unshare(unix.CLONE_FS | unix.CLONE_NEWNS); err != nil {
		return err
	}
	if err := unix.Mount("", "/", "", unix.MS_PRIVATE|unix.MS_REC, ""); err != nil {
		return err
	}
	if err := unix.Mount("/proc/sys", "/proc/sys", "", unix.MS_BIND, ""); err != nil {
		return err
	}
	return unix.Mount("", "/proc/sys", "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, "")
}
