//go:build e2e

package lab

import (
	"net/netip"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/vpnctl/vpnctl/agent/lab/netns"
)

// hop is a connection as it is seen at one place.
type hop struct{ from, to netip.Addr }

func between(from, to string) hop { return hop{netip.MustParseAddr(from), netip.MustParseAddr(to)} }

// hops wants just these connections among the packets of a place, in both directions.
func hops(t *testing.T, where string, got []netns.Packet, want ...hop) {
	t.Helper()
	allowed, seen := map[hop]bool{}, map[hop]bool{}
	for _, h := range want {
		allowed[h], allowed[hop{h.to, h.from}] = true, true
	}
	for _, p := range got {
		if p.Protocol != unix.IPPROTO_TCP {
			continue
		}
		h := hop{p.Source, p.Destination}
		seen[h] = true
		if !allowed[h] {
			t.Errorf("%s: %s to %s", where, p.Source, p.Destination)
		}
	}
	for h := range allowed {
		if !seen[h] {
			t.Errorf("%s: nothing from %s to %s", where, h.from, h.to)
		}
	}
}

// tunnelled wants that a gateway and a peer exchange packets of the tunnel alone: UDP,
// from its port to its port, and none to the public address, which is the cloud's.
func tunnelled(t *testing.T, wire *netns.Capture, public, peer string, port uint16) {
	t.Helper()
	own, other := netip.MustParseAddr(public), netip.MustParseAddr(peer)
	all := wire.Seen(func(p netns.Packet) bool { return p.Source == other || p.Destination == other })
	if len(all) == 0 {
		t.Error("nothing was seen between gateway and peer")
	}
	for _, p := range all {
		if p.Protocol != unix.IPPROTO_UDP || p.From != port || p.To != port || p.Destination == own {
			t.Errorf("between gateway and peer: %+v", p)
		}
	}
}

// sources: who sees which address where a connection passes, captured.
func (l *ipsecLab) sources(t *testing.T) {
	plant, port := l.plants["plant1"], l.pod.rendered.expect.Port.Address
	l.fabric.services.Quiet(t, "eth0")
	services, client, wire := l.fabric.services.Capture(t, "eth0"), plant.host.Capture(t, "eth0"), l.fabric.ns.Capture(t, "port-dc1")
	l.reach(t, "web", "192.168.10.40")
	if _, err := fetch(l.fabric.host, "", "100.64.0.200:8443", "/", answerWithin); err != nil {
		t.Error(err)
	}
	hops(t, "at the service", services.End(), between(port, "10.20.0.15"))
	hops(t, "at the client", client.End(), between("192.168.10.40", "100.64.0.10"), between("100.64.0.1", "192.168.10.40"))
	hops(t, "at the port", wire.End(), between(port, "10.20.0.15"), between(hostAddress, "100.64.0.200"))
	tunnelled(t, wire, l.pod.rendered.expect.PublicAddress, plant.address, 4500)
}

// sources: the same of a site; a laptop is seen by its address in the tunnel.
func (l *wireguardLab) sources(t *testing.T) {
	site, laptop, port := l.roads["site"], l.roads["laptop-a"], l.pod.rendered.expect.Port.Address
	l.fabric.services.Quiet(t, "eth0")
	services, client, wire := l.fabric.services.Capture(t, "eth0"), site.host.Capture(t, "eth0"), l.fabric.ns.Capture(t, "port-remote")
	inside := laptop.ns.Capture(t, laptop.device())
	for _, from := range []netns.Namespace{site.host, laptop.ns} {
		if _, err := fetch(from, "", "100.64.0.10:8080", "/", answerWithin); err != nil {
			t.Error(err)
		}
	}
	if _, err := fetch(l.fabric.host, "", "100.64.0.200:8443", "/", answerWithin); err != nil {
		t.Error(err)
	}
	hops(t, "at the service", services.End(), between(port, "10.20.0.15"))
	hops(t, "at the site", client.End(), between("172.20.1.40", "100.64.0.10"), between("100.64.0.1", "172.20.1.40"))
	hops(t, "at the laptop", inside.End(), between("100.64.0.199", "100.64.0.10"))
	hops(t, "at the port", wire.End(), between(port, "10.20.0.15"), between(hostAddress, "100.64.0.200"))
	for _, r := range []*road{site, laptop} {
		tunnelled(t, wire, l.pod.rendered.expect.PublicAddress, r.address, 51820)
	}
}
