package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// TestAskedOnATerminal: whatever is typed instead of yes ends an apply at once, with
// one key, and leaves everything as it was: the cloud, the files, and the terminal.
func TestAskedOnATerminal(t *testing.T) {
	for sentence, c := range map[string]struct {
		typed, says string
		code        int
	}{
		"Ctrl-C":              {"\x03", "vpnctl: interrupted", exitInterrupted},
		"Ctrl-C after a word": {"yes\x03", "vpnctl: interrupted", exitInterrupted},
		"Ctrl-D":              {"\x04", "Nothing was changed.", exitError},
		"no":                  {"no\r", "Nothing was changed.", exitError},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			l := newLife(t)
			before := l.look()
			cmd, _ := l.process([]string{"apply"})
			tty := openTerminal(t, cmd)
			modes := tty.modes()
			l.must(cmd.Start())
			tty.await("Only yes will do: ")
			tty.enter(c.typed)
			if code := l.ended(cmd); code != c.code {
				t.Errorf("exit %d, want %d", code, c.code)
			}
			tty.await(c.says + "\r\n")
			if !strings.Contains(tty.said(), "\r\n"+c.says) {
				t.Errorf("it doesn't begin a line of its own: %q", c.says)
			}
			l.unlocked()
			if diff := cmp.Diff(before, l.look()); diff != "" {
				t.Errorf("something was changed (-before +after):\n%s", diff)
			}
			if diff := cmp.Diff(modes, tty.modes()); diff != "" {
				t.Errorf("the terminal is not what it was (-before +after):\n%s", diff)
			}
		})
	}
}

// TestManifestsAreTyped: so does reading manifests from a terminal.
func TestManifestsAreTyped(t *testing.T) {
	for _, command := range []string{"validate", "plan", "apply"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			l := newLife(t)
			cmd, _ := l.process([]string{command, "-"})
			tty := openTerminal(t, cmd)
			l.must(cmd.Start())
			tty.enter("apiVersion: vpn.bnerd.net/v1alpha1\r")
			tty.await("alpha1\r\n") // the echo
			tty.taken()
			tty.enter("\x03")
			if code := l.ended(cmd); code != exitInterrupted {
				t.Errorf("exit %d, want %d", code, exitInterrupted)
			}
			tty.await("vpnctl: interrupted\r\n")
			l.unlocked()
		})
	}
}

// ended waits for a process that has no reason to go on, and is how it ended.
func (l *life) ended(cmd *exec.Cmd) int {
	l.t.Helper()
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		return l.code(err)
	case <-time.After(10 * time.Second):
		l.must(cmd.Process.Kill())
		<-done
		l.t.Fatal("it still waits")
		return -1
	}
}

// tty is a terminal and whoever sits before it.
type tty struct {
	t          *testing.T
	hand, line *os.File
	shown      bytes.Buffer
}

// openTerminal is a new terminal that a process will be run on, as from a shell.
func openTerminal(t *testing.T, cmd *exec.Cmd) *tty {
	t.Helper()
	hand, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { hand.Close() })
	if err := unix.IoctlSetPointerInt(int(hand.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(hand.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	line, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { line.Close() })
	cmd.Stdin, cmd.Stdout, cmd.Stderr = line, line, line
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	return &tty{t: t, hand: hand, line: line}
}

func (y *tty) modes() unix.Termios {
	y.t.Helper()
	m, err := unix.IoctlGetTermios(int(y.line.Fd()), unix.TCGETS)
	if err != nil {
		y.t.Fatal(err)
	}
	return *m
}

func (y *tty) enter(keys string) {
	y.t.Helper()
	if _, err := y.hand.WriteString(keys); err != nil {
		y.t.Fatal(err)
	}
}

// taken waits until what was entered has been read.
func (y *tty) taken() {
	y.t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		n, err := unix.IoctlGetInt(int(y.line.Fd()), unix.TIOCINQ)
		if err != nil {
			y.t.Fatal(err)
		}
		if n == 0 {
			return
		}
	}
	y.t.Fatal("nobody reads what was entered")
}

// await reads until a text is shown.
func (y *tty) await(text string) {
	y.t.Helper()
	end := time.Now().Add(20 * time.Second)
	for !strings.Contains(y.said(), text) {
		ready, err := unix.Poll([]unix.PollFd{{Fd: int32(y.hand.Fd()), Events: unix.POLLIN}}, 100)
		if err != nil && err != unix.EINTR {
			y.t.Fatal(err)
		}
		if ready > 0 {
			part := make([]byte, 4096)
			n, err := y.hand.Read(part)
			if err != nil {
				y.t.Fatal(err)
			}
			y.shown.Write(part[:n])
		}
		if time.Now().After(end) {
			y.t.Fatalf("%q is not shown:\n%s", text, y.said())
		}
	}
}

func (y *tty) said() string { return y.shown.String() }
