//go:build e2e

package routing

import (
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/vpnctl/vpnctl/agent/lab/netns"
)

// These tests want root and ip(8).

func TestMain(m *testing.M) { os.Exit(netns.Main(m)) }

const mac = "fa:16:3e:00:00:10"

// pod is a network namespace with the cluster's interface and the port's.
type pod struct {
	t *testing.T
	netns.Namespace
}

func newPod(t *testing.T) pod {
	t.Helper()
	p := pod{t, netns.New(t, "pod")}
	p.ip("link add eth0 type veth peer name cluster", "link set eth0 up", "link set cluster up",
		"addr add 172.30.0.5/16 dev eth0", "route add default via 172.30.0.1")
	return p
}

func (p pod) attach() {
	p.t.Helper()
	p.ip("link add net1 address "+mac+" type veth peer name fabric", "link set fabric up", "addr add 10.91.0.10/32 dev net1", "link set net1 up")
}

// tunnel plugs in what stands for a tunnel's interface.
func (p pod) tunnel() {
	p.t.Helper()
	p.ip("link add wg0 type veth peer name far", "link set far up", "link set wg0 up")
}

// complete is a plan with all that a plan can have.
func complete() Plan {
	all := plan()
	all.Tunnel, all.WireGuard, all.Anchor = "wg0", true, netip.MustParseAddr("100.64.7.1")
	return all
}

func (p pod) ip(lines ...string) string {
	p.t.Helper()
	return p.IP(p.t, lines...)
}

// ensure does what the agent's upkeep does, and fails the test on an error.
func (p pod) ensure(plan Plan) {
	p.t.Helper()
	if err := p.Do(func() error { return Ensure(plan) }); err != nil {
		p.t.Fatal(err)
	}
}

func (p pod) find() (name string, found bool) {
	p.t.Helper()
	err := p.Do(func() (err error) { name, found, err = Find(mac); return err })
	if err != nil {
		p.t.Fatal(err)
	}
	return name, found
}

// state is everything that the package looks after, as ip(8) shows it.
func (p pod) state() string {
	p.t.Helper()
	return trim(p.ip("rule show", "-4 route show table all", "-4 -br addr show dev lo"))
}

func trim(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return strings.Join(lines, "\n")
}

func (p pod) want(command, want string) {
	p.t.Helper()
	if diff := cmp.Diff(trim(strings.TrimPrefix(want, "\n")), trim(p.ip(command))); diff != "" {
		p.t.Errorf("ip %s (-want +got)\n%s", command, diff)
	}
}

// readOnlyProc shows the calling thread /proc/sys as a container runtime does.
func readOnlyProc() error {
	if err := unix.Unshare(unix.CLONE_FS | unix.CLONE_NEWNS); err != nil {
		return err
	}
	if err := unix.Mount("", "/", "", unix.MS_PRIVATE|unix.MS_REC, ""); err != nil {
		return err
	}
	if err := unix.Mount("/proc/sys", "/proc/sys", "", unix.MS_BIND, ""); err != nil {
		return err
	}
	return unix.Mount("", "/proc/sys", "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, "")
}
