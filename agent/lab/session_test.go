//go:build e2e

package lab

import (
	"syscall"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/agent/lab/netns"
	"github.com/vpnctl/vpnctl/agent/volume"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
)

// served waits until a peer is answered by an exposure.
func (l *wireguardLab) served(t *testing.T, what, peer string, within time.Duration) {
	t.Helper()
	r := l.roads[peer]
	want := "web for " + l.pod.rendered.expect.Port.Address
	netns.Eventually(t, what, within, func() bool {
		got, err := fetch(r.host, r.inner, "100.64.0.10:8080", "/", 500*time.Millisecond)
		return err == nil && got == want
	})
}

func (l *wireguardLab) comesUp(t *testing.T) {
	netns.Eventually(t, "every container is ready", time.Minute, l.pod.ready)
	netns.Eventually(t, "site is up, and the gateway spoke first", 20*time.Second, func() bool { return l.isUp("site") })
	netns.Eventually(t, "laptop-a is up", 20*time.Second, func() bool { return l.isUp("laptop-a") })
	if l.isUp("laptop-b") {
		t.Error("laptop-b is up without its preshared key in the cluster")
	}
	l.cluster.api.SetSecret("acme", "laptop-b-psk", map[string][]byte{"psk": []byte(l.preshared)})
	netns.Eventually(t, "its Secret appears, and laptop-b is up", 60*time.Second, func() bool { return l.isUp("laptop-b") })
}

// isUp tells whether status says so.
func (l *wireguardLab) isUp(peer string) bool {
	s := l.status(peer)
	return s.State != "" && s.State != "DOWN" && s.State != "UNKNOWN"
}

func (l *wireguardLab) status(peer string) vpnv1alpha1.PeerStatus {
	return l.cluster.status(l.pod, peer)
}

func (l *wireguardLab) forwards(t *testing.T) {
	for peer := range l.roads {
		l.served(t, "an exposure answers "+peer, peer, 5*time.Second)
	}
	if got, err := fetch(l.fabric.host, "", "100.64.0.200:8443", "/", answerWithin); err != nil || got != "mes for 100.64.0.1" {
		t.Errorf("the site's service, from a host: %q (%v)", got, err)
	}
}

func (l *wireguardLab) closed(t *testing.T) {
	site, laptop, stranger := l.roads["site"].host, l.roads["laptop-a"].ns, l.fabric.stranger
	stranger.IP(t, "route replace 100.64.0.0/24 via 198.51.100.1", "addr add 172.20.1.40/32 dev lo")
	laptop.IP(t, "addr add 172.20.1.40/32 dev lo") // another peer's source, in its own tunnel
	knocks := l.fabric.ns.Capture(t, "port-remote")
	refused(t,
		attempt{"another port of an exposed service", site, "", "100.64.0.10:8081"},
		attempt{"a virtual IP that nothing has", site, "", "100.64.0.50:8080"},
		attempt{"the pod's metrics", site, "", "100.64.0.1:9903"},
		attempt{"the pod's probes", site, "", "100.64.0.1:9904"},
		attempt{"an exposure without a grant", l.roads["laptop-b"].ns, "", "100.64.0.11:7"},
		attempt{"another peer", laptop, "100.64.0.199", "100.64.0.198:22"},
		attempt{"another peer's reverse target", laptop, "100.64.0.199", "100.64.0.200:8443"},
		attempt{"an exposure, with another peer's source", laptop, "172.20.1.40", "100.64.0.11:7"},
		attempt{"an exposure, from the transit network", l.fabric.host, "", "100.64.0.10:8080"},
		attempt{"an exposure, from outside the tunnel", stranger, "", "100.64.0.10:8080"},
		attempt{"an exposure, from outside with a site's source", stranger, "172.20.1.40", "100.64.0.10:8080"},
		attempt{"a reverse exposure, by a stranger", stranger, "", "100.64.0.200:8443"},
		attempt{"another port of the site's service", l.fabric.host, "", "100.64.0.200:8444"},
	)
	laptop.IP(t, "addr del 172.20.1.40/32 dev lo")
	stranger.IP(t, "addr del 172.20.1.40/32 dev lo")
	knocks.End()
	if len(knocks.Seen(func(p netns.Packet) bool { return p.Source.String() == strangerAddress && p.To == 8080 })) == 0 {
		t.Error("nothing from the stranger has come to the gateway's port: that proves nothing")
	}
	l.served(t, "an exposure still answers site", "site", 5*time.Second)
}

func (l *wireguardLab) grants(t *testing.T) {
	a := l.roads["laptop-a"]
	bystander := l.roads["site"].host.Stream(t, "", "100.64.0.11:7")
	victim := a.ns.Stream(t, a.inner, "100.64.0.11:7")
	time.Sleep(300 * time.Millisecond)
	l.edit(t, map[string]string{"laptop-a.yaml": roadManifest(a, laptopASetting, "{exposures: [web]}")})
	ends(t, "a revoked grant ends its live connection", victim)
	refused(t, attempt{"a revoked exposure", a.ns, a.inner, "100.64.0.11:7"})
	l.undisturbed(t, "the site's connection, meanwhile", bystander)
}

// reload: a peer is removed and comes back; another one keeps its session.
func (l *wireguardLab) reload(t *testing.T) {
	b := l.roads["laptop-b"]
	transfer := l.roads["site"].host.Stream(t, "", "100.64.0.11:7")
	before := l.wire("site")
	l.edit(t, map[string]string{"laptop-b.yaml": roadManifest(b, laptopBSetting, "{exposures: [web, echo]}")})
	netns.Eventually(t, "it is granted another exposure", 5*time.Second, func() bool {
		c, err := b.ns.Dial(b.inner, "100.64.0.11:7", time.Second)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	victim := b.ns.Stream(t, b.inner, "100.64.0.11:7")
	time.Sleep(500 * time.Millisecond)
	l.edit(t, map[string]string{"laptop-b.yaml": ""})
	ends(t, "a peer that is removed has no connection left", victim)
	netns.Eventually(t, "a removed peer is not answered any more", time.Second, func() bool {
		_, err := fetch(b.ns, b.inner, "100.64.0.10:8080", "/", 300*time.Millisecond)
		return err != nil
	})
	l.edit(t, map[string]string{"laptop-b.yaml": roadManifest(b, laptopBSetting, "{exposures: [web]}")})
	l.served(t, "it comes back", "laptop-b", 60*time.Second)
	netns.Eventually(t, "the site's counters go on", 15*time.Second, func() bool { return l.wire("site").Received > before.Received })
	if after := l.wire("site"); !after.Handshake.Equal(before.Handshake) && after.Handshake.Sub(before.Handshake) < 110*time.Second {
		t.Errorf("the site's session began anew: handshakes %s and %s", before.Handshake, after.Handshake)
	}
	l.undisturbed(t, "a transfer of another peer", transfer)
}

// wire is what the dataplane half shows of a peer.
func (l *wireguardLab) wire(peer string) volume.WireGuardPeer {
	if d := l.dataplane(); d.WireGuard != nil {
		for _, p := range d.WireGuard.Peers {
			if p.Name == peer {
				return p
			}
		}
	}
	return volume.WireGuardPeer{}
}

// roams: a laptop speaks from elsewhere, as it does behind a NAT that forgets, in the
// middle of a connection.
func (l *wireguardLab) roams(t *testing.T) {
	a := l.roads["laptop-a"]
	l.edit(t, map[string]string{"laptop-a.yaml": roadManifest(a, laptopASetting, "{exposures: [web, echo]}")})
	var through *netns.Stream
	netns.Eventually(t, "a grant opens", 5*time.Second, func() bool {
		c, err := a.ns.Dial(a.inner, "100.64.0.11:7", time.Second)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	through = a.ns.Stream(t, a.inner, "100.64.0.11:7")
	netns.Run(t, "wg", "set", a.device(), "listen-port", "40000")
	netns.Eventually(t, "the gateway has followed a peer that roams", 15*time.Second, func() bool {
		return contains(l.wire("laptop-a").Endpoint, ":40000")
	})
	netns.Eventually(t, "its connection goes on", 10*time.Second, func() bool { return through.Silence() < 300*time.Millisecond })
	// An edit of another peer leaves the endpoint alone.
	l.edit(t, map[string]string{"laptop-b.yaml": roadManifest(l.roads["laptop-b"], laptopBSetting, "{exposures: []}")})
	time.Sleep(time.Second)
	netns.Eventually(t, "and so after an edit", 10*time.Second, func() bool {
		return contains(l.wire("laptop-a").Endpoint, ":40000") && through.Silence() < 300*time.Millisecond
	})
}

// moves: the site has another address, and its name says so.
func (l *wireguardLab) moves(t *testing.T) {
	site := l.roads["site"]
	site.relocate(t, "198.51.100.21")
	l.cluster.names.set("site.lab.example", "198.51.100.21")
	netns.Eventually(t, "an endpoint follows its name", 20*time.Second, func() bool {
		got, _ := fetch(l.fabric.host, "", "100.64.0.200:8443", "/", time.Second)
		return got == "mes for 100.64.0.1"
	})
}

// dies: the device in user space ends with its process; everybody is back soon, and
// nothing leaves in the clear meanwhile.
func (l *wireguardLab) dies(t *testing.T) {
	clear := l.fabric.ns.Capture(t, "port-remote")
	c := l.pod.container("dataplane")
	starts, _ := c.count()
	killAndKnock(t, c, l.fabric.host, "100.64.0.200:8443")
	netns.Eventually(t, "the dataplane half runs again", 10*time.Second, func() bool { now, _ := c.count(); return now > starts })
	l.served(t, "laptop-a is answered again", "laptop-a", 30*time.Second)
	netns.Eventually(t, "the site's service is reached again", 30*time.Second, func() bool {
		got, _ := fetch(l.fabric.host, "", "100.64.0.200:8443", "/", time.Second)
		return got == "mes for 100.64.0.1"
	})
	noneClear(t, clear, "172.20.1.")
	for range 5 {
		c.signal(syscall.SIGKILL)
		time.Sleep(700 * time.Millisecond)
	}
	for _, peer := range []string{"laptop-a", "site"} { // laptop-b is granted nothing since roams
		l.served(t, "after five kills, "+peer, peer, sessionBound)
	}
}

// sessionBound is how long a peer needs to find out that its session is worth nothing,
// which only the two ends of it know: 15 seconds without an answer until it speaks up, 5
// for each of its words that meets nobody, and a third of a second at random each time.
const sessionBound = 30 * time.Second
