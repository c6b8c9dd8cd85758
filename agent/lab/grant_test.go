//go:build e2e

package lab

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/agent/lab/netns"
)

const (
	answerWithin = 20 * time.Second
	// cutBound is from the change of the mounted file to the last packet. Where the machine
	// has other work, it may be a few times that.
	cutBound = time.Second
	slack    = 5
	// calm is how long a transfer may pause for reasons of the machine: all of the lab
	// shares two processors.
	calm = 4 * time.Second
)

// edit writes manifests, applies them, and lets the kubelet have them.
func (l *ipsecLab) edit(t *testing.T, manifests map[string]string) {
	t.Helper()
	for name, text := range manifests {
		l.estate.write(t, name, text)
	}
	l.estate.apply(t)
	next := l.estate.read(t, l.pod.namespace, l.pod.name)
	l.cluster.declare(t, &pod{namespace: l.pod.namespace, name: l.pod.name, rendered: next})
	l.pod.sync(t, l.estate)
}

// everything is what plant1 is granted once it isn't the only peer.
const everything = "{exposures: [web, echo, erp], reverseExposures: [mes, pulse]}"

// reach wants an answer of an exposure.
func (l *ipsecLab) reach(t *testing.T, service, source string) {
	t.Helper()
	to := map[string]string{"web": "100.64.0.10:8080", "erp": "100.64.0.12:8080", "erp2": "100.64.0.12:8080"}[service]
	want := service + " for " + l.pod.rendered.expect.Port.Address
	if got, err := fetch(l.hostOf(source), source, to, "/", answerWithin); err != nil || got != want {
		t.Errorf("%s from %s: want %q, got %q (%v)", service, source, want, got, err)
	}
}

// hostOf is the host that has an address.
func (l *ipsecLab) hostOf(address string) netns.Namespace {
	for _, p := range l.plants {
		for _, n := range p.networks {
			if n+".40" == address {
				return p.host
			}
		}
	}
	panic("nobody has " + address)
}

// grants: with a second peer, access is by grants; a live connection ends with its
// grant, and no other one.
func (l *ipsecLab) grants(t *testing.T) {
	first, second := l.plants["plant1"], l.plants["plant2"]
	second.configure(t, l.pod.rendered.expect.PublicAddress, l.key("plant2"), usual)
	bystander := first.host.Stream(t, "192.168.10.40", "100.64.0.11:7")
	l.edit(t, map[string]string{
		"plant1.yaml": plantManifest(first, usual, everything), "plant2.yaml": plantManifest(second, usual, "{}"),
	})
	netns.Eventually(t, "a second peer is up", 45*time.Second, func() bool { return l.up("plant2") })
	refused(t,
		attempt{"an exposure without a grant", second.host, "", "100.64.0.10:8080"},
		attempt{"another one", second.host, "", "100.64.0.11:7"},
		attempt{"another peer's service", second.host, "", "100.64.0.200:8443"},
		attempt{"another peer's host itself", second.host, "", "192.168.10.40:8443"},
	)
	l.edit(t, map[string]string{"plant2.yaml": plantManifest(second, usual, "{exposures: [web, echo]}")})
	netns.Eventually(t, "a grant opens", 5*time.Second, func() bool {
		_, err := fetch(second.host, "", "100.64.0.10:8080", "/", 500*time.Millisecond)
		return err == nil
	})
	victim := second.host.Stream(t, "", "100.64.0.11:7")
	time.Sleep(500 * time.Millisecond)
	l.edit(t, map[string]string{"plant2.yaml": plantManifest(second, usual, "{exposures: [web]}")})
	ends(t, "a revoked grant ends its live connection", victim)
	refused(t, attempt{"a revoked exposure", second.host, "", "100.64.0.11:7"})
	l.reach(t, "web", "192.168.20.40")
	l.withdraws(t)
	l.undisturbed(t, "plant1's connection, through all of this", bystander)
}

// withdraws: an exposure that is removed ends what leads to it.
func (l *ipsecLab) withdraws(t *testing.T) {
	second, gateway := l.plants["plant2"], fmt.Sprintf(dc1, usual.ike)
	const exposure = "    - {name: passing, virtualIP: 100.64.0.19, target: {address: 10.20.0.16, ports: [7]}}\n  reverseExposures:"
	l.edit(t, map[string]string{
		"dc1.yaml":    strings.Replace(gateway, "  reverseExposures:", exposure, 1),
		"plant2.yaml": plantManifest(second, usual, "{exposures: [web, passing]}"),
	})
	netns.Eventually(t, "an exposure is added", 5*time.Second, func() bool {
		c, err := second.host.Dial("", "100.64.0.19:7", time.Second)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	victim := second.host.Stream(t, "", "100.64.0.19:7")
	time.Sleep(500 * time.Millisecond)
	l.edit(t, map[string]string{"dc1.yaml": gateway, "plant2.yaml": plantManifest(second, usual, "{exposures: [web]}")})
	ends(t, "an exposure that is removed ends its connections", victim)
	refused(t, attempt{"an exposure that is removed", second.host, "", "100.64.0.19:7"})
}

// ends wants a stream, which nothing grants since just now, to have ended in time.
func ends(t *testing.T, what string, s *netns.Stream) {
	t.Helper()
	revoked := time.Now()
	for time.Since(revoked) < 4*cutBound || s.Silence() < 2*cutBound && time.Since(revoked) < 2*slack*cutBound {
		time.Sleep(50 * time.Millisecond)
	}
	took := max(0, time.Since(revoked)-s.Silence())
	t.Logf("%-58s %8s  (bound %s)", what, took.Round(10*time.Millisecond), cutBound)
	if took > slack*cutBound {
		t.Errorf("%s: it went on for %s", what, took)
	}
}

// undisturbed wants a stream to have gone on.
func (l *ipsecLab) undisturbed(t *testing.T, what string, s *netns.Stream) {
	t.Helper()
	gap, err := s.Longest()
	t.Logf("%-58s %8s  (bound %s)", what+": longest pause", gap.Round(10*time.Millisecond), calm)
	if err != nil || gap > calm {
		t.Errorf("%s: paused for %s (%v)", what, gap, err)
	}
}
