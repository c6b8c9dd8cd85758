package agent

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/agent/volume"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/nat"
	"github.com/vpnctl/vpnctl/render/pod"
)

// moving is an IPsec gateway with two peers who reach an exposure each, and one network
// that is behind the one or the other.
func moving(t *testing.T, behind int) world {
	g := vpn.Gateway{
		Protocol: vpn.IPsec, IKE: &vpn.IKE{Proposals: []string{"aes256-sha256-ecp256"}, Lifetime: time.Hour, DPDDelay: time.Minute},
		Exposures: []vpn.Exposure{
			{Name: "x0", Target: vpn.Target{Address: netip.MustParseAddr("10.20.0.5")}},
			{Name: "x1", Target: vpn.Target{Address: netip.MustParseAddr("10.20.0.6")}},
		},
	}
	for i, name := range []string{"p0", "p1"} {
		p := vpn.Peer{
			Name: name, Address: netip.AddrFrom4([4]byte{198, 51, 100, byte(i + 1)}), ID: name + ".example", Selectors: vpn.PerSubnet,
			Subnets:      []netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{192, 168, byte(i), 0}), 24)},
			ESPProposals: []string{"aes256gcm16"}, ESPLifetime: time.Hour, PSK: vpn.SecretRef{Name: name, Key: "psk"},
			Grants: &vpn.Grants{Exposures: []string{"x" + name[1:]}},
		}
		if i == behind {
			p.Subnets = append(p.Subnets, netip.MustParsePrefix("192.168.9.0/24"))
		}
		g.Peers = append(g.Peers, p)
	}
	return renderWorld(t, g, map[string]byte{"x0": 10, "x1": 11}, nil)
}

// grants of the ruleset in force, as "192.168.9.0/24 p0, x0".
func (k *fakeKernel) grants() []string {
	var all []string
	table, _ := nat.Parse(k.ruleset)
	for _, name := range []string{"grants_any", "grants"} {
		set, _ := table.Set(name)
		for _, e := range set.Elements {
			from, _, _ := strings.Cut(e.Text, " . ")
			all = append(all, from+" "+e.Note)
		}
	}
	return all
}

// A network that goes from one IPsec peer to another is open to neither until charon
// has it: the old peer's SA may still carry it. Nobody else waits.
func TestDataplaneWaitsForCharon(t *testing.T) {
	const old, moved = "192.168.9.0/24 p0, x0", "192.168.9.0/24 p1, x1"
	for sentence, c := range map[string]struct {
		status Status
		waits  time.Duration // at least
		opens  time.Duration // at the latest; 0: not within a minute
	}{
		"charon has all of it":                      {Status{Charon: "5.9.8", InForce: time.Unix(1, 0)}, 0, 2 * time.Second},
		"charon has what can be had, without a key": {Status{Charon: "5.9.8"}, patience, patience + 2*time.Second},
		"charon doesn't answer":                     {Status{}, 0, 0},
		"the peer of before hasn't confirmed":       {Status{Charon: "5.9.8", InForce: time.Unix(1, 0), Lingering: []netip.Prefix{netip.MustParsePrefix("192.168.9.0/24")}}, 0, 0},
	} {
		t.Run(sentence, func(t *testing.T) {
			s, before, after := newSite(t), moving(t, 0), moving(t, 1)
			s.write(before)
			s.settle()
			if got := s.kernel.grants(); !slices.Contains(got, old) || len(got) != 3 {
				t.Fatalf("at first: %q", got)
			}
			s.write(after)
			s.settle()
			if got := s.kernel.grants(); len(got) != 2 {
				t.Errorf("before the status half has taken the file: %q", got)
			}
			s.complains("ruleset: 1 grant of the ruleset is not open")

			c.status.Config = volume.Hash(after.config[pod.KeySwanctl])
			data, err := json.Marshal(c.status)
			s.must(err)
			s.must(s.loop.Volume.WriteStatus(data))
			began := s.now
			for s.now.Before(began.Add(time.Minute)) && !slices.Contains(s.kernel.grants(), moved) {
				s.pass()
				s.now = s.now.Add(200 * time.Millisecond)
			}
			switch took := s.now.Sub(began); {
			case c.opens == 0 && took < time.Minute, c.opens > 0 && took > c.opens, took < c.waits:
				t.Errorf("it opened after %s", took)
			case c.opens > 0:
				s.settle()
				s.complains()
			}
		})
	}
}
