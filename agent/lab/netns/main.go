//go:build e2e

package netns

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// insideVariable is the folder of a run. It is set where the tests are in namespaces of
// their own.
const insideVariable = "VPNCTL_LAB_INSIDE"

// Main runs the tests in mount and process namespaces of their own, and returns the exit
// code. The tests are the first process there, so all others end with them.
func Main(m *testing.M) int {
	if Dir() == "" {
		return outside()
	}
	if err := inside(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// Dir is a memory file system that ends with the tests.
func Dir() string { return os.Getenv(insideVariable) }

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
		fmt.Fprintln(os.Stderr, "tests with network namespaces want root:", err)
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
	for _, dir := range []string{Dir(), "/run"} {
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
