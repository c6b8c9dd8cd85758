package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// act is one run in the life of an estate; before it, edit changes the manifests.
type act struct {
	edit func(l *life)
	args []string
}

var (
	create = act{args: []string{"apply", "--auto-approve"}}
	update = act{args: []string{"apply", "--auto-approve"}, edit: func(l *life) {
		l.edit("gateways/acme/plant1.yaml", "198.51.100.7", "198.51.100.77")
		l.edit("gateways/acme/gateway.yaml", "name: ldap", "name: directory")
		l.edit("gateways/globex/people.yaml", "exposures: [erp, git]", "exposures: [erp]")
		l.edit("gateways/initech/gateway.yaml", "ports: [9100]", "ports: [9101]")
	}}
	drain = act{args: []string{"apply", "--auto-approve", "--prune"}, edit: func(l *life) {
		for _, gone := range []string{"gateways/acme", "gateways/initech"} {
			l.must(os.RemoveAll(filepath.Join(l.dir, gone)))
		}
	}}
	prune = act{args: []string{"apply", "--auto-approve", "--prune", "--pods-gone"}}
)

// lives end in the act that is disturbed, that many times.
var lives = []struct {
	name  string
	acts  []act
	times int
}{
	{"create", []act{create}, 26},
	{"update", []act{create, update}, 8},
	{"drain", []act{create, drain}, 8},
	{"prune", []act{create, drain, prune}, 8},
}

// TestKilledAtRandom kills 50 whole processes with signal 9 at random moments of
// a run. The next run, undisturbed, must lead to the cloud and the tree of a life
// in which nobody was killed: nothing missing, nothing left over, the lock
// included. Under the race detector, with which each process is several times
// slower, a fifth of them is killed.
func TestKilledAtRandom(t *testing.T) {
	killed, middle := disturb(t, syscall.SIGKILL, 1, func(l *life, d disturbed) { l.expire() })
	fmt.Printf("killed with -9: %d processes, %d of them between their first and their last write\n", killed, middle)
	if middle == 0 {
		t.Error("no process was killed in the middle: the moments are badly chosen")
	}
}

// TestInterruptedAtRandom sends Ctrl-C instead. Such a run takes its lock along,
// so that the next one need not wait, and says where it stopped.
func TestInterruptedAtRandom(t *testing.T) {
	stopped, middle := disturb(t, syscall.SIGINT, 5, func(l *life, d disturbed) {
		switch d.code {
		case exitDone: // the call in flight was the last one
		case -1: // it had given the signals back, and was about to exit
			if !strings.Contains(d.out, "Applied ") {
				l.t.Errorf("the signal ended it:\n%s", d.out)
			}
		case exitInterrupted: // it was still reading
			if !strings.Contains(d.out, "vpnctl: interrupted") {
				l.t.Errorf("exit %d says nothing of an interruption:\n%s", d.code, d.out)
			}
		case exitError:
			said := strings.Join(strings.Fields(d.out), " ") // however its lines are broken
			if !strings.Contains(said, " not done: ") || !strings.Contains(said, "run apply again") {
				l.t.Errorf("exit %d doesn't say where it stopped:\n%s", d.code, d.out)
			}
		default:
			l.t.Errorf("exit %d:\n%s", d.code, d.out)
		}
		for _, p := range l.snapshot().Of("port") {
			if strings.HasPrefix(p.Text("name"), "vpnctl-lock-") {
				l.t.Errorf("the lock is left behind:\n%s", d.out)
			}
		}
	})
	fmt.Printf("interrupted: %d processes, %d of them between their first and their last write\n", stopped, middle)
	if middle == 0 {
		t.Error("no process was interrupted in the middle: the moments are badly chosen")
	}
}

// disturb ends the last run of each life with a signal, as often as the life
// says divided by a divisor, and lets the run be repeated after what recovering
// does. It returns how many processes the signal reached, and how many of these
// had begun to write and would have written more.
func disturb(t *testing.T, signal syscall.Signal, divisor int, recovering func(*life, disturbed)) (reached, middle int) {
	var mu sync.Mutex
	t.Run("lives", func(t *testing.T) {
		for _, life := range lives {
			t.Run(life.name, func(t *testing.T) {
				t.Parallel()
				whole := undisturbed(t, life.acts)
				moments := rand.New(rand.NewPCG(20260301, uint64(len(life.acts))+uint64(life.times)))
				for got := 0; got < max(1, life.times/divisor/slower); {
					after := time.Duration(moments.Int64N(int64(whole.took)))
					l, d := disturbedLife(t, life.acts, signal, after)
					if !d.reached {
						continue // it was through before its moment came
					}
					got++
					mu.Lock()
					reached++
					if d.writes > 0 && d.writes < whole.writes {
						middle++
					}
					mu.Unlock()
					recovering(l, d)
					last := life.acts[len(life.acts)-1]
					l.run(last.args)
					l.run(append([]string{"plan", "--detailed-exitcode"}, last.args[2:]...))
					if diff := cmp.Diff(whole.look, l.look()); diff != "" {
						t.Fatalf("%s after %s, %d of %d writes begun (-undisturbed +recovered):\n%s\nthe run said:\n%s", signal, after, d.writes, whole.writes, diff, d.out)
					}
				}
			})
		}
	})
	return reached, middle
}

// course is how a life went that nobody disturbed.
type course struct {
	look   string
	took   time.Duration // the last run, from its first call to its end
	writes int           // of the last run
}

func undisturbed(t *testing.T, acts []act) course {
	t.Helper()
	l := newLife(t)
	l.live(acts)
	var began time.Time
	l.onArrival(func() { began = time.Now() })
	last := acts[len(acts)-1]
	l.run(last.args)
	c := course{look: l.look(), took: time.Since(began), writes: l.writes()}
	l.run(append([]string{"plan", "--detailed-exitcode"}, last.args[2:]...))
	return c
}

// disturbed is what became of a run that a signal was sent to.
type disturbed struct {
	reached bool // the signal found the process running
	writes  int  // calls that change something, begun by then
	code    int
	out     string
}

// disturbedLife sends a signal to the last run, some time after its first call.
func disturbedLife(t *testing.T, acts []act, signal syscall.Signal, after time.Duration) (*life, disturbed) {
	t.Helper()
	l := newLife(t)
	l.live(acts)
	cmd, out := l.process(acts[len(acts)-1].args)
	first := make(chan struct{})
	l.onArrival(func() { close(first) })
	l.must(cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	d := disturbed{}
	select {
	case <-first:
		time.Sleep(after)
		d.reached = cmd.Process.Signal(signal) == nil
		d.writes = l.writes()
	case err := <-ended:
		t.Fatalf("it ended before its first call: %v\n%s", err, out)
	}
	return l, d.end(l, <-ended, out)
}

func (d disturbed) end(l *life, err error, out *bytes.Buffer) disturbed {
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		d.code = failed.ExitCode() // -1: ended by the signal
	} else {
		l.must(err)
	}
	d.out = out.String()
	return d
}

// live runs all acts but the last, whose edits are made.
func (l *life) live(acts []act) {
	l.t.Helper()
	for i, a := range acts {
		if a.edit != nil {
			a.edit(l)
		}
		if i < len(acts)-1 {
			l.run(a.args)
		}
	}
	l.sim.Reset()
}

// onArrival calls f once, when the next call arrives.
func (l *life) onArrival(f func()) {
	var once sync.Once
	hook := func(int, *http.Request) { once.Do(f) }
	l.arrived.Store(&hook)
}

// writes counts the calls that change something since the last act began.
func (l *life) writes() int {
	n := 0
	for _, c := range l.sim.Calls() {
		if c.Write() {
			n++
		}
	}
	return n
}
