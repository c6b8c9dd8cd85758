//go:build e2e

package lab

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/vpnctl/vpnctl/agent/lab/netns"
)

// container runs as long as its pod, in one process after another.
type container struct {
	pod  *pod
	spec corev1.Container
	box  sandbox
	log  *netns.Log

	mu       sync.Mutex
	process  *os.Process // nil: between two
	ready    bool
	starts   int
	unwell   int    // times that liveness ended it
	peak     uint64 // of its memory, in bytes, over all processes
	deathful []string
}

// newContainer translates a container of the Deployment for the runtime.
func newContainer(t *testing.T, p *pod, c corev1.Container, binary, etc string, volumes map[string]string) *container {
	t.Helper()
	s := c.SecurityContext
	if *s.Privileged || len(s.Capabilities.Drop) != 1 || s.Capabilities.Drop[0] != "ALL" {
		t.Fatalf("the lab runs no container like %s", c.Name)
	}
	box := sandbox{
		Root: filepath.Join(p.dir, "root-"+c.Name), Binary: binary, Etc: etc, ReadOnlyRoot: *s.ReadOnlyRootFilesystem, UID: *s.RunAsUser,
		NoNewPrivs: !*s.AllowPrivilegeEscalation, Command: append(append([]string{}, c.Command...), c.Args...),
		Env: []string{"PATH=" + searchPath, "HOSTNAME=" + p.name, "KUBERNETES_SERVICE_HOST=" + apiAddress, "KUBERNETES_SERVICE_PORT=443"},
	}
	for _, add := range s.Capabilities.Add {
		box.Capabilities = append(box.Capabilities, string(add))
	}
	for _, e := range c.Env {
		box.Env = append(box.Env, e.Name+"="+e.Value)
	}
	for _, m := range c.VolumeMounts {
		box.Mounts = append(box.Mounts, bind{volumes[m.Name], m.MountPath, m.ReadOnly})
	}
	if err := os.MkdirAll(box.Root, 0o755); err != nil {
		t.Fatal(err)
	}
	return &container{pod: p, spec: c, box: box, log: &netns.Log{}}
}

// start runs the container until the test ends, and prints the end of its log if the
// test has failed.
func (c *container) start(t *testing.T) {
	t.Helper()
	stop := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() { c.keep(stop) })
	t.Cleanup(func() {
		close(stop)
		c.signal(syscall.SIGKILL)
		done.Wait()
		if t.Failed() {
			t.Logf("the log of %s/%s ends\n%s", c.pod.name, c.spec.Name, c.log.Tail(5000))
		}
	})
}

// keep starts the process whenever it isn't there, with a shorter pause than the
// kubelet's.
func (c *container) keep(stop chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		cmd := c.command()
		if err := c.pod.ns.Start(cmd); err != nil {
			fmt.Fprintf(c.log, "starting: %v\n", err)
		} else {
			c.watch(cmd)
		}
		select {
		case <-stop:
			return
		case <-time.After(500 * time.Millisecond):
		}
	}
}

func (c *container) command() *exec.Cmd {
	spec, _ := json.Marshal(c.box)
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = []string{containerVariable + "=" + string(spec)}
	cmd.Stdout, cmd.Stderr = c.log, c.log
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS,
	}
	return cmd
}

// watch probes a process until it ends.
func (c *container) watch(cmd *exec.Cmd) {
	c.mu.Lock()
	c.process, c.starts = cmd.Process, c.starts+1
	c.mu.Unlock()
	ended := make(chan struct{})
	var probes sync.WaitGroup
	probes.Go(func() { c.probe(ended) })
	probes.Go(func() { c.measure(ended) })
	err := cmd.Wait()
	close(ended)
	c.mu.Lock()
	c.process, c.ready = nil, false
	c.deathful = append(c.deathful, fmt.Sprint(err))
	c.mu.Unlock()
	probes.Wait()
}

// pid is the container's first process as the lab sees it; 0 between two.
func (c *container) pid() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.process == nil {
		return 0
	}
	return c.process.Pid
}

// signal sends a signal to the container's process.
func (c *container) signal(s syscall.Signal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.process != nil {
		c.process.Signal(s)
	}
}

func (c *container) isReady() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ready
}

// count returns how often the container was started, and how often liveness ended it.
func (c *container) count() (starts, unwell int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.starts, c.unwell
}

// measure notes the peak of the memory in use.
func (c *container) measure(ended chan struct{}) {
	for {
		select {
		case <-ended:
			return
		case <-time.After(time.Second):
		}
		value := c.proc("VmHWM")
		kib, _ := strconv.ParseUint(strings.TrimSuffix(value, " kB"), 10, 64)
		c.mu.Lock()
		c.peak = max(c.peak, kib<<10)
		c.mu.Unlock()
	}
}

// proc is a line of the process's /proc/PID/status.
func (c *container) proc(field string) string {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.pid()))
	for line := range strings.Lines(string(data)) {
		if value, found := strings.CutPrefix(line, field+":"); found {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// exec runs a command in the container, as kubectl exec and exec probes do.
func (c *container) exec(command ...string) (string, error) {
	// A process whose parent dies outside would stay in the container for ever, and keep
	// it from ending: so the time limit is kept within.
	limit := []string{"timeout", "--foreground", "--signal=KILL", "5"}
	args := append([]string{"-t", strconv.Itoa(c.pid()), "-m", "-n", "-p", "-i", "-u", "--"}, c.box.confined(append(limit, command...))...)
	cmd := exec.Command("nsenter", args...)
	cmd.Env = c.box.Env
	out, err := cmd.CombinedOutput()
	return string(out), err
}
