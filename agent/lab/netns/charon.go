//go:build e2e

package netns

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/swanctl"
)

// Charon is a strongSwan daemon of a namespace.
type Charon struct {
	Log     Log
	ns      Namespace
	dir     string
	process *exec.Cmd // nil: not running
}

// PodSettings are a gateway pod's, with ESP in user space, and more of them, which take
// the place of its own.
func PodSettings(more ...string) string {
	text := swanctl.Daemon(vpn.DataplaneUserspace)
	for _, setting := range more {
		name, _, _ := strings.Cut(setting, " = ")
		text = regexp.MustCompile("(?m)^  "+name+" = .*\n").ReplaceAllString(text, "")
	}
	return strings.Replace(text, "  install_virtual_ip", "  "+strings.Join(append(more, "install_virtual_ip"), "\n  "), 1)
}

// NewCharon writes the settings, a strongswan.conf, into a folder. In there is the
// socket, too: it takes the place of swanctl.Socket in the settings. Nothing runs yet;
// what runs when the test ends is killed, and tells its log if the test has failed.
func NewCharon(t *testing.T, n Namespace, dir, settings string) *Charon {
	t.Helper()
	c := &Charon{ns: n, dir: dir}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(settings, swanctl.Socket, c.Socket())
	// What charon writes to standard output it writes by the block where that is a pipe:
	// the last words of one that is killed would be lost.
	text = strings.Replace(text, " stdout {", " stderr {", 1)
	if err := os.WriteFile(filepath.Join(dir, "strongswan.conf"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Kill()
		if t.Failed() {
			t.Logf("the log of charon in %s ends\n%s", n.Label(), c.Log.Tail(6000))
		}
	})
	return c
}

// Start runs it until it answers.
func (c *Charon) Start(t *testing.T) {
	t.Helper()
	daemon := exec.Command("charon-systemd")
	daemon.Env = append(os.Environ(), "STRONGSWAN_CONF="+filepath.Join(c.dir, "strongswan.conf"))
	daemon.Stdout, daemon.Stderr = &c.Log, &c.Log
	if err := c.ns.Start(daemon); err != nil {
		t.Fatal(err)
	}
	c.process = daemon
	c.Answers(t)
}

// Answers waits until it does.
func (c *Charon) Answers(t *testing.T) {
	t.Helper()
	Eventually(t, "charon in "+c.ns.Label()+" answers", 20*time.Second, func() bool {
		_, err := Output("swanctl", "--stats", "--uri", c.URI())
		return err == nil
	})
}

// Hang stops it as it is, and returns once none of its threads runs any more.
func (c *Charon) Hang(t *testing.T) {
	t.Helper()
	c.signal(t, syscall.SIGSTOP)
	Eventually(t, "charon in "+c.ns.Label()+" hangs", 5*time.Second, func() bool {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", c.process.Process.Pid))
		for _, thread := range threads {
			stat, err := os.ReadFile(thread)
			if err == nil && !strings.Contains(string(stat), ") T ") {
				return false
			}
		}
		return len(threads) > 0
	})
}

// Resume lets it go on.
func (c *Charon) Resume(t *testing.T) {
	t.Helper()
	c.signal(t, syscall.SIGCONT)
}

func (c *Charon) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := c.process.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// Kill ends it without a word to its peers; the socket stays behind.
func (c *Charon) Kill() {
	if c.process != nil {
		_ = c.process.Process.Kill()
		_ = c.process.Wait()
		c.process = nil
	}
}

// Socket is where it listens for VICI.
func (c *Charon) Socket() string { return filepath.Join(c.dir, "charon.vici") }

// URI is the same, as swanctl wants it.
func (c *Charon) URI() string { return "unix://" + c.Socket() }

// Swanctl runs swanctl on it, and returns what that prints.
func (c *Charon) Swanctl(t *testing.T, args ...string) string {
	t.Helper()
	return Run(t, "swanctl", append(args, "--uri", c.URI())...)
}

// Load gives it connections and secrets in place of those that it has, as swanctl.conf
// has them.
func (c *Charon) Load(t *testing.T, text string) {
	t.Helper()
	file := filepath.Join(c.dir, "swanctl.conf")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Swanctl(t, "--load-creds", "--clear", "--file", file)
	c.Swanctl(t, "--load-conns", "--file", file)
}
