//go:build e2e

package lab

import (
	"fmt"
	"net/netip"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/vpnctl/vpnctl/agent/lab/netns"
)

// attempt is a connection that must not come about.
type attempt struct {
	sentence string
	from     netns.Namespace
	source   string // empty: the usual
	to       string
}

// refused makes all attempts at once, and tells which of them connected.
func refused(t *testing.T, attempts ...attempt) {
	t.Helper()
	var all sync.WaitGroup
	for _, a := range attempts {
		all.Go(func() {
			if c, err := a.from.Dial(a.source, a.to, shortly); err == nil {
				c.Close()
				t.Errorf("reached: %s (%s)", a.sentence, a.to)
			}
		})
	}
	all.Wait()
}

// closed: whatever isn't exposed isn't reached, from anywhere.
func (l *ipsecLab) closed(t *testing.T) {
	host, stranger := l.plants["plant1"].host, l.fabric.stranger
	stranger.IP(t, "route replace 100.64.0.0/24 via 198.51.100.1", "addr add 192.168.10.40/32 dev lo")
	l.cluster.ns.IP(t, "route replace 100.64.0.0/24 via "+l.pod.eth0, "addr add 10.254.0.77/32 dev lo")
	before := l.webs["web"].calls() + l.webs["mes"].calls()
	seen, knocks := l.fabric.services.Capture(t, "eth0"), l.fabric.ns.Capture(t, "port-dc1")
	refused(t,
		attempt{"another port of an exposed service", host, "", "100.64.0.10:8081"},
		attempt{"a port of another exposure", host, "", "100.64.0.11:8080"},
		attempt{"a virtual IP that nothing has", host, "", "100.64.0.50:8080"},
		attempt{"the gateway's own address", host, "", "100.64.0.1:8080"},
		attempt{"the pod's metrics", host, "", "100.64.0.1:9903"},
		attempt{"the pod's probes", host, "", "100.64.0.1:9904"},
		attempt{"the pod's metrics, from the transit network", l.fabric.host, "", l.pod.rendered.expect.Port.Address + ":9903"},
		attempt{"the pod's probes, from the transit network", l.fabric.host, "", l.pod.rendered.expect.Port.Address + ":9904"},
		attempt{"the pod's metrics, from outside", stranger, "", l.pod.rendered.expect.PublicAddress + ":9903"},
		attempt{"a reverse exposure, by a pod with an internal source", l.cluster.ns, "10.254.0.77", "100.64.0.200:8443"},
		attempt{"the pod's metrics by a virtual IP", host, "", "100.64.0.10:9903"},
		attempt{"a reverse exposure, from within the tunnel", host, "", "100.64.0.200:8443"},
		attempt{"another port of the customer's service", l.fabric.host, "", "100.64.0.200:8444"},
		attempt{"an exposure, from the transit network", l.fabric.host, "", "100.64.0.10:8080"},
		attempt{"an exposure, from outside the tunnel", stranger, "", "100.64.0.10:8080"},
		attempt{"an exposure, from outside with a customer's source", stranger, "192.168.10.40", "100.64.0.11:7"},
		attempt{"an exposure with a name, from outside", stranger, "", "100.64.0.12:8080"},
		attempt{"a reverse exposure, by a stranger", stranger, "", "100.64.0.200:8443"},
		attempt{"a reverse exposure, by a stranger with a customer's source", stranger, "192.168.10.40", "100.64.0.200:8443"},
	)
	stranger.IP(t, "addr del 192.168.10.40/32 dev lo")
	l.cluster.ns.IP(t, "addr del 10.254.0.77/32 dev lo", "route del 100.64.0.0/24")
	knocks.End()
	for _, source := range []string{strangerAddress, "192.168.10.40", hostAddress} {
		from := netip.MustParseAddr(source)
		if len(knocks.Seen(func(p netns.Packet) bool {
			return p.Source == from && p.Protocol == unix.IPPROTO_TCP && (p.To == 7 || p.To == 8080)
		})) == 0 {
			t.Errorf("nothing from %s has come to the gateway's port: that proves nothing", from)
		}
	}
	if after := l.webs["web"].calls() + l.webs["mes"].calls(); after != before {
		t.Errorf("%d connections came through", after-before)
	}
	for _, p := range seen.End() {
		if p.Protocol == unix.IPPROTO_TCP {
			t.Errorf("a packet came through to the services: %s", fmt.Sprint(p.Source, p.From, p.Destination, p.To))
		}
	}
	l.reach(t, "web", "192.168.10.40")
}
