package main

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// size gives a terminal its width and height.
func (y *tty) size(columns, rows uint16) {
	y.t.Helper()
	if err := unix.IoctlSetWinsize(int(y.line.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: rows}); err != nil {
		y.t.Fatal(err)
	}
}

// TestStatusWatchedOnATerminal: the table is drawn in its place, within the terminal, and
// Ctrl-C leaves that as it was.
func TestStatusWatchedOnATerminal(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	cmd := w.command("status", "--watch")
	tty := openTerminal(t, cmd)
	tty.size(70, 4)
	modes := tty.modes()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tty.await("\x1b[2J\x1b[?7l\x1b[HNAMESPACE  GATEWAY  PROTOCOL  ADDRESS       PEERS   READY  AGE\x1b[K")
	tty.await("and 2 more lines\x1b[K")
	tty.size(120, 40)
	tty.await("✗ Ready  EnsurePortFailed")
	tty.await("  plant1  down  -")
	w.away.Store(true)
	w.api.Disconnect()
	tty.await("\x1b[H! cluster away since ")
	w.away.Store(false)
	w.gateway("True", "ESTABLISHED")
	tty.await("  plant1  up  -  in 5 B  out 0 B\x1b[K\r\n\x1b[J\x1b[?7h")
	tty.enter("\x03")
	if code := (&life{t: t}).ended(cmd); code != exitDone {
		t.Errorf("exit %d, want %d", code, exitDone)
	}
	if said := tty.said(); strings.Count(said, "\x1b[?7l") != strings.Count(said, "\x1b[?7h") || strings.Count(said, "\x1b[2J") != 1 {
		t.Errorf("lines wrap no more, or it flickers: %q", said)
	}
	if tty.modes() != modes {
		t.Error("the terminal is not what it was")
	}
}

// TestWaitOnATerminal: a live line says what is missing, and goes when it has come.
func TestWaitOnATerminal(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	cmd := w.command("wait", "--for=tunnel", "acme/dc1")
	tty := openTerminal(t, cmd)
	tty.size(70, 10)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tty.await(" acme/dc1  plant1 down\r\n0 of 1 after ")
	w.gateway("False", "ESTABLISHED")
	tty.await("\x1b[J✓ acme/dc1  1 of 1 up\r\n")
	if code := (&life{t: t}).ended(cmd); code != exitDone {
		t.Errorf("exit %d, want %d", code, exitDone)
	}
}
