package agent

import (
	"errors"
	"net/netip"
	"testing"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

// A process that is killed at any call is followed by one that brings everything to
// the same end, without taking anything back on its way.
func TestDataplaneKilledAtEveryCall(t *testing.T) {
	before := globexWorld(t)
	g := globexGateway()
	g.Peers[1].Grants, g.Peers[0].Subnets = &vpn.Grants{Exposures: []string{"db"}}, []netip.Prefix{netip.MustParsePrefix("172.20.7.0/24")}
	after := globexOf(t, g)
	for at := 1; ; at++ {
		s := newSite(t)
		s.write(before)
		s.keys(before)
		s.settle()
		s.kernel.calls, s.kernel.killed = nil, at
		s.write(after)
		if !s.dies(s.settle) {
			if at < 5 {
				t.Fatalf("an edit took %d calls", at)
			}
			return
		}
		s.kernel.killed = 0
		empty := false
		s.kernel.after = func() { empty = empty || s.kernel.ruleset == "" || len(s.kernel.device.peers) == 0 }
		s.start()
		s.settle()
		s.complains()
		s.reaches(after)
		if empty {
			t.Errorf("killed at call %d: something was taken back", at)
		}
	}
}

func (s *site) dies(f func()) (died bool) {
	defer func() {
		if r := recover(); r != nil {
			if r != errKilled {
				panic(r)
			}
			died = true
		}
	}()
	f()
	return false
}

// An agent that starts anew says that no ruleset is in force until it has put one
// there: the folder may be older than the network. Its counters go on.
func TestDataplaneStartsAnew(t *testing.T) {
	s, w := newSite(t), globexWorld(t)
	s.write(w)
	s.keys(w)
	s.kernel.flows = 4
	s.settle()
	before := s.state()
	s.start()
	if got := s.state(); got.Ruleset != "" || got.WireGuard == nil {
		t.Errorf("before its first pass: %+v", got)
	}
	s.settle()
	got := s.state()
	if got.Ruleset != before.Ruleset || !got.RulesetSince.Equal(before.RulesetSince) || got.FlowsCut != 4 || got.ReloadErrors != before.ReloadErrors {
		t.Errorf("before %+v, after %+v", before, got)
	}
}

func TestDataplaneCountersGoOn(t *testing.T) {
	for _, userspace := range []bool{false, true} {
		s, w := newSite(t), globexWorld(t)
		s.kernel.userspace = userspace
		s.write(w)
		s.keys(w)
		s.settle()
		s.kernel.device.sent = 1000
		s.settle()
		s.start()
		s.settle()
		s.kernel.device.sent += 50
		s.settle()
		if got := s.state().WireGuard.Peers[0].Sent; got != 1050 {
			t.Errorf("userspace %t: %d bytes", userspace, got)
		}
	}
}

// Agents that are killed before they could set the device up pass on what the first one
// knew: where peers are that nobody else can tell, and what they have carried.
func TestDataplaneKilledSeveralTimes(t *testing.T) {
	s, w := newSite(t), globexWorld(t)
	s.kernel.userspace = true
	s.write(w)
	s.keys(w)
	s.settle()
	s.kernel.device.sent = 1000
	at := netip.MustParseAddrPort("198.51.100.99:4711")
	for key, p := range s.kernel.device.peers {
		p.Endpoint = at // oslo's has roamed; it has none in the file
		s.kernel.device.peers[key] = p
	}
	s.settle()
	s.kernel.fail["apply"] = errors.New("nft is away")
	for range 3 {
		s.start()
		s.settle()
	}
	delete(s.kernel.fail, "apply")
	s.start()
	s.settle()
	got := s.state().WireGuard.Peers[1]
	if got.Name != "oslo" || got.Sent != 1000 || s.loop.tunnel.config.Seen["oslo"] != at {
		t.Errorf("%+v, seen at %v", got, s.loop.tunnel.config.Seen)
	}
}
