package agent

import (
	"errors"
	"strings"
	"testing"

	"github.com/vpnctl/vpnctl/agent/routing"
	"github.com/vpnctl/vpnctl/agent/volume"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/pod"
)

// Each part fails on its own: the others are done, and it is made up for once it can be.
func TestDataplanePartsFailAlone(t *testing.T) {
	broken := errors.New("it is broken")
	for sentence, c := range map[string]struct {
		part    string // the problem's
		break_  func(s *site, w *world)
		mend    func(s *site, w world)
		reaches bool // packets pass meanwhile
	}{
		"the NIC comes late": {
			"nic: no interface has the port's MAC address " + portMAC,
			func(s *site, _ *world) { s.kernel.nics = nil },
			func(s *site, _ world) { s.kernel.nics = map[string]string{portMAC: "eth7"} }, true,
		},
		"interfaces can't be listed": {
			"nic: it is broken", func(s *site, _ *world) { s.kernel.fail["find"] = broken }, nil, true,
		},
		"routing fails":       {"routing: it is broken", func(s *site, _ *world) { s.kernel.fail["route"] = broken }, nil, true},
		"tunnel routes fail":  {"routing: it is broken", func(s *site, _ *world) { s.kernel.fail["tunnel"] = broken }, nil, true},
		"the device can't be": {"wireguard: it is broken", func(s *site, _ *world) { s.kernel.fail["open"] = broken }, nil, false},
		"the device refuses":  {"wireguard: it is broken", func(s *site, _ *world) { s.kernel.fail["peers"] = broken }, nil, false},
		"reading it fails":    {"wireguard: it is broken", func(s *site, _ *world) { s.kernel.fail["read"] = broken }, nil, false},
		"ending flows fails":  {"ruleset: it is broken", func(s *site, _ *world) { s.kernel.fail["cut"] = broken }, nil, true},
		"there is no nft":     {"ruleset: it is broken", func(s *site, _ *world) { s.kernel.fail["apply"] = broken }, nil, false},
		"a sysctl is wrong":   {"sysctl: ip_forward is 0", func(s *site, _ *world) { s.kernel.sysctls = []string{"ip_forward is 0"} }, func(s *site, _ world) { s.kernel.sysctls = nil }, true},
		"nft refuses the file": {
			"ruleset: nft: syntax error",
			func(s *site, w *world) {
				s.swap("rules", with(w.rules, pod.KeyRules, strings.Replace(w.rules[pod.KeyRules], "ct state established", refused+" established", 1)))
			},
			func(s *site, w world) { s.swap("rules", w.rules) }, false,
		},
		"the ruleset can't be read": {
			"ruleset: reading the nftables ruleset",
			func(s *site, w *world) { s.swap("rules", with(w.rules, pod.KeyRules, "flush ruleset\n")) },
			func(s *site, w world) { s.swap("rules", w.rules) }, false,
		},
		"the ruleset is missing": {
			"ruleset: nat.nft is missing",
			func(s *site, w *world) { s.swap("rules", map[string]string{}) },
			func(s *site, w world) { s.swap("rules", w.rules) }, false,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			s, w := newSite(t), globexWorld(t)
			s.write(w)
			s.keys(w)
			c.break_(s, &w)
			s.settle()
			s.complains(c.part)
			since := s.state().Problems[0].Since
			if c.reaches {
				s.reaches(w)
			}
			for _, call := range []string{"apply", "open", "peers", "route", "tunnel", "cut"} {
				if n := s.kernel.count(call); n > 30 {
					t.Errorf("%s was called %d times in 80 seconds", call, n)
				}
			}
			s.settle()
			if got := s.state().Problems; len(got) != 1 || !got[0].Since.Equal(since) {
				t.Errorf("the problem began at %s: %+v", since, got)
			}
			clear(s.kernel.fail)
			if c.mend != nil {
				c.mend(s, w)
			}
			s.settle()
			s.complains()
			s.reaches(w)
			if s.kernel.plan.NIC != s.state().Interface || len(s.kernel.tunnel) != 2 {
				t.Errorf("plan %+v, %d routes into the tunnel", s.kernel.plan, len(s.kernel.tunnel))
			}
			if log := s.log.String(); strings.Count(log, "well again") != 1 {
				t.Errorf("the log should tell of one recovery:\n%s", log)
			}
		})
	}
}

// A file that can't be put in force leaves the one before, and that one goes on to be
// looked after, also by an agent that starts on the broken file.
func TestDataplaneKeepsTheLastGoodFiles(t *testing.T) {
	type files struct{ folder, key, text string }
	for sentence, c := range map[string]files{
		"agent.json is broken":             {"config", pod.KeyAgent, "{"},
		"agent.json is of another version": {"config", pod.KeyAgent, `{"version": "vpnctl.bnerd.net/agent/v9"}`},
		"agent.json waits for the port":    {"config", pod.KeyAgent, `{"version": "vpnctl.bnerd.net/agent/v1", "port": {"address": "(known after apply)"}}`},
		"wg0.conf is broken":               {"config", pod.KeyWireGuard, "[Interface]\nPrivateKey = x\n"},
		"nat.nft is broken":                {"rules", pod.KeyRules, "table inet vpnctl"},
		"nat.nft flushes everything":       {"rules", pod.KeyRules, "flush ruleset\n"},
		"nft refuses nat.nft":              {"rules", pod.KeyRules, refused},
	} {
		t.Run(sentence, func(t *testing.T) {
			s, w := newSite(t), globexWorld(t)
			s.write(w)
			s.keys(w)
			s.settle()
			data := w.config
			if c.folder == "rules" {
				data = w.rules
			}
			if c.text == refused {
				c.text = strings.Replace(data[c.key], "ct state established", refused+" established", 1)
			}
			s.swap(c.folder, with(data, c.key, c.text))
			s.settle()
			s.reaches(w)
			if got := s.state(); len(got.Problems) != 1 || got.ReloadErrors != 1 || got.Ruleset != volume.Hash(w.rules[pod.KeyRules]) {
				t.Errorf("dataplane.json: %+v", got)
			}
			s.kernel.ruleset = "another hand's"
			s.settle()
			s.reaches(w)

			s.kernel.plan, s.kernel.ruleset = routing.Plan{}, ""
			s.start()
			s.settle()
			s.reaches(w)
			if s.kernel.plan.NIC != "net1" || len(s.state().Problems) != 1 || s.state().Ruleset != volume.Hash(w.rules[pod.KeyRules]) {
				t.Errorf("the next agent: plan %+v, state %+v", s.kernel.plan, s.state())
			}

			s.swap(c.folder, data)
			s.settle()
			s.complains()
		})
	}
}

// With a ruleset that nft refuses, a grant that agent.json withdraws is closed in the
// one before.
func TestDataplaneWithdrawsFromTheRulesetInForce(t *testing.T) {
	s, w := newSite(t), globexWorld(t)
	s.write(w)
	s.keys(w)
	s.settle()
	s.swap("rules", with(w.rules, pod.KeyRules, strings.Replace(w.rules[pod.KeyRules], "ct state established", refused+" established", 1)))
	g := globexGateway()
	g.Peers[1].Grants = &vpn.Grants{}
	s.swap("config", globexOf(t, g).config)
	s.pass()
	if strings.Contains(s.kernel.ruleset, "oslo, web") || !strings.Contains(s.kernel.ruleset, "berlin, web") {
		t.Errorf("in force:\n%s", s.kernel.ruleset)
	}
}
