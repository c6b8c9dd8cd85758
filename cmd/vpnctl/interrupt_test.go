package main

import (
	"errors"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// Whatever asks an apply to end lets it finish its call, say where it stopped,
// and take its lock along.
func TestWhatStopsAnApply(t *testing.T) {
	handed := make(chan os.Signal, 1) // what these tests ignore, under nohup, the processes that they start would ignore, too
	signal.Notify(handed, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(handed) })
	for sentence, signals := range map[string][]syscall.Signal{
		"Ctrl-C":                                 {syscall.SIGINT},
		"a request to terminate":                 {syscall.SIGTERM},
		"the end of the terminal":                {syscall.SIGHUP},
		"the end of the terminal, as told twice": {syscall.SIGHUP, syscall.SIGHUP},
		"a service that is stopped":              {syscall.SIGTERM, syscall.SIGHUP},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			l := newLife(t)
			cmd, out := l.process([]string{"apply", "--auto-approve", "--parallelism", "1"})
			started := make(chan struct{})
			l.onGroup(func() {
				<-started
				for _, s := range signals {
					_ = cmd.Process.Signal(s) // gone means ended, which is looked at below
				}
			})
			l.must(cmd.Start())
			close(started)
			if code := l.code(cmd.Wait()); code != exitError {
				t.Errorf("exit %d, want %d", code, exitError)
			}
			if said := strings.Join(strings.Fields(out.String()), " "); !strings.Contains(said, " not done: ") {
				t.Errorf("it doesn't say where it stopped:\n%s", out)
			}
			l.unlocked()
		})
	}
}

// A run whose output nobody reads any more ends as after any other error: with a
// code of its own, and without its lock.
func TestNobodyReadsWhatAnApplySays(t *testing.T) {
	for sentence, c := range map[string]struct {
		stdout, stderr bool // closed
		code           int
	}{
		"the plan":        {true, false, exitError},
		"the progress":    {false, true, exitDone},
		"neither of both": {true, true, exitError},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			l := newLife(t)
			r, w, err := os.Pipe()
			l.must(err)
			l.must(r.Close())
			cmd, out := l.process([]string{"apply", "--auto-approve"})
			if c.stdout {
				cmd.Stdout = w
			}
			if c.stderr {
				cmd.Stderr = w
			}
			code := l.code(cmd.Run())
			l.must(w.Close())
			if code != c.code {
				t.Errorf("exit %d, want %d:\n%s", code, c.code, out)
			}
			if c.stdout && !c.stderr && !strings.Contains(out.String(), "broken pipe") {
				t.Errorf("it doesn't say why it ended:\n%s", out)
			}
			l.unlocked()
		})
	}
}

// onGroup calls f once, when the first security group is asked for: by then the
// run holds the lock.
func (l *life) onGroup(f func()) {
	var once sync.Once
	hook := func(_ int, r *http.Request) {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/security-groups") {
			once.Do(f)
		}
	}
	l.arrived.Store(&hook)
}

// code is how a process ended; -1: by a signal.
func (l *life) code(err error) int {
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return failed.ExitCode()
	}
	l.must(err)
	return exitDone
}

// unlocked wants no lock to be left.
func (l *life) unlocked() {
	l.t.Helper()
	for _, p := range l.snapshot().Of("port") {
		if strings.HasPrefix(p.Text("name"), "vpnctl-lock-") {
			l.t.Error("the lock is left behind")
		}
	}
}
