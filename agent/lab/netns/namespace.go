//go:build e2e

package netns

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// Namespace is a network namespace, known to ip(8) by its name.
type Namespace string

// made counts a run's namespaces, so that tests may give the same label.
var made atomic.Int64

// New makes a namespace that lasts as long as the test. Its loopback is up; IPv6 and
// reverse path filters are off, whatever the machine's settings. The package's tests
// must run in Main.
func New(t *testing.T, label string) Namespace {
	t.Helper()
	if Dir() == "" {
		t.Fatal("network namespaces are made in netns.Main alone")
	}
	n := Namespace(fmt.Sprintf("vp-%d-%s", made.Add(1), label))
	Run(t, "ip", "netns", "add", string(n))
	t.Cleanup(func() { Run(t, "ip", "netns", "del", string(n)) })
	n.IP(t, "link set lo up")
	n.Sysctl(t, "net.ipv6.conf.all.disable_ipv6", "1")
	n.Sysctl(t, "net.ipv4.conf.all.rp_filter", "0")
	n.Sysctl(t, "net.ipv4.conf.default.rp_filter", "0")
	return n
}

// Label is what the test called it.
func (n Namespace) Label() string { return strings.SplitN(string(n), "-", 3)[2] }

// IP runs ip(8) for each line, and returns all that it prints.
func (n Namespace) IP(t *testing.T, lines ...string) string {
	t.Helper()
	var all strings.Builder
	for _, line := range lines {
		all.WriteString(Run(t, "ip", append([]string{"-n", string(n)}, strings.Fields(line)...)...))
	}
	return all.String()
}

// Sysctl writes a setting of the namespace. One that the kernel lacks is left out.
func (n Namespace) Sysctl(t *testing.T, name, value string) {
	t.Helper()
	err := n.Do(func() error {
		return os.WriteFile("/proc/sys/"+strings.ReplaceAll(name, ".", "/"), []byte(value), 0o644)
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
}

// Do calls f on a thread that is in the namespace. Processes and sockets that f makes
// are of the namespace, and stay so. The thread ends with f, which may change what else
// is the thread's own; f must not end the test.
func (n Namespace) Do(f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread may not find its way back
		file, err := os.Open("/run/netns/" + string(n))
		if err == nil {
			defer file.Close()
			err = unix.Setns(int(file.Fd()), unix.CLONE_NEWNET)
		}
		if err != nil {
			done <- fmt.Errorf("entering %s: %w", n, err)
			return
		}
		done <- f()
	}()
	return <-done
}

// Start starts a process of the namespace.
func (n Namespace) Start(cmd *exec.Cmd) error { return n.Do(cmd.Start) }

// Command is a process of the namespace that has mounts of its own as well.
func (n Namespace) Command(words ...string) *exec.Cmd {
	return exec.Command("ip", append([]string{"netns", "exec", string(n)}, words...)...)
}

// Run runs a command in the namespace and returns what it prints.
func (n Namespace) Run(t *testing.T, words ...string) string {
	t.Helper()
	return Run(t, "ip", append([]string{"netns", "exec", string(n)}, words...)...)
}

// Nft loads a ruleset.
func (n Namespace) Nft(t *testing.T, ruleset string) {
	t.Helper()
	cmd := n.Command("nft", "-f", "-")
	cmd.Stdin = strings.NewReader(ruleset)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("nft in %s: %v\n%s", n, err, out)
	}
}

// Wire joins two namespaces by a pair of interfaces.
func Wire(t *testing.T, a Namespace, nameA string, b Namespace, nameB string) {
	t.Helper()
	a.IP(t, fmt.Sprintf("link add %s type veth peer name %s netns %s", nameA, nameB, b), "link set "+nameA+" up")
	b.IP(t, "link set "+nameB+" up")
}
