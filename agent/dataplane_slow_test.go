package agent

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/agent/firewall"
)

// slowFirewall takes its time, and then fails.
type slowFirewall struct {
	*fakeFirewall
	site  *site
	takes time.Duration
}

func (f *slowFirewall) Apply(context.Context, string, []firewall.Host) (bool, error) {
	_ = f.kernel.call("apply")
	f.site.now = f.site.now.Add(f.takes)
	return false, errors.New("nft: killed")
}

// An nft that hangs for as long as it may is left alone for a while after each attempt,
// and is no reason to restart the container: with a WireGuard device in user space, that
// would end everybody's session.
func TestDataplaneBearsAnNftThatHangs(t *testing.T) {
	s, w := newSite(t), globexWorld(t)
	s.write(w)
	s.keys(w)
	s.loop.Firewall = &slowFirewall{&fakeFirewall{kernel: s.kernel}, s, s.loop.Call}
	for range 10 {
		before := s.kernel.count("apply")
		s.pass()
		if n := s.kernel.count("apply") - before; n > 1 {
			t.Fatalf("%d attempts in one pass", n)
		}
		if err := s.loop.healthy(); err != nil {
			t.Fatal(err)
		}
		s.now = s.now.Add(s.loop.Poll)
	}
	if n := s.kernel.count("apply"); n > 5 {
		t.Errorf("%d attempts in %d passes right after one another", n, 10)
	}
}

// A list of interfaces that can't be had says nothing about the port's: the routing of
// before stays, and is looked after.
func TestDataplaneKeepsTheNICThatItCannotLookFor(t *testing.T) {
	s, w := newSite(t), globexWorld(t)
	s.write(w)
	s.keys(w)
	s.settle()
	s.kernel.fail["find"] = errors.New("it is broken")
	s.settle()
	s.complains("nic: it is broken")
	if got := s.state().Interface; got != "net1" {
		t.Errorf("the interface is %q", got)
	}
	if err := s.loop.ready(); err != nil {
		t.Error(err)
	}
	before := s.kernel.count("route")
	s.settle()
	if s.kernel.count("route") == before {
		t.Error("routing isn't looked after")
	}
}
