//go:build e2e

package render

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/pod"
)

// lab is three networks in a row: a peer's side, the gateway and our own side. The
// peer's link ends in an interface with the tunnel's name, which is how a WireGuard
// gateway's ruleset tells tunnel traffic.
type lab struct {
	t *testing.T
	// names of the network namespaces
	peer, gateway, ours string
}

const setup = `
ip netns add $P; ip netns add $G; ip netns add $O
ip -n $P link add c0 type veth peer name wg0 netns $G
ip -n $G link add net1 type veth peer name t0 netns $O
for n in $P $G $O; do ip -n $n link set lo up; done
ip -n $P link set c0 up; ip -n $G link set wg0 up; ip -n $G link set net1 up; ip -n $O link set t0 up
ip -n $P addr add 192.168.255.2/30 dev c0
ip -n $P addr add 192.168.10.9/32 dev lo; ip -n $P addr add 192.168.40.9/32 dev lo
ip -n $P route add default via 192.168.255.1
ip -n $G addr add 192.168.255.1/30 dev wg0
ip -n $G addr add 10.254.0.18/24 dev net1
ip -n $G route add 192.168.0.0/17 via 192.168.255.2
ip -n $G route add 10.20.0.0/24 via 10.254.0.5
ip -n $O addr add 10.254.0.5/24 dev t0
ip -n $O addr add 10.20.0.5/32 dev lo; ip -n $O addr add 10.20.0.9/32 dev lo
ip -n $O route add 100.64.7.0/24 via 10.254.0.18
ip -n $O route add 192.168.255.0/30 via 10.254.0.18
ip netns exec $G sysctl -q -w net.ipv4.ip_forward=1
ip netns exec $G nft -f $RULES
`

func newLab(t *testing.T, ruleset string) *lab {
	t.Helper()
	prefix := fmt.Sprintf("vpnctl-%d-", os.Getpid())
	l := &lab{t: t, peer: prefix + "peer", gateway: prefix + "gateway", ours: prefix + "ours"}
	file := filepath.Join(t.TempDir(), "nat.nft")
	if err := os.WriteFile(file, []byte(ruleset), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, name := range []string{l.peer, l.gateway, l.ours} {
			_ = exec.Command("ip", "netns", "delete", name).Run()
		}
	})
	script := exec.Command("sh", "-eu", "-c", setup)
	script.Env = append(os.Environ(), "P="+l.peer, "G="+l.gateway, "O="+l.ours, "RULES="+file)
	if out, err := script.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return l
}

// in runs a function on a thread in a network namespace. The thread is not used
// again, because it may not find its way back.
func (l *lab) in(name string, f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		namespace, err := os.Open("/var/run/netns/" + name)
		if err == nil {
			defer namespace.Close()
			err = unix.Setns(int(namespace.Fd()), unix.CLONE_NEWNET)
		}
		if err == nil {
			err = f()
		}
		done <- err
	}()
	return <-done
}

// serve answers every connection with the address that it came from.
func (l *lab) serve(namespace, address string) {
	l.t.Helper()
	err := l.in(namespace, func() error {
		listener, err := net.Listen("tcp4", address)
		if err != nil {
			return err
		}
		l.t.Cleanup(func() { listener.Close() })
		go func() {
			for {
				c, err := listener.Accept()
				if err != nil {
					return
				}
				fmt.Fprint(c, c.RemoteAddr().(*net.TCPAddr).IP)
				c.Close()
			}
		}()
		return nil
	})
	if err != nil {
		l.t.Fatal(err)
	}
}

// call connects from an address and returns what the server saw; empty: no way.
func (l *lab) call(namespace, from, to string) (seen string) {
	_ = l.in(namespace, func() error {
		d := net.Dialer{Timeout: 700 * time.Millisecond, LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
		c, err := d.Dial("tcp4", to)
		if err != nil {
			return err
		}
		defer c.Close()
		answer := make([]byte, 64)
		n, err := c.Read(answer)
		seen = string(answer[:n])
		return err
	})
	return seen
}

// TestTrafficFollowsTheGrants sends real packets through the ruleset of a WireGuard
// gateway: who is granted arrives, translated, and nobody else does.
func TestTrafficFollowsTheGrants(t *testing.T) {
	in := globex()
	port := []vpn.PortRange{{From: 8080, To: 8080}}
	in.Gateway.Exposures = []vpn.Exposure{
		{Name: "dns", Target: vpn.Target{Address: addr("10.20.0.5"), Protocol: "tcp", Ports: port}},
		{Name: "files", Target: vpn.Target{Address: addr("10.20.0.9")}},
		{Name: "erp", Target: vpn.Target{Host: "erp.example.org", Protocol: "tcp", Ports: port}},
	}
	in.Gateway.ReverseExposures = []vpn.Exposure{
		{Name: "plant", Target: vpn.Target{Address: addr("192.168.10.9")}},
		{Name: "scada", Target: vpn.Target{Address: addr("192.168.10.9"), Protocol: "tcp", Ports: []vpn.PortRange{{From: 502, To: 502}}}},
	}
	in.Gateway.Peers[0].Grants = &vpn.Grants{Exposures: []string{"dns", "erp", "files"}, ReverseExposures: []string{"plant", "scada"}}
	in.Ledger.VirtualIPs = map[string]byte{"dns": 10, "files": 11, "erp": 12, "scada": 200, "plant": 201}
	ruleset := data(t, in)[pod.KeyRules] + "add element inet vpnctl host_erp { 100.64.7.12 : 10.20.0.9 }\n"

	l := newLab(t, ruleset)
	for _, address := range []string{"10.20.0.5:8080", "10.20.0.5:9090", "10.20.0.9:8080", "10.20.0.9:9090"} {
		l.serve(l.ours, address)
	}
	l.serve(l.peer, "192.168.10.9:502")
	l.serve(l.peer, "192.168.10.9:503")
	l.serve(l.gateway, "0.0.0.0:9903")

	const berlin, oslo, port1, self = "192.168.10.9", "192.168.40.9", "10.254.0.18", "100.64.7.1"
	for sentence, c := range map[string]struct{ namespace, from, to, want string }{
		"a granted port, seen from the port's address": {l.peer, berlin, "100.64.7.10:8080", port1},
		"a granted address, any port":                  {l.peer, berlin, "100.64.7.11:9090", port1},
		"a granted host, once its map is filled":       {l.peer, berlin, "100.64.7.12:8080", port1},
		"a reverse exposure, seen from .1":             {l.ours, "10.254.0.5", "100.64.7.200:502", self},
		"the pod itself, from our side":                {l.ours, "10.254.0.5", "10.254.0.18:9903", "10.254.0.5"},
		"a port that isn't exposed":                    {l.peer, berlin, "100.64.7.10:9090", ""},
		"another port of a host":                       {l.peer, berlin, "100.64.7.12:9090", ""},
		"a virtual IP that nothing has":                {l.peer, berlin, "100.64.7.13:8080", ""},
		"a target by its own address":                  {l.peer, berlin, "10.20.0.5:8080", ""},
		"a peer without a grant":                       {l.peer, oslo, "100.64.7.10:8080", ""},
		"a peer without a grant, any port":             {l.peer, oslo, "100.64.7.11:9090", ""},
		"an address that is no peer's":                 {l.peer, "192.168.255.2", "100.64.7.10:8080", ""},
		"the pod itself, from the tunnel":              {l.peer, berlin, "192.168.255.1:9903", ""},
		"the pod's port address, from the tunnel":      {l.peer, berlin, "10.254.0.18:9903", ""},
		"a reverse exposure, from no internal source":  {l.ours, "10.20.0.5", "100.64.7.200:502", ""},
		"a reverse exposure, another port":             {l.ours, "10.254.0.5", "100.64.7.200:503", ""},
		"a reverse exposure, from the tunnel":          {l.peer, oslo, "100.64.7.200:502", ""},
		"an exposure, from our own side":               {l.ours, "10.254.0.5", "100.64.7.10:8080", ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := l.call(c.namespace, c.from, c.to); got != c.want {
				t.Errorf("from %s to %s: the server saw %q, want %q", c.from, c.to, got, c.want)
			}
		})
	}

	l.strays(ruleset)
	// Without the tunnel's route the way out is our own side: nothing may take it.
	sniffed := l.leaks(func() { l.call(l.ours, "10.254.0.5", "100.64.7.200:502") })
	if strings.TrimSpace(sniffed) != "0" {
		t.Errorf("%s packets for the peer left in the clear", sniffed)
	}
}

// leaks counts the packets for a peer's subnets that come out on our side while the
// tunnel's route is gone.
func (l *lab) leaks(f func()) string {
	l.t.Helper()
	script := `
ip -n $G route del 192.168.0.0/17
ip -n $G route add default via 10.254.0.5
ip netns exec $O nft 'table inet count { counter c { }; chain c { type filter hook prerouting priority raw; ip daddr 192.168.0.0/17 counter name c; }; }'
`
	env := append(os.Environ(), "G="+l.gateway, "O="+l.ours)
	prepare := exec.Command("sh", "-eu", "-c", script)
	prepare.Env = env
	if out, err := prepare.CombinedOutput(); err != nil {
		l.t.Fatalf("%v\n%s", err, out)
	}
	f()
	count := exec.Command("sh", "-eu", "-c", `ip netns exec $O nft list counter inet count c | sed -n 's/.*packets \([0-9]*\).*/\1/p'`)
	count.Env = env
	out, err := count.Output()
	if err != nil {
		l.t.Fatal(err)
	}
	return string(out)
}
