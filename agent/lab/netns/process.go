//go:build e2e

package netns

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// Run runs a command and returns what it prints. It may take a minute.
func Run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := Output(name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Output is Run where failing is an answer too.
func Output(name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

// patience is how long what is meant to take a moment may take where the machine is busy
// with others.
const patience = 20 * time.Second

// Eventually waits for something to become true, and returns how long that took. What
// takes longer than it should is told; it fails the test only where a busy machine can't
// be why.
func Eventually(t *testing.T, what string, within time.Duration, is func() bool) time.Duration {
	t.Helper()
	start := time.Now()
	for !is() {
		if longest := max(within, patience); time.Since(start) > longest {
			t.Fatalf("not within %s: %s", longest, what)
		}
		time.Sleep(50 * time.Millisecond)
	}
	took := time.Since(start)
	t.Logf("%-58s %8s  (bound %s)", what, took.Round(10*time.Millisecond), within)
	return took
}

// Log is a process's output, readable while it is written.
type Log struct {
	mu   sync.Mutex
	text []byte
}

func (l *Log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, b...)
	return len(b), nil
}

func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.text)
}

// Tail are the last n bytes.
func (l *Log) Tail(n int) string {
	text := l.String()
	return text[max(0, len(text)-n):]
}
