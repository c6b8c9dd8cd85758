package agent

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/pod"
)

// foreigners make an agent.json that is another pod's.
var foreigners = map[string]func(*vpn.Expectation){
	"agent.json is that of VPNGateway/acme/dc2, and this pod is one of VPNGateway/acme/dc1": func(e *vpn.Expectation) { e.Gateway.Name = "dc2" },
	"agent.json is for the port 10.254.0.99":                                                func(e *vpn.Expectation) { e.Port.Address = "10.254.0.99" },
	"agent.json is for the port 10.254.0.17 (fa:16:3e:00:00:99)":                            func(e *vpn.Expectation) { e.Port.MAC = "fa:16:3e:00:00:99" },
}

func TestDataplaneRefusesWhatIsAnothers(t *testing.T) {
	for want, change := range foreigners {
		t.Run(want, func(t *testing.T) {
			s, w := newSite(t), globexWorld(t)
			s.write(w)
			s.keys(w)
			s.settle()
			before := s.kernel.plan
			after := w
			after.config = expectation(t, w.config, change)
			s.write(after)
			s.settle()
			s.complains("config: " + want)
			s.reaches(w)
			if s.kernel.plan != before {
				t.Errorf("routing is %+v", s.kernel.plan)
			}
			s.start()
			s.settle()
			s.complains("config: " + want)
			s.reaches(w)
		})
	}
}

// A sandbox that is made anew may have another port; a gateway's name stays all the same.
func TestDataplaneOfANewSandbox(t *testing.T) {
	s, w := newSite(t), globexWorld(t)
	s.write(w)
	s.keys(w)
	s.settle()
	w.config = expectation(t, w.config, func(e *vpn.Expectation) { e.Port.MAC = "fa:16:3e:00:00:99" })
	s.kernel.nics = map[string]string{"fa:16:3e:00:00:99": "net1"}
	s.write(w)
	s.kernel.newProcess()
	s.loop = s.process()
	s.loop.Place = "another"
	s.loop.prepare()
	s.settle()
	s.complains()
}

func TestStatusRefusesWhatIsAnothers(t *testing.T) {
	r := newRig(t)
	r.expect.Port = vpn.ExpectedPort{MAC: portMAC, Address: "10.254.0.17"}
	r.peer("ina")
	r.settled()
	before := r.expect
	for want, change := range foreigners {
		change(&r.expect)
		r.swap()
		r.ruleset("abc")
		r.ticks(2)
		r.says("ina", "ESTABLISHED", 2, "")
		if problems := r.loop.shown.Load().problems; len(problems) != 1 || !strings.HasPrefix(problems[0].Text, want) {
			t.Errorf("problems %v, want %s", problems, want)
		}
		r.expect = before
		r.swap()
		r.tick()
		if problems := r.loop.shown.Load().problems; len(problems) != 0 {
			t.Errorf("problems %v", problems)
		}
	}
}

// wg0.conf gives nobody what agent.json doesn't: the device would take a network from
// its owner.
func TestDataplaneHoldsBothFilesAgainstEachOther(t *testing.T) {
	for want, change := range map[string]func(conf string) string{
		"the WireGuard file gives berlin the network 172.20.0.0/16": func(c string) string {
			return strings.Replace(c, "172.20.1.0/24", "172.20.0.0/16", 1)
		},
		"the WireGuard file gives oslo the network 172.20.1.128/25": func(c string) string {
			return strings.Replace(c, "172.20.2.0/24", "172.20.1.128/25", 1)
		},
		"the WireGuard file gives berlin and oslo one public key": func(c string) string {
			return strings.Replace(c, publicKeys["p2"][0], publicKeys["p1"][0], 1)
		},
		"the WireGuard file gives oslo another public key": func(c string) string {
			return strings.Replace(c, publicKeys["p2"][0], publicKeys["p3"][0], 1)
		},
	} {
		t.Run(want, func(t *testing.T) {
			s, w := newSite(t), globexWorld(t)
			s.write(w)
			s.keys(w)
			s.settle()
			s.swap("config", with(w.config, pod.KeyWireGuard, change(w.config[pod.KeyWireGuard])))
			s.settle()
			s.complains("config: " + want)
			s.reaches(w)
		})
	}
	s, w := newSite(t), globexWorld(t)
	s.write(w)
	s.keys(w)
	s.swap("config", expectation(t, w.config, func(e *vpn.Expectation) {
		e.Peers[0].Sources = []netip.Prefix{netip.MustParsePrefix("172.20.0.0/23")} // holds the file's /24
	}))
	s.settle()
	if got := s.kernel.device.peers; len(got) != 2 {
		t.Errorf("a part of what is the peer's own is refused: %v", s.complaints())
	}
}
