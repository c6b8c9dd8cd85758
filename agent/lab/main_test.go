//go:build e2e

package lab

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// The test binary starts itself anew in two roles, told by these variables.
const (
	insideVariable    = "VPNCTL_LAB_INSIDE"    // folder of the lab; set: in namespaces of its own
	containerVariable = "VPNCTL_LAB_CONTAINER" // what a container is made of, as JSON
)

// TestMain runs the tests in mount and process namespaces of their own. The tests are
// the first process there, so all others end with them.
func TestMain(m *testing.M) {
	if spec := os.Getenv(containerVariable); spec != "" {
		fmt.Fprintln(os.Stderr, "starting the container:", becomeContainer(spec))
		os.Exit(127)
	}
	if os.Getenv(insideVariable) == "" {
		os.Exit(outside())
	}
	if err := inside(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	// The labs stand side by side, however few processors there are: they wait more than
	// they work.
	flag.Parse()
	if err := flag.Set("test.parallel", "4"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// outside runs this program once more in new namespaces, and gives its exit code.
func outside() int {
	dir, err := os.MkdirTemp("", "vpnctl-lab-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Env = append(os.Environ(), insideVariable+"="+dir)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID, Pdeathsig: syscall.SIGKILL}
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "the lab wants root:", err)
		return 1
	}
	go func() {
		<-interrupts
		cmd.Process.Kill()
	}()
	err = cmd.Wait()
	if exit := (&exec.ExitError{}); errors.As(err, &exit) && exit.ExitCode() >= 0 {
		return exit.ExitCode()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// inside gives the namespaces what they need. Nothing of it is seen outside.
func inside() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("making mounts private: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return fmt.Errorf("mounting /proc: %w", err)
	}
	for _, dir := range []string{labDir(), "/run"} {
		if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "mode=755"); err != nil {
			return fmt.Errorf("mounting %s: %w", dir, err)
		}
	}
	for _, dir := range []string{"/run/netns", "/run/wireguard", "/run/lock"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// labDir is a memory file system that ends with the tests.
func labDir() string { return os.Getenv(insideVariable) }

// labPath is a place of a test's own there.
func labPath(t *testing.T, parts ...string) string {
	return filepath.Join(append([]string{labDir(), scope(t)}, parts...)...)
}

// scope is the name of the whole test, so that labs can stand side by side.
func scope(t *testing.T) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(t.Name(), "Test"), "/")
	return strings.ToLower(name)
}
