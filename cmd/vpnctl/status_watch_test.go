package main

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/cloud/kube/fakeapi"
	"github.com/vpnctl/vpnctl/plan/roster"
)

// watched is a simulated cluster with a gateway that vpnctl processes look at.
type watched struct {
	t    *testing.T
	api  *fakeapi.Server
	env  []string
	away atomic.Bool
}

func newWatched(t *testing.T) *watched {
	t.Helper()
	w := &watched{t: t, api: fakeapi.New(t, "acme")}
	w.api.Intercept(func(int, fakeapi.Call) fakeapi.Fault {
		if w.away.Load() {
			return fakeapi.Fault{Code: 503}
		}
		return fakeapi.Fault{}
	})
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := writeKubeconfig(file, w.api.Config()); err != nil {
		t.Fatal(err)
	}
	w.env = append(os.Environ(), "KUBECONFIG="+file, "NO_COLOR=1", "GORACE=atexit_sleep_ms=0")
	w.api.Put(t, map[string]any{"apiVersion": "vpn.bnerd.net/v1alpha1", "kind": "VPNPeer", "metadata": map[string]any{"namespace": "acme", "name": "plant1"},
		"spec": map[string]any{"gatewayRef": "dc1"}, "status": map[string]any{"conditions": []any{map[string]any{"type": "Authorized", "status": "True",
			"reason": "DefaultAllow", "message": "", "observedGeneration": int64(1), "lastTransitionTime": time.Now().UTC().Format(time.RFC3339)}}}})
	w.gateway("False", "DOWN")
	return w
}

// gateway writes how the gateway and its one peer stand.
func (w *watched) gateway(ready, state string) {
	w.t.Helper()
	up := map[string]string{"ESTABLISHED": "1 of 1", "DOWN": "0 of 1"}[state]
	w.api.Put(w.t, map[string]any{
		"apiVersion": "vpn.bnerd.net/v1alpha1", "kind": "VPNGateway", "metadata": map[string]any{"namespace": "acme", "name": "dc1"},
		"spec": map[string]any{"protocol": "ipsec"},
		"status": map[string]any{
			"floatingIP": "203.0.113.20", "nodeName": "worker-2", "peersUp": up, "peers": []any{map[string]any{"name": "plant1", "state": state, "up": up, "bytesIn": int64(5)}},
			"conditions": []any{map[string]any{"type": "Ready", "status": ready, "reason": "EnsurePortFailed", "message": "PortReady: no more addresses",
				"observedGeneration": int64(1), "lastTransitionTime": time.Now().UTC().Format(time.RFC3339)}},
		},
	})
}

func (w *watched) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(w.t.Context(), "vpnctl", args...)
	cmd.Env = w.env
	return cmd
}

// output is what a process writes, line by line.
type output struct {
	t     *testing.T
	lines chan string
	seen  []string
}

// listen starts a process.
func listen(t *testing.T, cmd *exec.Cmd) *output {
	t.Helper()
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	o := &output{t: t, lines: make(chan string)}
	go func() {
		defer close(o.lines)
		for s := bufio.NewScanner(pipe); s.Scan(); {
			o.lines <- s.Text()
		}
	}()
	return o
}

// await reads until a line that holds a text, and gives it.
func (o *output) await(text string) string {
	o.t.Helper()
	for late := time.After(time.Minute); ; {
		select {
		case line, open := <-o.lines:
			if !open {
				o.t.Fatalf("it ended without %q, after %q", text, o.seen)
			}
			if o.seen = append(o.seen, line); strings.Contains(line, text) {
				return line
			}
		case <-late:
			o.t.Fatalf("%q doesn't come, after %q", text, o.seen)
		}
	}
}

// interrupt is Ctrl-C; the process has to end with this code.
func (o *output) interrupt(cmd *exec.Cmd, code int) {
	o.t.Helper()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		o.t.Fatal(err)
	}
	for line := range o.lines {
		o.seen = append(o.seen, line)
	}
	_ = cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != code {
		o.t.Errorf("exit %d, want %d", got, code)
	}
}

// TestStatusWatchedByAProgram: each change is a line with its time, once, and nothing
// moves a cursor; a cluster that is away is said to be.
func TestStatusWatchedByAProgram(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	cmd := w.command("status", "--watch", "acme/dc1", "acme/dc2")
	out := listen(t, cmd)
	out.await("  acme/dc1 ready: no: EnsurePortFailed: PortReady: no more addresses, 203.0.113.20, on worker-2")
	out.await("  acme/dc1/plant1 down")
	out.await("  acme/dc2 is not in the cluster")
	w.gateway("True", "DOWN")
	out.await("  acme/dc1 ready: yes, 203.0.113.20, on worker-2")
	w.away.Store(true)
	w.api.Disconnect()
	out.await("  cluster away since ")
	w.away.Store(false)
	out.await("  cluster is back")
	w.gateway("True", "ESTABLISHED")
	line := out.await("  acme/dc1/plant1 up")
	if _, err := time.Parse(time.RFC3339, strings.Fields(line)[0]); err != nil {
		t.Error(err)
	}
	w.api.Remove(t, "VPNGateway", "acme", "dc1")
	out.await("  acme/dc1 is not in the cluster")
	out.interrupt(cmd, exitDone)
	all := strings.Join(out.seen, "\n")
	if strings.Contains(all, "\x1b") || strings.Count(all, "ready: yes") != 1 {
		t.Errorf("it wrote:\n%s", all)
	}
}

// TestStatusWatchedAsJSON: a document a line.
func TestStatusWatchedAsJSON(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	cmd := w.command("status", "--watch", "-o", "json")
	out := listen(t, cmd)
	out.await(`"state":"down"`)
	w.gateway("True", "ESTABLISHED")
	out.await(`"state":"up"`)
	out.interrupt(cmd, exitDone)
	for _, line := range out.seen {
		var d struct{ Schema string }
		if err := json.Unmarshal([]byte(line), &d); err != nil || d.Schema != roster.Schema {
			t.Errorf("%v, schema %q: %s", err, d.Schema, line)
		}
	}
}

// TestWaitInterrupted: Ctrl-C ends a wait, and says so.
func TestWaitInterrupted(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	cmd := w.command("wait", "acme/dc1")
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	out := listen(t, cmd)
	lines := bufio.NewScanner(said)
	if !lines.Scan() || lines.Text() != "= acme/dc1  EnsurePortFailed: PortReady: no more addresses" {
		t.Errorf("it waits for %q", lines.Text())
	}
	out.interrupt(cmd, exitInterrupted)
}

// TestWaitEndsWhereOnlyAnEditHelps: but not before whoever keeps the gateways could look
// at all that was edited.
func TestWaitEndsWhereOnlyAnEditHelps(t *testing.T) {
	gateway := func(status string) roster.Cluster {
		m := roster.Manifest{Generation: 1, Conditions: []roster.Condition{{Type: "Validated", Status: status, Reason: "InvalidSpec", Generation: 1}}}
		g := roster.Gateway{Touched: true, Manifest: m}
		g.Owner.Namespace, g.Owner.Name = "acme", "dc1"
		return roster.Cluster{Gateways: []roster.Gateway{g}}
	}
	v := &vigil{goal: roster.GoalReady}
	at := time.Now()
	for _, step := range []struct {
		sentence string
		after    time.Duration
		status   string
		away     string
		hopeless bool
	}{
		{"at first", 0, roster.False, "", false},
		{"a moment later", settled - 1, roster.False, "", false},
		{"when it has settled", 1, roster.False, "", true},
		{"it was mended", 1, roster.True, "", false},
		{"and is wrong again", 1, roster.False, "", false},
		{"for long", settled, roster.False, "", true},
		{"the cluster is away", settled, roster.False, "it is away", false},
		{"for long", settled, roster.False, "it is away", false},
		{"it is back", 1, roster.False, "", false},
		{"for as long as was promised", settled, roster.False, "", true},
	} {
		at, v.away = at.Add(step.after), step.away
		v.look(gateway(step.status), at)
		if got := v.hopeless(at); got != step.hopeless {
			t.Errorf("%s: %v, want %v", step.sentence, got, step.hopeless)
		}
	}
	v.command.KeepWaiting = true
	if v.hopeless(at) {
		t.Error("it was to go on")
	}
}
