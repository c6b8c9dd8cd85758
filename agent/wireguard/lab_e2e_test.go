//go:build e2e

package wireguard

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/agent/lab/netns"
)

// These tests want root, /dev/net/tun, wireguard-go, wg (wireguard-tools) and ping.
//
//	site-a 192.0.2.6 --- 192.0.2.5 gateway 192.0.2.9 --- 192.0.2.10 site-b
//	10.1.0.1 on wg0           10.0.0.1 on wg0            10.2.0.1 on wg0
//
// The sites run stock wireguard-go, set up with wg(8). The gateway is this program,
// started anew in the gateway's network with what the pod's container has: NET_ADMIN,
// and a /run of its own.

const (
	gatewayPort = 51820
	sitePort    = 51821
	patience    = 30 * time.Second
)

// node is one network namespace with its own /run.
type node struct {
	netns.Namespace
	run string
}

func newNode(t *testing.T, name string) *node {
	t.Helper()
	n := &node{netns.New(t, name), filepath.Join(t.TempDir(), name)}
	if err := os.MkdirAll(filepath.Join(n.run, "wireguard"), 0o755); err != nil {
		t.Fatal(err)
	}
	return n
}

// command is one inside the node.
func (n *node) command(args ...string) *exec.Cmd {
	return n.Command(append([]string{"sh", "-c", `mount --bind "$0" /run && exec "$@"`, n.run}, args...)...)
}

func (n *node) exec(t *testing.T, args ...string) string {
	t.Helper()
	out, err := n.command(args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %v\n%s", n.Label(), args, err, out)
	}
	return string(out)
}

// start runs a command until the test ends, or until it is killed.
func (n *node) start(t *testing.T, c *exec.Cmd) {
	t.Helper()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if c.ProcessState == nil {
			kill(t, c)
		}
	})
}

func kill(t *testing.T, c *exec.Cmd) {
	t.Helper()
	if err := c.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = c.Wait() // that it was killed
}

// stock is a customer's side: wireguard-go and wg.
type stock struct {
	*node
	t               *testing.T
	private, public string
}

// newStock is a site behind the gateway's interface net<number>, with 10.<number>.0.1.
func newStock(t *testing.T, gateway *node, name string, number int, gatewayKey string, preshared Secret) *stock {
	t.Helper()
	s := &stock{node: newNode(t, name), t: t}
	key, public := newKey(t)
	s.private, s.public = string(key), public
	here, there := fmt.Sprintf("192.0.2.%d", 4*number+1), fmt.Sprintf("192.0.2.%d", 4*number+2)
	link := fmt.Sprint("net", number)
	netns.Wire(t, gateway.Namespace, link, s.Namespace, "net")
	gateway.IP(t, "addr add "+here+"/30 dev "+link)
	s.IP(t, "addr add "+there+"/30 dev net")

	daemon := s.command("wireguard-go", "-f", "wg0")
	daemon.Env = append(os.Environ(), "WG_PROCESS_FOREGROUND=1")
	s.start(t, daemon)
	netns.Eventually(t, "the site's device", patience, func() bool { return s.command("wg", "show", "wg0").Run() == nil })
	s.setup(fmt.Sprintf("[Interface]\nPrivateKey = %sListenPort = %d\n", s.private, sitePort) +
		s.gateway(gatewayKey, here, preshared))
	s.IP(t, fmt.Sprintf("addr add 10.%d.0.1/32 dev wg0", number), "link set wg0 up", "route add 10.0.0.1/32 dev wg0")
	return s
}

func (s *stock) gateway(key, at string, preshared Secret) string {
	text := fmt.Sprintf("[Peer]\nPublicKey = %s\nAllowedIPs = 10.0.0.1/32\nEndpoint = %s:%d\n", key, at, gatewayPort)
	if preshared != nil {
		text += "PresharedKey = " + string(preshared)
	}
	return text
}

func (s *stock) setup(text string) {
	s.t.Helper()
	path := filepath.Join(s.run, "wg0.conf")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.exec(s.t, "wg", "setconf", "wg0", "/run/wg0.conf")
}

// pings tells whether one of n pings is answered.
func (n *node) pings(address string, count int) bool {
	return n.command("ping", "-c", fmt.Sprint(count), "-i", "0.2", "-W", "1", address).Run() == nil
}

// order is what the test sends to the gateway's process, with the keys that a Config
// leaves out.
type order struct {
	Config    Config
	Private   string
	Preshared map[string]string
	Leave     bool
}

type answer struct {
	Change    Change
	State     State
	Userspace bool
	Error     string
	Gone      bool
	Took      time.Duration
	Memory    string // VmRSS
}

// agent is the gateway's process: Open, then Apply and Read for every order.
type agent struct {
	*exec.Cmd
	t   *testing.T
	in  io.WriteCloser
	out *bufio.Reader
	log bytes.Buffer
}

const agentEnv = "VPNCTL_E2E_WIREGUARD_DATAPLANE"

func newAgent(t *testing.T, n *node, dataplane string, prepare string) *agent {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	confined := "exec setpriv --bounding-set=-all,+net_admin --no-new-privs " + self
	a := &agent{Cmd: n.command("sh", "-c", prepare+confined), t: t}
	a.Env = append(os.Environ(), agentEnv+"="+dataplane)
	a.Stderr = &a.log
	if a.in, err = a.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := a.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	a.out = bufio.NewReader(out)
	n.start(t, a.Cmd)
	return a
}

func (a *agent) send(o order) answer {
	a.t.Helper()
	data, err := json.Marshal(o)
	if err == nil {
		_, err = a.in.Write(append(data, '\n'))
	}
	if err != nil {
		a.t.Fatal(err)
	}
	return a.receive()
}

func (a *agent) receive() answer {
	a.t.Helper()
	line, err := a.out.ReadBytes('\n')
	if err != nil {
		a.t.Fatalf("the agent has ended: %v\n%s", err, a.log.String())
	}
	var got answer
	if err := json.Unmarshal(line, &got); err != nil {
		a.t.Fatalf("%v: %s", err, line)
	}
	return got
}

// TestMain is the agent where a test has started it as such.
func TestMain(m *testing.M) {
	if dataplane := os.Getenv(agentEnv); dataplane != "" {
		serveOrders(dataplane)
		return
	}
	os.Exit(netns.Main(m))
}

// serveOrders answers once for the opening, and once for every order. A device that is
// gone is opened anew.
func serveOrders(dataplane string) {
	out := json.NewEncoder(os.Stdout)
	device, err := Open("wg0", dataplane)
	if err != nil {
		_ = out.Encode(answer{Error: err.Error()})
		return
	}
	_ = out.Encode(answer{Userspace: device.Userspace()})
	in := json.NewDecoder(os.Stdin)
	for {
		var o order
		err := in.Decode(&o)
		if err != nil || o.Leave {
			_ = out.Encode(answer{Error: text(errors.Join(err, device.Close()))})
			return
		}
		o.Config.PrivateKey = Secret(o.Private)
		for i, p := range o.Config.Peers {
			o.Config.Peers[i].Preshared = Secret(o.Preshared[p.Name])
		}
		got := answer{Userspace: device.Userspace(), Memory: memoryInUse()}
		begun := time.Now()
		got.Change, err = device.Apply(o.Config)
		got.Took = time.Since(begun)
		if err == nil {
			got.State, err = device.Read()
		}
		if got.Error, got.Gone = text(err), errors.Is(err, ErrGone); got.Gone {
			_ = device.Close()
			device, err = Open("wg0", dataplane)
			got.Error += text(err)
		}
		_ = out.Encode(got)
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func memoryInUse() string {
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if rest, is := strings.CutPrefix(line, "VmRSS:"); is {
			return strings.TrimSpace(rest)
		}
	}
	return "unknown"
}
