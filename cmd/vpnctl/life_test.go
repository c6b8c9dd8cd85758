package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/cloud/simulator"
)

// life is a checkout of all examples as one estate, and a simulated cloud on
// loopback that whole vpnctl processes talk to. Its clock is the machine's, and
// can be put forward.
type life struct {
	t       *testing.T
	dir     string
	sim     *simulator.Server
	env     []string
	ahead   atomic.Int64 // of the machine's clock, in nanoseconds
	arrived atomic.Pointer[func(n int, r *http.Request)]
}

// gateways are the folders of manifests, as written on the command line.
var gateways = []string{"gateways", "overlays/production", "overlays/staging"}

func newLife(t *testing.T) *life {
	t.Helper()
	l := &life{t: t, dir: t.TempDir()}
	l.checkOut()
	seed, err := (&Globals{Estate: filepath.Join(l.dir, "vpnctl.yaml")}).seed()
	l.must(err)
	l.sim, err = simulator.New(simulator.Options{Seed: seed, Clock: l.now, Intercept: l.intercept, Keep: simulator.All})
	l.must(err)
	url, closed, err := l.sim.Listen("127.0.0.1:0")
	l.must(err)
	t.Cleanup(func() { l.must(closed()) })
	access, err := l.sim.Credentials(url, "operator")
	l.must(err)
	clouds := filepath.Join(l.dir, ".clouds.yaml")
	l.must(os.WriteFile(clouds, []byte(access.CloudsYAML), 0o600))
	// The race detector sleeps for a second before an exit, unless told otherwise.
	l.env = append(os.Environ(), "OS_CLIENT_CONFIG_FILE="+clouds, "NO_COLOR=1", "GORACE=atexit_sleep_ms=0")
	return l
}

// checkOut copies the examples' manifests under the Estate of one of them.
func (l *life) checkOut() {
	l.t.Helper()
	for _, example := range []string{"acme", "globex", "initech"} {
		l.must(os.CopyFS(filepath.Join(l.dir, "gateways", example), os.DirFS(root+"examples/"+example)))
	}
	l.must(os.CopyFS(filepath.Join(l.dir, "overlays"), os.DirFS(root+"examples/overlays")))
	l.must(os.Rename(filepath.Join(l.dir, "gateways/acme/vpnctl.yaml"), filepath.Join(l.dir, "vpnctl.yaml")))
	for _, other := range []string{"gateways/globex", "gateways/initech", "overlays/production", "overlays/staging"} {
		l.must(os.Remove(filepath.Join(l.dir, other, "vpnctl.yaml")))
	}
}

func (l *life) must(err error) {
	if err != nil {
		l.t.Helper()
		l.t.Fatal(err)
	}
}

func (l *life) now() time.Time { return time.Now().Add(time.Duration(l.ahead.Load())) }

func (l *life) intercept(n int, r *http.Request) simulator.Fault {
	if f := l.arrived.Load(); f != nil {
		(*f)(n, r)
	}
	return simulator.Fault{}
}

// edit replaces a text in a file, which must hold it.
func (l *life) edit(file, old, new string) {
	l.t.Helper()
	path := filepath.Join(l.dir, file)
	data, err := os.ReadFile(path)
	l.must(err)
	if !bytes.Contains(data, []byte(old)) {
		l.t.Fatalf("%s holds no %q", file, old)
	}
	l.must(os.WriteFile(path, bytes.Replace(data, []byte(old), []byte(new), 1), 0o644))
}

// process is a vpnctl that is about to run in the checkout. What it writes is
// in out.
func (l *life) process(args []string) (cmd *exec.Cmd, out *bytes.Buffer) {
	ctx, cancel := context.WithTimeout(l.t.Context(), time.Minute)
	l.t.Cleanup(cancel)
	cmd = exec.CommandContext(ctx, "vpnctl", append(append([]string{}, args...), gateways...)...)
	out = &bytes.Buffer{}
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = l.dir, l.env, out, out
	return cmd, out
}

// run lets a process end by itself, which it has to do well.
func (l *life) run(args []string) {
	l.t.Helper()
	cmd, out := l.process(args)
	if err := cmd.Run(); err != nil {
		l.t.Fatalf("vpnctl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// expire lets five minutes pass, which no lock outlives and every hold does, and two
// hours for files that were being written.
func (l *life) expire() {
	l.t.Helper()
	l.ahead.Add(int64(5 * time.Minute))
	ago := time.Now().Add(-2 * time.Hour)
	for _, folder := range []string{"deploy", "deploy/*", "deploy/*/*"} {
		left, err := filepath.Glob(filepath.Join(l.dir, folder, ".*.vpnctl"))
		l.must(err)
		for _, name := range left {
			l.must(os.Chtimes(name, ago, ago))
		}
	}
}

var (
	ipv4 = regexp.MustCompile(`\b\d+\.\d+\.\d+\.\d+\b`)
	mac  = regexp.MustCompile(`\b[0-9a-f]{2}(:[0-9a-f]{2}){5}\b`)
	// rolled is the hash of the port's address and MAC that rolls the pod.
	rolled = regexp.MustCompile(`attachment: "?[0-9a-f]+"?`)
	// node is where a gateway runs, and its host. Of gateways that are made side by
	// side, those that came first before the run was killed keep their nodes, and
	// the others are spread anew; so the names are not compared, but the spread is.
	node = regexp.MustCompile(`\b(worker|compute)-\d\b`)
	// moment is when a gateway began to drain.
	moment = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
)

func (l *life) snapshot() simulator.Snapshot {
	l.t.Helper()
	s, err := l.sim.Snapshot()
	l.must(err)
	return s
}

// look is all that exists, in the cloud and in the tree, without what the
// server chose.
func (l *life) look() string {
	l.t.Helper()
	s := l.snapshot()
	var b strings.Builder
	b.Write(s.Normalize().Bytes())
	names := chosen(s)
	name := func(text string) string {
		if n, ok := names[text]; ok {
			return n
		}
		return text
	}
	deploy := filepath.Join(l.dir, "deploy")
	l.must(filepath.WalkDir(deploy, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path == deploy {
			return nil // nothing was written yet
		}
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		text := mac.ReplaceAllStringFunc(ipv4.ReplaceAllStringFunc(string(content), name), name)
		fmt.Fprintf(&b, "--- %s\n%s", strings.TrimPrefix(path, l.dir), rolled.ReplaceAllString(text, "attachment: HASH"))
		return err
	}))
	fmt.Fprintf(&b, "--- gateways on each node: %v\n", spread(s))
	return moment.ReplaceAllString(node.ReplaceAllString(b.String(), "$1-N"), "MOMENT")
}

// spread counts the gateways' ports on each server, in ascending order.
func spread(s simulator.Snapshot) []int {
	count := map[string]int{}
	for _, p := range s.Of("port") {
		if strings.HasPrefix(p.Text("name"), "vpnctl-") {
			count[p.Text("device_id")]++
		}
	}
	return slices.Sorted(maps.Values(count))
}

// chosen names what the server chose by what has it: MAC and addresses of ports,
// addresses of floating IPs.
func chosen(s simulator.Snapshot) map[string]string {
	names := map[string]string{}
	for _, p := range s.Of("port") {
		if !strings.HasPrefix(p.Text("name"), "vpnctl-") {
			continue
		}
		names[p.Text("mac_address")] = "MAC of " + p.Text("name")
		for _, ip := range p.Attributes["fixed_ips"].([]any) {
			names[ip.(map[string]any)["ip_address"].(string)] = "address of " + p.Text("name")
		}
	}
	for _, f := range s.Of("floating-ip") {
		names[f.Text("floating_ip_address")] = "floating IP of " + f.Text("description")
	}
	return names
}
