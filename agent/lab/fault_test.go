//go:build e2e

package lab

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/agent/lab/configmap"
	"github.com/vpnctl/vpnctl/agent/lab/netns"
	"github.com/vpnctl/vpnctl/agent/volume"
	renderpod "github.com/vpnctl/vpnctl/render/pod"
)

// flows waits until plant1 reaches a service.
func (l *ipsecLab) flows(t *testing.T, what string, within time.Duration) {
	t.Helper()
	netns.Eventually(t, what, within, func() bool {
		_, err := fetch(l.plants["plant1"].host, "192.168.10.40", "100.64.0.10:8080", "/", 500*time.Millisecond)
		return err == nil
	})
}

// dataplane is what the dataplane half shows.
func (l *ipsecLab) dataplane() volume.Dataplane {
	d, _, _ := volume.Volume{Dir: l.pod.memory}.ReadDataplane()
	return d
}

// problem tells whether the dataplane half has a problem with a part.
func (l *ipsecLab) problem(part string) bool {
	for _, p := range l.dataplane().Problems {
		if p.Part == part {
			return true
		}
	}
	return false
}

// files: a ruleset that nft refuses leaves the one before; of two changes within a
// second the second counts.
func (l *ipsecLab) files(t *testing.T) {
	name := renderpod.RulesName(l.gateway())
	dir, good := l.pod.mounted[name], l.pod.rendered.configs[name].Data[renderpod.KeyRules]
	mount := func(text string) {
		if err := configmap.Swap(dir, map[string]string{renderpod.KeyRules: text}); err != nil {
			t.Fatal(err)
		}
	}
	bystander := l.plants["plant1"].host.Stream(t, "192.168.10.40", "100.64.0.11:7")
	for sentence, text := range map[string]string{
		"that nft refuses": strings.Replace(good, "ct state established ", "ct state establishd ", 1),
		"that ends early":  good[:len(good)/2],
	} {
		mount(text)
		netns.Eventually(t, "a ruleset "+sentence+" shows", 5*time.Second, func() bool { return l.problem(volume.PartRuleset) })
		l.reach(t, "web", "192.168.10.40")
		l.reach(t, "web", "192.168.20.40")
		refused(t, attempt{"what wasn't exposed before", l.plants["plant2"].host, "", "100.64.0.12:8080"})
		mount(good)
		netns.Eventually(t, "and all is well again", 5*time.Second, func() bool { return !l.problem(volume.PartRuleset) })
	}
	last := without(good, "# plant1, erp")
	mount(without(good, "# plant2, web"))
	time.Sleep(150 * time.Millisecond)
	mount(last)
	netns.Eventually(t, "of two changes within a second the second is in force", 2*time.Second, func() bool { return l.dataplane().Ruleset == volume.Hash(last) })
	refused(t, attempt{"what the second has taken away", l.plants["plant1"].host, "192.168.10.40", "100.64.0.12:8080"})
	l.reach(t, "web", "192.168.20.40")
	mount(good)
	netns.Eventually(t, "and the first again", 2*time.Second, func() bool { return l.dataplane().Ruleset == volume.Hash(good) })
	l.undisturbed(t, "a connection, through all of this", bystander)
}

// without drops the lines that hold a text.
func without(text, part string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !contains(line, part) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// moves: a host exposure follows its name.
func (l *ipsecLab) moves(t *testing.T) {
	l.reach(t, "erp", "192.168.10.40")
	l.cluster.names.set("erp.lab.example", "10.20.0.18")
	netns.Eventually(t, "an exposure follows its name", 10*time.Second, func() bool {
		got, _ := fetch(l.plants["plant1"].host, "192.168.10.40", "100.64.0.12:8080", "/", time.Second)
		return contains(got, "erp2")
	})
	const another = "100.64.77.200" // a reverse exposure of some other gateway, for all that a name may say
	l.cluster.names.set("erp.lab.example", another)
	netns.Eventually(t, "a name that leads to another client shows", 15*time.Second, func() bool {
		return slices.ContainsFunc(l.dataplane().Problems, func(p volume.Problem) bool { return contains(p.Text, another) })
	})
	wire := l.fabric.ns.Capture(t, "port-dc1")
	l.reach(t, "erp2", "192.168.10.40")
	wire.End()
	if sent := wire.Seen(func(p netns.Packet) bool { return p.Destination.String() == another }); len(sent) > 0 {
		t.Errorf("%d packets went there", len(sent))
	}
	l.cluster.names.set("erp.lab.example", "")
	netns.Eventually(t, "a name that is gone shows", 15*time.Second, func() bool { return l.problem(volume.PartDNS) })
	got, err := fetch(l.plants["plant1"].host, "192.168.10.40", "100.64.0.12:8080", "/", answerWithin)
	if err != nil || !contains(got, "erp2") {
		t.Errorf("the last address of a name that is gone: %q (%v)", got, err)
	}
	l.cluster.names.set("erp.lab.example", "10.20.0.17")
	netns.Eventually(t, "and it comes back", 15*time.Second, func() bool {
		got, _ := fetch(l.plants["plant1"].host, "192.168.10.40", "100.64.0.12:8080", "/", time.Second)
		return contains(got, "erp for") && !l.problem(volume.PartDNS)
	})
}

// kills ends the agent's two halves again and again, at random moments. No packet
// depends on them.
func (l *ipsecLab) kills(t *testing.T) {
	const times = 50
	bystander := l.plants["plant1"].host.Stream(t, "192.168.10.40", "100.64.0.11:7")
	l.untouched(t, func() {
		killed := 0
		for end := time.Now().Add(5 * time.Minute); killed < times && time.Now().Before(end); {
			c := l.pod.container([]string{"dataplane", "status"}[rand.IntN(2)])
			if c.pid() != 0 {
				c.signal(syscall.SIGKILL)
				killed++
			}
			time.Sleep(time.Duration(50+rand.IntN(600)) * time.Millisecond)
		}
		if killed < times {
			t.Errorf("%d kills of %d", killed, times)
		}
		netns.Eventually(t, "ready after 50 kills", 30*time.Second, func() bool { return l.pod.ready() && !l.problem(volume.PartRuleset) })
		netns.Eventually(t, "everything up in status after 50 kills", 15*time.Second, func() bool { return l.up("plant1") && l.up("plant2") })
	}, "plant1", "plant2")
	l.undisturbed(t, "a connection, meanwhile", bystander)
	l.reach(t, "web", "192.168.20.40")
}

// apiAway: the API server is needed for news alone.
func (l *ipsecLab) apiAway(t *testing.T) {
	const away = 20 * time.Second
	bystander := l.plants["plant1"].host.Stream(t, "192.168.10.40", "100.64.0.11:7")
	starts, _ := l.pod.container("status").count()
	l.untouched(t, func() {
		l.cluster.api.Down()
		time.Sleep(away / 2)
		l.edit(t, map[string]string{"plant2.yaml": plantManifest(l.plants["plant2"], usual, "{exposures: [web, echo]}")})
		netns.Eventually(t, "a grant opens while the API is away", 5*time.Second, func() bool {
			c, err := l.plants["plant2"].host.Dial("", "100.64.0.11:7", time.Second)
			if err == nil {
				c.Close()
			}
			return err == nil
		})
		time.Sleep(away / 2)
		asked := len(l.cluster.api.Requests())
		l.cluster.api.Up()
		netns.Eventually(t, "the API is asked again", 40*time.Second, func() bool { return len(l.cluster.api.Requests()) > asked })
	}, "plant1", "plant2")
	if now, _ := l.pod.container("status").count(); now != starts {
		t.Error("the status container was restarted for an API that was away")
	}
	l.undisturbed(t, "a connection, meanwhile", bystander)
}

// charonDies: by force, with its socket left behind and gone.
func (l *ipsecLab) charonDies(t *testing.T) {
	charon := l.pod.container("charon")
	for _, socket := range []string{"left behind", "gone"} {
		starts, _ := charon.count()
		clear := l.fabric.ns.Capture(t, "port-dc1")
		if socket == "gone" {
			if err := os.Remove(l.pod.memory + "/charon.vici"); err != nil {
				t.Error(err)
			}
		}
		killAndKnock(t, charon, l.fabric.host, "100.64.0.200:8443")
		netns.Eventually(t, "charon runs again, socket "+socket, 10*time.Second, func() bool { now, _ := charon.count(); return now > starts })
		l.flows(t, "packets pass again, socket "+socket, 60*time.Second)
		netns.Eventually(t, "every peer is up again", 60*time.Second, func() bool { return l.up("plant1") && l.up("plant2") })
		noneClear(t, clear, "192.168.")
	}
}

// killAndKnock ends a container by force while somebody wants to reach a customer.
func killAndKnock(t *testing.T, c *container, from netns.Namespace, to string) {
	t.Helper()
	c.signal(syscall.SIGKILL)
	for range 5 {
		if c, err := from.Dial("", to, 200*time.Millisecond); err == nil {
			c.Close()
		}
	}
}

// noneClear wants that no packet for or from a customer's networks has left the gateway
// outside of a tunnel. The capture is at the other end of its port. What comes to it in
// the clear is of a customer whose own tunnel has just gone.
func noneClear(t *testing.T, c *netns.Capture, networks string) {
	t.Helper()
	for _, p := range c.End() {
		if !p.Out && contains(p.Source.String()+" "+p.Destination.String(), networks) {
			t.Errorf("in the clear: %s to %s, protocol %d", p.Source, p.Destination, p.Protocol)
			return
		}
	}
}

// charonHangs: a charon that is stopped is found out by its liveness probe.
func (l *ipsecLab) charonHangs(t *testing.T) {
	charon := l.pod.container("charon")
	_, before := charon.count()
	charon.signal(syscall.SIGSTOP)
	netns.Eventually(t, "a charon that hangs is restarted", 80*time.Second, func() bool { _, unwell := charon.count(); return unwell > before })
	l.flows(t, "and packets pass again", 60*time.Second)
	for _, c := range []string{"dataplane", "status"} {
		if _, unwell := l.pod.container(c).count(); unwell > 0 {
			t.Errorf("%s was found unfit, though it wasn't at fault", c)
		}
	}
}

// idle: with everything up and nothing new, nobody is busy.
func (l *ipsecLab) idle(t *testing.T) {
	const during = 10 * time.Second
	used := func(c *container) time.Duration {
		data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.pid()))
		var user, system int64
		fields := splitFields(string(data))
		if len(fields) > 13 {
			fmt.Sscan(fields[11], &user)
			fmt.Sscan(fields[12], &system)
		}
		return time.Duration(user+system) * 10 * time.Millisecond
	}
	before := map[string]time.Duration{}
	for _, c := range l.pod.containers {
		before[c.spec.Name] = used(c)
	}
	time.Sleep(during)
	for _, c := range l.pod.containers {
		share := float64(used(c)-before[c.spec.Name]) / float64(during)
		t.Logf("%-58s %7.1f%%  (bound 10%%)", c.spec.Name+" at rest, of one processor", 100*share)
		if share > 0.1 {
			t.Errorf("%s is busy with nothing", c.spec.Name)
		}
	}
}
