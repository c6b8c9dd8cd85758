//go:build e2e

package lab

import (
	"fmt"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vpnctl/vpnctl/agent/lab/netns"
)

// confinement: what the Deployment takes away is really gone.
func (l *ipsecLab) confinement(t *testing.T) {
	for _, c := range l.pod.containers {
		netns.Eventually(t, c.spec.Name+" runs", 30*time.Second, func() bool { return c.proc("Name") == processName(c) })
		want := capabilities(t, c)
		if got := c.set("CapBnd"); got != want {
			t.Errorf("%s may have the capabilities %x, want %x", c.spec.Name, got, want)
		}
		// charon gives up by itself what it needs only to begin with.
		for _, field := range []string{"CapPrm", "CapEff", "CapInh", "CapAmb"} {
			if got := c.set(field); got&^want != 0 {
				t.Errorf("%s has %s %x, more than %x", c.spec.Name, field, got, want)
			}
		}
		for field, want := range map[string]string{"NoNewPrivs": "1", "Uid": fmt.Sprintf("%[1]d\t%[1]d\t%[1]d\t%[1]d", c.box.UID)} {
			if got := c.proc(field); got != want {
				t.Errorf("%s has %s %s, want %s", c.spec.Name, field, got, want)
			}
		}
		for _, path := range []string{"/", "/etc", "/usr", "/tmp", "/run", "/etc/vpnctl/gateway", "/usr/local/bin"} {
			if out, err := c.exec("touch", path+"/written"); err == nil {
				t.Errorf("%s can write to %s %s", c.spec.Name, path, out)
			}
		}
		if out, err := c.exec("sh", "-c", "echo 0 >/proc/sys/net/ipv4/ip_forward"); err == nil {
			t.Errorf("%s can write settings of the kernel %s", c.spec.Name, out)
		}
		if out, err := c.exec("ls", "/var/run/secrets"); (err == nil) != (c.spec.Name == "status") {
			t.Errorf("%s sees the API token: %v %s", c.spec.Name, err == nil, out)
		}
	}
}

// capabilities are those of the Deployment, as the kernel counts them.
func capabilities(t *testing.T, c *container) (set uint64) {
	t.Helper()
	for _, name := range c.box.Capabilities {
		bit, known := map[string]int{"NET_BIND_SERVICE": unix.CAP_NET_BIND_SERVICE, "NET_ADMIN": unix.CAP_NET_ADMIN}[name]
		if !known {
			t.Errorf("%s has a capability that nobody expects: %s", c.spec.Name, name)
		}
		set |= 1 << bit
	}
	return set
}

// set is a set of capabilities of the container's process.
func (c *container) set(field string) uint64 {
	n, err := strconv.ParseUint(c.proc(field), 16, 64)
	if err != nil {
		return ^uint64(0)
	}
	return n
}

// processName is what the kernel calls the container's process.
func processName(c *container) string {
	name := filepath.Base(c.box.Command[0])
	return name[:min(15, len(name))]
}
