package agent

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

func (k *fakeKernel) Addresses() ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("10.244.1.17"), netip.MustParseAddr("10.254.0.17")}, nil
}

// leads are the addresses that host exposures lead to.
func (k *fakeKernel) leads() []string {
	var all []string
	for _, h := range k.hosts {
		if h.Target.IsValid() {
			all = append(all, h.Target.String())
		}
	}
	return all
}

// A host exposure whose name stands for an address where another client is reached, or
// the pod itself, leads nowhere, and says why.
func TestNamesLeadToNobodyElse(t *testing.T) {
	for address, words := range map[string]string{
		"100.64.9.200":  "it lies in 100.64.0.0/16, where gateways answer",
		"100.64.3.1":    "it lies in 100.64.3.0/24, the gateway's service CIDR",
		"10.254.0.17":   "it is the gateway's own",
		"10.244.1.17":   "it is the gateway's own",
		"203.0.113.20":  "it is the gateway's own",
		"172.20.1.40":   "it lies in 172.20.1.0/24, a network of peer berlin",
		"192.168.10.40": "",
	} {
		t.Run(address, func(t *testing.T) {
			s, w := newSite(t), globexWorld(t)
			w.dns = map[string]netip.Addr{"db.internal": netip.MustParseAddr("10.30.0.1")}
			s.write(w)
			s.keys(w)
			s.settle()
			s.dns["db.internal"] = netip.MustParseAddr(address)
			s.settle()
			used := len(s.kernel.leads()) == 1 && s.kernel.leads()[0] == address
			if words == "" {
				s.complains()
			} else {
				s.complains("dns: db.internal: its address " + address + " is not used: " + words)
			}
			if used != (words == "") {
				t.Errorf("what host exposures lead to: %v", s.kernel.leads())
			}
			if h := s.state().Hosts; len(h) != 1 || (h[0].Problem == "") != (words == "") || h[0].Address.IsValid() && h[0].Address.String() != address && words == "" {
				t.Errorf("published: %+v", h)
			}
		})
	}
}

// What an earlier agent has found counts no more than an answer of today.
func TestRecalledNamesLeadToNobodyElse(t *testing.T) {
	s, w := newSite(t), globexWorld(t)
	s.write(w)
	s.keys(w)
	s.dns["db.internal"] = netip.MustParseAddr("10.30.0.1")
	s.settle()
	w.config = expectation(t, w.config, func(e *vpn.Expectation) {
		e.Reserved = append(e.Reserved, netip.MustParsePrefix("10.30.0.0/24"))
	})
	clear(s.dns)
	s.write(w)
	s.pass()
	if len(s.kernel.leads()) > 0 {
		t.Errorf("an address that is forbidden since: %v", s.kernel.leads())
	}
	s.start()
	s.pass()
	if len(s.kernel.leads()) > 0 {
		t.Errorf("and after a start: %v", s.kernel.leads())
	}
	if got := s.complaints(); !slices.ContainsFunc(got, func(text string) bool { return strings.Contains(text, "10.30.0.1 is not used") }) {
		t.Errorf("problems %q", got)
	}
}
