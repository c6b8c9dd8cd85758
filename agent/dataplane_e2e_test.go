//go:build e2e

package agent

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/agent/lab/netns"
	"github.com/vpnctl/vpnctl/agent/volume"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/pod"
)

// pack is the program itself in a network namespace that looks like a gateway pod's:
// with a second interface that has the port's MAC address, and nft, TUN and routing for
// real. It wants root, nftables, iproute2 and /dev/net/tun.
type pack struct {
	*site
	t       *testing.T
	ns      netns.Namespace
	binary  string
	process *exec.Cmd
	stderr  *netns.Log
}

func newPack(t *testing.T) *pack {
	t.Helper()
	p := &pack{site: newSite(t), t: t, ns: netns.New(t, "pod"), stderr: &netns.Log{}}
	p.binary = filepath.Join(p.dir, "vpnctl")
	if out, err := exec.Command("go", "build", "-o", p.binary, "../cmd/vpnctl").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s\n%s", p.stderr, p.in("nft", "list", "ruleset"))
		}
		if p.process != nil {
			p.end(syscall.SIGKILL)
		}
	})
	p.nic()
	return p
}

// nic plugs the second interface in.
func (p *pack) nic() {
	p.ns.IP(p.t, "link add net1 address "+portMAC+" type veth peer name far", "link set far up")
}

// in runs a command in the namespace and returns what it prints, errors included.
func (p *pack) in(args ...string) string {
	out, _ := p.ns.Command(args...).CombinedOutput()
	return string(out)
}

// begin starts the program, with a /run/wireguard of its own as a pod has.
func (p *pack) begin() {
	p.Helper()
	p.process = p.ns.Command("sh", "-c",
		`mkdir -p /run/wireguard && mount -t tmpfs tmpfs /run/wireguard && exec "$@"`, "sh",
		p.binary, "agent", "dataplane", "--config", filepath.Join(p.dir, "config"), "--rules", filepath.Join(p.dir, "rules"),
		"--run", filepath.Join(p.dir, "run"), "--listen", "127.0.0.1:9904")
	p.process.Stderr = p.stderr
	p.must(p.process.Start())
}

// end sends a signal and returns the exit code.
func (p *pack) end(s syscall.Signal) int {
	p.process.Process.Signal(s)
	p.process.Wait()
	code := p.process.ProcessState.ExitCode()
	p.process = nil
	return code
}

func (p *pack) inForce(w world) func() bool {
	return func() bool {
		d, _, err := p.loop.Volume.ReadDataplane()
		return err == nil && d.Ruleset == volume.Hash(w.rules[pod.KeyRules]) && d.Interface == "net1" && d.WireGuard != nil && len(d.Problems) == 0
	}
}

// pinned is globex without what needs a name server.
func pinned(g vpn.Gateway) vpn.Gateway {
	g.Exposures[0].Target = vpn.Target{Address: g.Exposures[1].Target.Address}
	g.Peers[0].Endpoint = "198.51.100.30:51820"
	g.Peers[1].PresharedKey = vpn.SecretRef{}
	return g
}

func TestDataplaneInAPod(t *testing.T) {
	p, w := newPack(t), globexOf(t, pinned(globexGateway()))
	w.config = expectation(t, w.config, func(e *vpn.Expectation) { e.Dataplane = vpn.DataplaneUserspace })
	w.keys.PrivateKey = newKey()
	p.write(w)
	p.keys(w)
	p.begin()
	netns.Eventually(t, "from the start to everything in force", 20*time.Second, p.inForce(w))

	for command, lines := range map[string][]string{
		"ip rule":                 {"90:", "fwmark 0x64 lookup 100", "from 10.254.0.17 lookup 100", "iif net1 lookup 100", "iif wg0 lookup 100"},
		"ip route show table 100": {"default via 10.254.0.1 dev net1", "10.254.0.0/24 dev net1"},
		"ip route show table 220": {"172.20.1.0/24 dev wg0", "172.20.2.0/24 dev wg0"},
		"ip -4 address show net1": {"inet 10.254.0.17"},
		"ip link show wg0":        {"mtu 1420", "UP"},
		"nft list ruleset":        {"172.20.2.0/24 . 100.64.3.11 . "}, // and tcp, by number where there is no /etc/protocols
	} {
		out := p.in(strings.Fields(command)...)
		for _, line := range lines {
			if !strings.Contains(out, line) {
				t.Errorf("%s doesn't show %q:\n%s", command, line, out)
			}
		}
	}

	granted := func() bool {
		return strings.Contains(p.in("nft", "list", "set", "inet", "vpnctl", "grants"), "172.20.2.0/24 . 100.64.3.11")
	}
	g := pinned(globexGateway())
	g.Peers[1].Grants = &vpn.Grants{}
	p.swap("rules", globexOf(t, g).rules)
	netns.Eventually(t, "a grant is withdrawn", time.Second, func() bool { return !granted() })
	p.swap("rules", w.rules)
	netns.Eventually(t, "a grant is given", time.Second, granted)

	p.in("nft", "delete", "table", "inet", "vpnctl")
	netns.Eventually(t, "another hand has deleted the table", 3*time.Second, granted)

	p.swap("rules", with(w.rules, pod.KeyRules, strings.Replace(w.rules[pod.KeyRules], "ct state established", refused+" established", 1)))
	netns.Eventually(t, "nft refuses a file", 5*time.Second, func() bool {
		return strings.Contains(strings.Join(p.complaints(), "\n"), "ruleset: applying the ruleset: nft:") && granted()
	})

	if code := p.end(syscall.SIGKILL); !granted() {
		t.Errorf("after SIGKILL (%d) the ruleset is gone", code)
	}
	p.must(os.Remove(filepath.Join(p.dir, "run", "dataplane.json")))
	p.begin()
	netns.Eventually(t, "from a start on a refused file to the one before in force", 20*time.Second, func() bool {
		d, _, err := p.loop.Volume.ReadDataplane()
		return err == nil && d.Ruleset == volume.Hash(w.rules[pod.KeyRules]) && d.WireGuard != nil && granted()
	})
	p.swap("rules", w.rules)
	netns.Eventually(t, "all is well again", 5*time.Second, p.inForce(w))

	p.ns.IP(t, "link del net1")
	netns.Eventually(t, "the NIC is gone", 5*time.Second, func() bool { return p.state().Interface == "" })
	p.nic()
	netns.Eventually(t, "the NIC is back, with its routes", 5*time.Second, func() bool {
		return p.state().Interface == "net1" && strings.Contains(p.in("ip", "route", "show", "table", "100"), "default via")
	})

	if code := p.end(syscall.SIGTERM); code != 0 || !granted() || !strings.Contains(p.in("ip", "rule"), "iif net1") {
		t.Errorf("after SIGTERM: exit code %d\n%s", code, p.stderr)
	}
	if strings.Contains(p.stderr.String(), string(w.keys.PrivateKey)) {
		t.Error("the log holds a key")
	}
}
