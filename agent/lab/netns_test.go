//go:build e2e

package lab

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// netns is a network namespace, known to ip(8) by its name.
type netns string

func newNetns(t *testing.T, name string) netns {
	t.Helper()
	n := netns("vp-lab-" + scope(t) + "-" + name)
	run(t, "ip", "netns", "add", string(n))
	n.ip(t, "link set lo up")
	n.sysctl(t, "net.ipv6.conf.all.disable_ipv6", "1")
	n.sysctl(t, "net.ipv4.conf.all.rp_filter", "0")
	n.sysctl(t, "net.ipv4.conf.default.rp_filter", "0")
	return n
}

// label is the name within its lab.
func (n netns) label() string { return strings.SplitN(string(n), "-", 4)[3] }

func (n netns) ip(t *testing.T, commands ...string) {
	t.Helper()
	for _, c := range commands {
		run(t, "ip", append([]string{"-n", string(n)}, strings.Fields(c)...)...)
	}
}

// sysctl writes a setting of the namespace.
func (n netns) sysctl(t *testing.T, name, value string) {
	t.Helper()
	err := n.do(func() error {
		return os.WriteFile("/proc/sys/"+strings.ReplaceAll(name, ".", "/"), []byte(value), 0o644)
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
}

// do calls f on a thread that is in the namespace. Processes and sockets that f makes
// are of the namespace, and stay so.
func (n netns) do(f func() error) error {
	runtime.LockOSThread()
	back, err := os.Open(fmt.Sprintf("/proc/%d/task/%d/ns/net", os.Getpid(), unix.Gettid()))
	if err != nil {
		return err
	}
	defer back.Close()
	there, err := os.Open("/run/netns/" + string(n))
	if err != nil {
		return err
	}
	defer there.Close()
	if err := unix.Setns(int(there.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("entering %s: %w", n, err)
	}
	result := f()
	if err := unix.Setns(int(back.Fd()), unix.CLONE_NEWNET); err != nil {
		return err // the thread stays locked and ends with its goroutine
	}
	runtime.UnlockOSThread()
	return result
}

// start starts a process of the namespace.
func (n netns) start(cmd *exec.Cmd) error { return n.do(cmd.Start) }

// listen opens a TCP listener on a literal address.
func (n netns) listen(address string) (l net.Listener, err error) {
	err = n.do(func() error { l, err = net.Listen("tcp", address); return err })
	return l, err
}

// dial opens a TCP connection from an address, empty for any, to a literal one.
func (n netns) dial(from, to string, within time.Duration) (c net.Conn, err error) {
	d := net.Dialer{Timeout: within}
	if from != "" {
		d.LocalAddr = &net.TCPAddr{IP: net.ParseIP(from)}
	}
	err = n.do(func() error { c, err = d.DialContext(context.Background(), "tcp", to); return err })
	return c, err
}

// wire joins two namespaces by a pair of interfaces.
func wire(t *testing.T, a netns, nameA string, b netns, nameB string) {
	t.Helper()
	run(t, "ip", "-n", string(a), "link", "add", nameA, "type", "veth", "peer", "name", nameB, "netns", string(b))
	a.ip(t, "link set "+nameA+" up")
	b.ip(t, "link set "+nameB+" up")
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := command(name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func command(name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

// eventually waits for something to become true, and returns how long that took.
func eventually(t *testing.T, what string, within time.Duration, is func() bool) time.Duration {
	t.Helper()
	start := time.Now()
	for !is() {
		if time.Since(start) > within {
			t.Fatalf("not within %s: %s", within, what)
		}
		time.Sleep(50 * time.Millisecond)
	}
	took := time.Since(start)
	t.Logf("%-58s %8s  (bound %s)", what, took.Round(10*time.Millisecond), within)
	return took
}

// logged is a process's output, readable while it is written.
type logged struct {
	mu   sync.Mutex
	text []byte
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, b...)
	return len(b), nil
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.text)
}

func (l *logged) tail(n int) string {
	text := l.String()
	return text[max(0, len(text)-n):]
}
