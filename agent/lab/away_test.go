//go:build e2e

package lab

import (
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vpnctl/vpnctl/agent/lab/netns"
	"github.com/vpnctl/vpnctl/agent/volume"
)

// peerAway: a peer that is gone without a word comes back without doing anything. Until
// then nothing for it leaves in the clear.
func (l *ipsecLab) peerAway(t *testing.T) {
	first := l.plants["plant1"]
	through := l.fabric.host.Stream(t, "", "100.64.0.201:7")
	clear := l.fabric.ns.Capture(t, "port-dc1")
	first.charon.Kill()
	if out, err := l.pod.container("charon").exec("swanctl", "--terminate", "--ike", "plant1", "--force", "--uri", "unix:///run/vpnctl/charon.vici"); err != nil {
		t.Fatalf("ending the tunnel: %v %s", err, out)
	}
	netns.Eventually(t, "status shows that a peer is away", 30*time.Second, func() bool { return !l.up("plant1") })
	time.Sleep(5 * time.Second)
	sent := clear.Seen(func(p netns.Packet) bool { return p.Source.String() == hostAddress && p.Protocol == unix.IPPROTO_TCP })
	if len(sent) == 0 {
		t.Error("the host has sent nothing for the peer: that proves nothing")
	}
	noneClear(t, clear, "192.168.")
	first.charon.Start(t)
	first.configure(t, l.pod.rendered.expect.PublicAddress, l.keys["plant1"], usual)
	l.flows(t, "packets pass again, and the peer has done nothing for it", 100*time.Second)
	netns.Eventually(t, "the connection from before goes on", 60*time.Second, func() bool { return through.Silence() < time.Second })
}

// silenceBound is from the start of a peer's device that has fallen silent 20 seconds
// before. Since then: 30 seconds until charon asks whether it is alive, 36 until it gives
// up (see swanctl.Daemon), 10 until the watchdog has seen that twice, and 10 for a busy
// machine.
const silenceBound = (30 + 36 + 10 + 10 - 20) * time.Second

// diesSilently: a peer's device starts anew without a word, as after a power failure, and
// waits for the gateway to speak. Nobody tells the gateway that its SA is worth nothing.
func (l *ipsecLab) diesSilently(t *testing.T) {
	first := l.plants["plant1"]
	bystander := l.plants["plant2"].host.Stream(t, "", "100.64.0.11:7")
	l.untouched(t, func() {
		first.charon.Kill()
		time.Sleep(20 * time.Second)
		first.charon.Start(t)
		first.configure(t, l.pod.rendered.expect.PublicAddress, l.keys["plant1"], usual)
		l.flows(t, "after a silent restart packets pass again", silenceBound)
	}, "plant2")
	l.undisturbed(t, "another peer's connection, meanwhile", bystander)
}

// nobodyToAsk: charon and the half that feeds it end together while the API server is
// away. The keys of before are still there.
func (l *ipsecLab) nobodyToAsk(t *testing.T) {
	l.cluster.api.Down()
	defer l.cluster.api.Up()
	l.pod.container("status").signal(syscall.SIGKILL)
	l.pod.container("charon").signal(syscall.SIGKILL)
	time.Sleep(2 * time.Second)
	l.flows(t, "packets pass again, and nobody was asked for a key", 60*time.Second)
	netns.Eventually(t, "as they do for every peer", 30*time.Second, func() bool {
		_, err := fetch(l.plants["plant2"].host, "", "100.64.0.10:8080", "/", time.Second)
		return err == nil
	})
}

// networkMoves: a network goes to another peer while the one before can't confirm that its
// SA has ended. As long as charon has that SA, the network is granted to nobody.
func (l *ipsecLab) networkMoves(t *testing.T) {
	second, third := l.plants["plant2"], l.plants["plant3"]
	l.key("plant3")
	second.charon.Kill()
	left, right := *second, *third
	left.networks, right.networks = []string{"192.168.22"}, []string{"192.168.30", second.networks[0]}
	l.edit(t, map[string]string{
		"plant2.yaml": plantManifest(&left, usual, "{exposures: [web]}"), "plant3.yaml": plantManifest(&right, usual, "{exposures: [web]}"),
	})
	netns.Eventually(t, "its grant waits", 5*time.Second, func() bool { return l.problem(volume.PartRuleset) })
	time.Sleep(patienceOver)
	if all, _ := l.associations(t, "plant2"); len(all) == 0 || !l.problem(volume.PartRuleset) {
		t.Errorf("SAs of the peer before: %v; problems %v", all, l.dataplane().Problems)
	}
	netns.Eventually(t, "until charon has given the peer before up", 60*time.Second, func() bool { return !l.problem(volume.PartRuleset) })
	all, _ := l.associations(t, "plant2")
	for _, a := range all {
		if len(a.Children) > 0 {
			t.Errorf("granted while the SA is there: %v", all)
		}
	}
	second.charon.Start(t)
	second.configure(t, l.pod.rendered.expect.PublicAddress, l.keys["plant2"], usual)
	l.edit(t, map[string]string{"plant2.yaml": plantManifest(second, usual, "{exposures: [web, echo]}"), "plant3.yaml": ""})
	netns.Eventually(t, "and it comes back", 90*time.Second, func() bool {
		_, err := fetch(second.host, "", "100.64.0.10:8080", "/", time.Second)
		return err == nil
	})
}

// patienceOver is longer than the dataplane half waits for what isn't known (10 seconds).
const patienceOver = 14 * time.Second

// longAway: nothing comes to an end, however long nobody answers. Meanwhile a peer is
// away, returns and waits for the gateway to speak, and a grant opens.
func (l *ipsecLab) longAway(t *testing.T) {
	const away, peerGone, peerBack = 10 * time.Minute, time.Minute, 6 * time.Minute
	second := l.plants["plant2"]
	bystander := l.plants["plant1"].host.Stream(t, "192.168.10.40", "100.64.0.11:7")
	starts := map[string]int{}
	for _, c := range l.pod.containers {
		starts[c.spec.Name], _ = c.count()
	}
	l.untouched(t, func() {
		began := time.Now()
		l.cluster.api.Down()
		time.Sleep(time.Until(began.Add(peerGone)))
		second.charon.Kill()
		time.Sleep(time.Until(began.Add(peerBack)))
		second.charon.Start(t)
		second.configure(t, l.pod.rendered.expect.PublicAddress, l.keys["plant2"], usual)
		netns.Eventually(t, "a peer that was away for five minutes is spoken to", silenceBound, func() bool {
			_, err := fetch(second.host, "", "100.64.0.10:8080", "/", time.Second)
			return err == nil
		})
		l.edit(t, map[string]string{"plant2.yaml": plantManifest(second, usual, "{exposures: [web, echo]}")})
		netns.Eventually(t, "a grant opens while the API is away", 5*time.Second, func() bool {
			c, err := second.host.Dial("", "100.64.0.11:7", time.Second)
			if err == nil {
				c.Close()
			}
			return err == nil
		})
		time.Sleep(time.Until(began.Add(away)))
		asked := len(l.cluster.api.Requests())
		l.cluster.api.Up()
		netns.Eventually(t, "after ten minutes the API is asked again", 90*time.Second, func() bool { return len(l.cluster.api.Requests()) > asked })
	}, "plant1")
	for _, c := range l.pod.containers {
		if now, _ := c.count(); now != starts[c.spec.Name] {
			t.Errorf("%s was restarted meanwhile", c.spec.Name)
		}
	}
	netns.Eventually(t, "and status has all peers up", 30*time.Second, func() bool { return l.up("plant1") && l.up("plant2") })
	l.undisturbed(t, "a connection, meanwhile", bystander)
}
