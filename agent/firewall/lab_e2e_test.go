//go:build e2e

package firewall

import (
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/nat"
	"golang.org/x/sys/unix"
)

// These tests want root and nft. Packets really flow:
//
//	peer 192.168.10.9, .40.9 --- wg0 gateway net1 --- ours 10.20.0.5, 10.20.0.9
//	                         100.64.7.0/24: the virtual IPs
//
// The peer's link ends in an interface with the tunnel's name, which is how a
// WireGuard gateway's ruleset tells tunnel traffic.

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
ip netns exec $G sysctl -q -w net.ipv4.ip_forward=1 net.netfilter.nf_conntrack_max=65536
`

type lab struct {
	t                   *testing.T
	peer, gateway, ours string // network namespaces
}

func newLab(t *testing.T) *lab {
	t.Helper()
	prefix := fmt.Sprintf("vp-firewall-%d-", os.Getpid())
	l := &lab{t: t, peer: prefix + "peer", gateway: prefix + "gateway", ours: prefix + "ours"}
	t.Cleanup(func() {
		for _, name := range []string{l.peer, l.gateway, l.ours} {
			_ = exec.Command("ip", "netns", "delete", name).Run()
		}
	})
	l.shell(setup)
	return l
}

// shell runs a script that knows the namespaces as P, G and O.
func (l *lab) shell(script string) string {
	l.t.Helper()
	command := exec.Command("sh", "-eu", "-c", script)
	command.Env = append(os.Environ(), "P="+l.peer, "G="+l.gateway, "O="+l.ours)
	out, err := command.CombinedOutput()
	if err != nil {
		l.t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return string(out)
}

// in runs a function on a thread in a network namespace. The thread is not used
// again, because it may not find its way back.
func (l *lab) in(namespace string, f func() error) {
	l.t.Helper()
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		file, err := os.Open("/var/run/netns/" + namespace)
		if err == nil {
			defer file.Close()
			err = unix.Setns(int(file.Fd()), unix.CLONE_NEWNET)
		}
		if err == nil {
			err = f()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		l.t.Fatal(err)
	}
}

// apply puts a ruleset in force and cuts what it doesn't grant.
func (l *lab) apply(table *Table, in nat.Input, hosts ...Host) (changed bool, cut int) {
	l.t.Helper()
	rules, text := ruleset(l.t, in)
	l.in(l.gateway, func() (err error) {
		if changed, err = table.Apply(l.t.Context(), text, hosts); err != nil {
			return err
		}
		cut, err = CutFlows(rules, hosts)
		return err
	})
	return changed, cut
}

// serve echoes what comes on an address, by TCP and UDP.
func (l *lab) serve(namespace, address string) {
	l.t.Helper()
	l.in(namespace, func() error {
		listener, err := net.Listen("tcp4", address)
		if err != nil {
			return err
		}
		packets, err := net.ListenPacket("udp4", address)
		if err != nil {
			return err
		}
		l.t.Cleanup(func() { listener.Close(); packets.Close() })
		go func() {
			for {
				c, err := listener.Accept()
				if err != nil {
					return
				}
				go func() { _, _ = io.Copy(c, c); c.Close() }()
			}
		}()
		go func() {
			buffer := make([]byte, 2048)
			for {
				n, from, err := packets.ReadFrom(buffer)
				if err != nil {
					return
				}
				_, _ = packets.WriteTo(buffer[:n], from)
			}
		}()
		return nil
	})
}

// stream is a connection that sends numbered blocks, one after the other has come
// back whole.
type stream struct {
	conn net.Conn
	good atomic.Int64 // blocks that came back as they went
	bad  atomic.Int64 // others
}

// connect opens a stream. Its connection stays open until the test ends.
func (l *lab) connect(namespace, from, to string) *stream {
	l.t.Helper()
	s := &stream{}
	l.in(namespace, func() (err error) {
		d := net.Dialer{Timeout: 2 * time.Second, LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
		s.conn, err = d.Dial("tcp4", to)
		return err
	})
	l.t.Cleanup(func() { s.conn.Close() })
	go s.run()
	return s
}

func (s *stream) run() {
	for i := 0; ; i++ {
		block := fmt.Sprintf("%0512d", i)
		if _, err := io.WriteString(s.conn, block); err != nil {
			return
		}
		answer := make([]byte, len(block))
		if _, err := io.ReadFull(s.conn, answer); err != nil {
			return
		}
		if string(answer) == block {
			s.good.Add(1)
		} else {
			s.bad.Add(1)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// flows tells whether the stream gets on within some time.
func (s *stream) flows(within time.Duration) bool {
	start := s.good.Load()
	for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if s.good.Load() > start+1 {
			return true
		}
	}
	return false
}

// dies returns how long it took until the stream stood still for a while.
func (s *stream) dies(t *testing.T, within time.Duration) {
	t.Helper()
	start, last, since := time.Now(), s.good.Load(), time.Now()
	for time.Since(start) < within+500*time.Millisecond {
		if now := s.good.Load(); now != last {
			last, since = now, time.Now()
		}
		time.Sleep(5 * time.Millisecond)
	}
	if since.Sub(start) > within {
		t.Errorf("it still flowed %v later", since.Sub(start))
	}
}

// gateway is one of two peers, three exposures and a reverse exposure.
func gateway() nat.Input {
	address := netip.MustParseAddr
	port := []vpn.PortRange{{From: 8080, To: 8080}}
	return nat.Input{
		Address:  "10.254.0.18",
		Internal: []netip.Prefix{netip.MustParsePrefix("10.254.0.0/24")},
		Ledger: alloc.Ledger{ServiceCIDR: netip.MustParsePrefix("100.64.7.0/24"), VirtualIPs: map[string]byte{
			"web": 10, "any": 11, "erp": 12, "scada": 200,
		}},
		Gateway: vpn.Gateway{
			Owner:     vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: "acme", Name: "dc1"},
			Protocol:  vpn.WireGuard,
			WireGuard: &vpn.Interface{ListenPort: 51820},
			Exposures: []vpn.Exposure{
				{Name: "web", Target: vpn.Target{Address: address("10.20.0.5"), Protocol: "tcp", Ports: port}},
				{Name: "any", Target: vpn.Target{Address: address("10.20.0.9")}},
				{Name: "erp", Target: vpn.Target{Host: "erp.example.org", Protocol: "tcp", Ports: port}},
			},
			ReverseExposures: []vpn.Exposure{{Name: "scada", Target: vpn.Target{Address: address("192.168.10.9"), Protocol: "tcp", Ports: []vpn.PortRange{{From: 502, To: 502}}}}},
			Peers: []vpn.Peer{
				{Name: "berlin", Subnets: []netip.Prefix{netip.MustParsePrefix("192.168.10.0/24")},
					Grants: &vpn.Grants{Exposures: []string{"web", "any", "erp"}, ReverseExposures: []string{"scada"}}},
				{Name: "oslo", Subnets: []netip.Prefix{netip.MustParsePrefix("192.168.40.0/24")},
					Grants: &vpn.Grants{Exposures: []string{"web", "any"}}},
			},
		},
	}
}

func ruleset(t testing.TB, in nat.Input) (nat.Table, string) {
	t.Helper()
	table, err := nat.Of(in)
	if err != nil {
		t.Fatal(err)
	}
	text, err := table.Text()
	if err != nil {
		t.Fatal(err)
	}
	return table, text
}
