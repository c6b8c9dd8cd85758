//go:build e2e

package render

import (
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/agent/lab/netns"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/pod"
)

func TestMain(m *testing.M) { os.Exit(netns.Main(m)) }

// lab is a row of networks under a ruleset.
type lab struct {
	t *testing.T
	netns.Row
}

func newLab(t *testing.T, ruleset string) *lab {
	t.Helper()
	l := &lab{t, netns.NewRow(t)}
	l.Gateway.Nft(t, ruleset)
	return l
}

// serve answers every connection with the address that it came from.
func (l *lab) serve(n netns.Namespace, address string) {
	l.t.Helper()
	n.Serve(l.t, address, func(c net.Conn) { fmt.Fprint(c, c.RemoteAddr().(*net.TCPAddr).IP) })
}

// How long an answer may take that should come, from a machine with other work too, and
// how long one is waited for that should not.
const (
	soon  = 20 * time.Second
	never = 700 * time.Millisecond
)

// call connects from an address and returns what the server saw; empty: no way, and that
// should be want.
func (l *lab) call(n netns.Namespace, from, to, want string) string {
	within := soon
	if want == "" {
		within = never
	}
	c, err := n.Dial(from, to, within)
	if err != nil {
		return ""
	}
	defer c.Close()
	_ = c.SetReadDeadline(time.Now().Add(soon))
	answer := make([]byte, 64)
	size, _ := c.Read(answer)
	return string(answer[:size])
}

// travelled is a WireGuard gateway with exposures of each kind for one of its two peers.
func travelled() Input {
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
	return in
}

// TestTrafficFollowsTheGrants sends real packets through the ruleset of a WireGuard
// gateway: who is granted arrives, translated, and nobody else does.
func TestTrafficFollowsTheGrants(t *testing.T) {
	in := travelled()
	ruleset := data(t, in)[pod.KeyRules] + "add element inet vpnctl host_erp { 100.64.7.12 : 10.20.0.9 }\n"

	l := newLab(t, ruleset)
	for _, address := range []string{"10.20.0.5:8080", "10.20.0.5:9090", "10.20.0.9:8080", "10.20.0.9:9090"} {
		l.serve(l.Ours, address)
	}
	l.serve(l.Peer, "192.168.10.9:502")
	l.serve(l.Peer, "192.168.10.9:503")
	l.serve(l.Gateway, "0.0.0.0:9903")

	const berlin, oslo, port1, self = "192.168.10.9", "192.168.40.9", "10.254.0.18", "100.64.7.1"
	for sentence, c := range map[string]struct {
		n              netns.Namespace
		from, to, want string
	}{
		"a granted port, seen from the port's address": {l.Peer, berlin, "100.64.7.10:8080", port1},
		"a granted address, any port":                  {l.Peer, berlin, "100.64.7.11:9090", port1},
		"a granted host, once its map is filled":       {l.Peer, berlin, "100.64.7.12:8080", port1},
		"a reverse exposure, seen from .1":             {l.Ours, "10.254.0.5", "100.64.7.200:502", self},
		"the pod itself, from our side":                {l.Ours, "10.254.0.5", "10.254.0.18:9903", ""},
		"a port that isn't exposed":                    {l.Peer, berlin, "100.64.7.10:9090", ""},
		"another port of a host":                       {l.Peer, berlin, "100.64.7.12:9090", ""},
		"a virtual IP that nothing has":                {l.Peer, berlin, "100.64.7.13:8080", ""},
		"a target by its own address":                  {l.Peer, berlin, "10.20.0.5:8080", ""},
		"a peer without a grant":                       {l.Peer, oslo, "100.64.7.10:8080", ""},
		"a peer without a grant, any port":             {l.Peer, oslo, "100.64.7.11:9090", ""},
		"an address that is no peer's":                 {l.Peer, "192.168.255.2", "100.64.7.10:8080", ""},
		"the pod itself, from the tunnel":              {l.Peer, berlin, "192.168.255.1:9903", ""},
		"the pod's port address, from the tunnel":      {l.Peer, berlin, "10.254.0.18:9903", ""},
		"a reverse exposure, from no internal source":  {l.Ours, "10.20.0.5", "100.64.7.200:502", ""},
		"a reverse exposure, another port":             {l.Ours, "10.254.0.5", "100.64.7.200:503", ""},
		"a reverse exposure, from the tunnel":          {l.Peer, oslo, "100.64.7.200:502", ""},
		"an exposure, from our own side":               {l.Ours, "10.254.0.5", "100.64.7.10:8080", ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := l.call(c.n, c.from, c.to, c.want); got != c.want {
				t.Errorf("from %s to %s: the server saw %q, want %q", c.from, c.to, got, c.want)
			}
		})
	}

	l.strays(ruleset)
	// Without the tunnel's route the way out is our own side: nothing may take it.
	l.Gateway.IP(t, "route del 192.168.0.0/17", "route add default via 10.254.0.5")
	out := l.Ours.Capture(t, "t0")
	l.call(l.Ours, "10.254.0.5", "100.64.7.200:502", "")
	tried := 0
	for _, p := range out.End() {
		switch to := p.Destination.String(); {
		case strings.HasPrefix(to, "192.168."):
			t.Errorf("for the peer, in the clear: %+v", p)
		case to == "100.64.7.200":
			tried++
		}
	}
	if tried == 0 {
		t.Error("nobody has called: that proves nothing")
	}
}
