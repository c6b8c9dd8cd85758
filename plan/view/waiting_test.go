package view

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/roster"
)

// TestWaiting: elsewhere than on a terminal a line tells of each change, once.
func TestWaiting(t *testing.T) {
	var out bytes.Buffer
	w := NewWaiting(&out, ProgressOptions{Now: func() time.Time { return noon }})
	waits := []Waited{{Name: "acme/dc1", Text: "Pending: \x1b[2Jport"}, {Name: "globex/remote", Text: "not looked at yet"}}
	w.Set(waits, "")
	w.Tick()
	w.Set(waits, Away(roster.Away{Since: noon, Err: errors.New("connection\nrefused")}))
	w.Set([]Waited{waits[0], {Name: "globex/remote", Met: true, Text: "ready"}}, "")
	w.Close()
	want := `= acme/dc1  Pending: \x1b[2Jport
= globex/remote  not looked at yet
cluster away since 2026-03-01T12:00:00Z: connection refused
cluster is back
✓ globex/remote  ready
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestWaitingLive: a terminal has a line for each that is waited for, in its width.
func TestWaitingLive(t *testing.T) {
	var out bytes.Buffer
	w := NewWaiting(&out, ProgressOptions{Live: true, Width: 30, Now: func() time.Time { return noon }})
	var all []Waited
	for i := range 14 {
		all = append(all, Waited{Name: fmt.Sprintf("acme/g%02d", i), Met: i == 0, Text: strings.Repeat("long ", 10)})
	}
	w.Set(all, "")
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != 14 || lines[12] != "  and 1 more gateway" || lines[13] != "1 of 14 after 0s" {
		t.Errorf("it shows %q", lines)
	}
	for _, l := range lines {
		if length(l) > 29 {
			t.Errorf("%d characters: %s", length(l), l)
		}
	}
	out.Reset()
	w.Close()
	if got := out.String(); got != "\x1b[14A\x1b[J" {
		t.Errorf("at the end %q", got)
	}
}
